"""Where the files of a project name one of its functions or classes, however they import it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from kdoctor.modules.definitions import UNCLEAR, Definition, Definitions
from kdoctor.modules.name_uses import NameUse, Role
from kdoctor.modules.recent_sources import RecentSource
from kdoctor.modules.word_index import TAKES, WRITES

MAX_NAMES: Final = 8  # under which one function is known, and classes without their own `__init__`
_MAX_FILES: Final = 40  # that write such a name

Sources = Callable[[str], Sequence[RecentSource] | None]


class UnseenError(Exception):
    """It may be used where nobody sees it."""


class SeenUses(NamedTuple):
    """The uses of a name that are seen, and whether these are all."""

    uses: tuple[tuple[RecentSource, NameUse], ...]
    are_all: bool


class DefinitionUses:
    """The uses of names in one project.

    ``sources`` are the units of a file, None where one is no Python; ``files_that`` the files of
    the project of the first that do something with a word (``word_index.WRITES + "f"``), None where
    they are too many to tell.
    """

    def __init__(
        self,
        definitions: Definitions,
        sources: Sources,
        files_that: Callable[[str, str], tuple[str, ...] | None],
    ) -> None:
        self._definitions = definitions
        self._sources = sources
        self._files_that = files_that

    def of(self, target: Definition) -> Iterator[tuple[RecentSource, NameUse]]:
        """Yield all uses of a function or a class.

        Raises:
            UnseenError: there may be others.
        """
        names = [target.name]
        for name in names:  # it grows meanwhile
            if len(names) > MAX_NAMES:
                raise UnseenError
            for source in self.sources_with(target.path, name):
                names += (each for each in self._aliases(source, target) if each not in names)
                yield from ((source, use) for use in self._uses_in(source, target, name))

    def seen_elsewhere(self, target: Definition, *, but_not: Callable[[str], bool]) -> SeenUses:
        """Return the uses of a function or a class in other files that can be told.

        But for those in files of which ``but_not`` holds.
        """
        found: list[tuple[RecentSource, NameUse]] = []
        are_all = not any(each.reads_own_names for each in self._sources(target.path) or ())
        files = self._files_that(target.path, TAKES + target.name) or ()
        others = [each for each in files if each != target.path and not but_not(each)]
        are_all &= len(others) <= _MAX_FILES
        for source in (one for each in others[:_MAX_FILES] for one in self._sources(each) or ()):
            for name in (target.name, *self._aliases(source, target)):
                try:
                    uses = [*self._uses_in(source, target, name)]
                except UnseenError:
                    uses, are_all = [], False
                sure = [each for each in uses if self._is_surely(source, each, target)]
                found += ((source, each) for each in sure)
                are_all &= len(sure) == len(uses)
        return SeenUses(tuple(found), are_all)

    def _is_surely(self, source: RecentSource, use: NameUse, target: Definition) -> bool:
        return not use.is_attribute or self._attribute_meant(source, use.chain) == target

    def sources_with(self, path: str, word: str) -> Iterator[RecentSource]:
        """Yield the units of the files of a project that write a word.

        Raises:
            UnseenError: there may be others.
        """
        files = self._files_that(path, WRITES + word)
        if files is None or len(files) > _MAX_FILES:
            raise UnseenError
        for each in sorted(files, key=lambda file: file == path):  # its own last
            yield from self.sources_of(each)

    def sources_of(self, path: str) -> Sequence[RecentSource]:
        """Return the units of a file.

        Raises:
            UnseenError: one is no Python.
        """
        found = self._sources(path)
        if found is None:
            raise UnseenError
        return found

    def _uses_in(self, source: RecentSource, target: Definition, name: str) -> Iterator[NameUse]:
        if source.is_named_by_text(name):
            raise UnseenError
        uses = source.of(name)
        if any(not each.is_attribute for each in uses) and self._means(source, target, name):
            yield from (each for each in uses if not each.is_attribute)
        for use in uses:
            if not use.is_attribute or use.is_of_self:
                continue
            found = self._attribute_meant(source, use.chain)
            if found == UNCLEAR:
                raise UnseenError
            if found == target or (found is None and self._holds_module(source, target.path)):
                yield use

    def _means(self, source: RecentSource, target: Definition, name: str) -> bool:
        """Say whether a name may be the function or the class where it is read by itself."""
        is_own = source.path == target.path and name == target.name
        meant = [
            self._definitions.locate(source.path, imported.module, imported.level, name)
            if local == "*"
            else self._definitions.imported(source.path, imported)
            for local, imported in source.imports
            if local in ("*", name)
        ]
        if UNCLEAR in meant or (is_own and any(meant)):
            raise UnseenError
        return is_own or target in meant

    def _attribute_meant(self, source: RecentSource, chain: tuple[str, ...]) -> Definition | None:
        """Return what an attribute of an imported module is, None of anything else."""
        if len(chain) < 2:
            return None
        found = {
            self._definitions.dotted(source.path, imported, chain[1:])
            for local, imported in source.imports
            if local == chain[0]
        } - {None}
        return found.pop() if len(found) == 1 else UNCLEAR if found else None

    def _holds_module(self, source: RecentSource, path: str) -> bool:
        """Say whether a file may have the module in something but the name that it imports."""
        names = {
            local
            for local, imported in source.imports
            if self._definitions.module_of(source.path, imported) == path
        }
        uses = (use for name in sorted(names) for use in source.of(name))
        return source.loads_modules or any(
            not each.is_attribute and each.role is not Role.MEMBER for each in uses
        )

    def _aliases(self, source: RecentSource, target: Definition) -> list[str]:
        """Return the other names by which a file imports the function or the class."""
        return [
            local
            for local, imported in source.imports
            if local not in ("*", imported.name)
            and self._definitions.imported(source.path, imported) == target
        ]
