"""Which function or class of the project a name means, wherever it was imported through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from kdoctor.modules.module_summary import Class, Imported, ModuleSummary
from kdoctor.modules.star_names import StarNames

_MAX_RE_EXPORTS: Final = 12  # modules that a name is imported through


class Definition(NamedTuple):
    """A name at the top level of a project module that is bound there itself."""

    path: str
    name: str


UNCLEAR: Final = Definition("", "")
"""It may be of several places."""


class Definitions:
    """Follows imports to where a name is bound.

    ``file_of`` returns the file of a module as another file imports it, None outside of the tree.
    """

    def __init__(
        self,
        file_of: Callable[[str, str, int], str | None],
        summary: Callable[[str], ModuleSummary | None],
        public: StarNames,
    ) -> None:
        self._file_of = file_of
        self._summary = summary
        self._public = public

    def locate(self, importer: str, module: str, level: int, name: str) -> Definition | None:
        """Return what ``from module import name`` takes; None where it is not of the tree."""
        path = self._file_of(importer, module, level)
        return None if path is None else self._in_module(path, name, _MAX_RE_EXPORTS)

    def written(self, path: str, name: str) -> Definition | None:
        """Return what a name at the top level of a file is; None where it is not of the tree."""
        return self._in_module(path, name, _MAX_RE_EXPORTS)

    def imported(self, path: str, imported: Imported) -> Definition | None:
        """Return what an import of a file binds, None where that is no name of a module."""
        if imported.name is None or imported.name == "*":
            return None
        return self.locate(path, imported.module, imported.level, imported.name)

    def dotted(self, importer: str, imported: Imported, attributes: tuple[str, ...]) -> (
        Definition | None
    ):  # fmt: skip
        """Return what an attribute of an imported module is: ``layers.conv`` of ``import layers``.

        None where that is no module of the tree.
        """
        *path, name = attributes
        parts = [each for each in (imported.module, imported.name, *path) if each]
        return self.locate(importer, ".".join(parts), imported.level, name)

    def module_of(self, importer: str, imported: Imported) -> str | None:
        """Return the file of the module that an import binds, None where it binds none."""
        parts = [each for each in (imported.module, imported.name) if each]
        return self._file_of(importer, ".".join(parts), imported.level)

    def _in_module(self, path: str, name: str, left: int) -> Definition | None:
        summary = self._summary(path)
        if summary is None or not left:
            return UNCLEAR
        match list(summary.names.get(name, ())):
            case [None] | [Class()]:
                return Definition(path, name)
            case [Imported(name=str(taken)) as through]:
                inner = self._file_of(path, through.module, through.level)
                return None if inner is None else self._in_module(inner, taken, left - 1)
            case []:
                return self._from_stars(path, name, summary, left)
        return UNCLEAR

    def _from_stars(
        self, path: str, name: str, summary: ModuleSummary, left: int
    ) -> Definition | None:
        found: set[Definition | None] = set()
        for star in summary.stars:
            inner = self._file_of(path, star.module, star.level)
            if inner is None:
                continue
            names = self._public(inner)
            if names is None:
                found.add(UNCLEAR)
            elif name in names:
                found.add(self._in_module(inner, name, left - 1))
        return found.pop() if len(found) == 1 else UNCLEAR if found else None
