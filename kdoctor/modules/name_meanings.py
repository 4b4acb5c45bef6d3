"""What a name at the top level of a project module means, through imports and aliases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Final, cast

from msgspec import Struct

from kdoctor.keras_api.surface import is_base_of, one_of_keras
from kdoctor.modules.dependencies import Dependencies
from kdoctor.modules.module_finder import ModuleFinder
from kdoctor.modules.module_summary import Alias, Class, Imported, ModuleSummary
from kdoctor.modules.star_names import StarNames
from kdoctor.syntax.alias_chains import AliasChain, Outcome
from kdoctor.syntax.bases import EMPTY_BASES, EMPTY_METACLASSES
from kdoctor.syntax.package import ClassInfo

IN_RING: Final[Outcome] = ((None, ()),)  # and nothing was looked at to know it


class OwnModule(Struct, frozen=True):
    """A project module, as the meaning of a name."""

    path: str


Value = str | ClassInfo | OwnModule | None  # a dotted name comes from outside of the tree
Stars = Callable[[str], Collection[str] | None]
Outlines = Callable[[str], ModuleSummary | None]


class Modules(Struct, frozen=True):
    """What is known of modules, each by itself."""

    tree: ModuleFinder
    summary: Outlines
    stars: Stars
    public: StarNames
    trace: Dependencies


class Resolution:
    """One question about one name, on whose way modules may be in a ring.

    What is found halfway there is kept for other questions only where it would be the same
    answer to each: it must not depend on which file was read first.
    """

    def __init__(self, modules: Modules, following: AliasChain) -> None:
        self._tree = modules.tree
        self._summary = modules.summary
        self._stars = modules.stars
        self._public = modules.public
        self._trace = modules.trace
        self._following = following

    def dotted(self, path: str, dotted: str) -> Value:
        """Return what a name, or an attribute of one, means at the top level of a module."""
        return self._answer(lambda: self._dotted(path, dotted))

    def meant(self, importer: str, imported: Imported) -> Value:
        """Return what an import statement binds in ``importer``."""
        return self._answer(lambda: self._imported(importer, imported))

    def _answer(self, find: Callable[[], Value]) -> Value:
        return cast("Value", self._following.answer(find))

    def _imported(self, importer: str, imported: Imported) -> Value:
        path = self._tree.find(importer, imported.module, imported.level)
        if imported.name is None:
            return imported.module if path is None else OwnModule(path)
        summary = None if path is None else self._summary(path)
        if path is not None and summary is not None:
            bound = imported.name in summary.names
            is_all = bound and not self._is_below(path, imported.name, summary)
            if not is_all:
                self._following.note_undecided()
            value = self._name(path, imported.name)
            if value is not None or is_all:
                return value
        dotted = f"{imported.module}.{imported.name}" if imported.module else imported.name
        submodule = self._tree.find(importer, dotted, imported.level)
        if submodule is not None:
            return OwnModule(submodule)
        return None if imported.level or path else dotted

    def _is_below(self, path: str, name: str, summary: ModuleSummary) -> bool:
        """Say whether a package takes the name from itself: ``from . import name`` is a module."""
        return all(
            isinstance(each, Imported)
            and each.name == name
            and self._tree.find(path, each.module, each.level) == path
            for each in summary.names[name]
        )

    def _name(self, path: str, name: str) -> Value:
        """Return what a name means at the top level of a module."""

        def find() -> tuple[Value, Collection[str]]:
            with self._trace.isolated() as dependencies:
                value = self._find(path, name)
            self._following.weigh(1 + len(dependencies))
            return value, dependencies

        found = self._following.of((path, name), find)
        value, dependencies = cast("tuple[Value, Collection[str]]", found)
        self._trace.add(dependencies)
        return value

    def _find(self, path: str, name: str) -> Value:
        summary = self._summary(path)
        if summary is None:
            return None
        bindings = summary.names.get(name)
        if bindings:
            return _common_value({self._bound(path, binding) for binding in bindings})
        return _common_value(set(self._from_stars(path, name, summary)))

    def _from_stars(self, path: str, name: str, summary: ModuleSummary) -> Iterator[Value]:
        for star in summary.stars:
            own = self._tree.find(path, star.module, star.level)
            names = self._stars(star.module) if own is None else self._public(own)
            if names is None:
                yield None  # it may be this one
            elif name in names:
                binder = own and (self._public.binder(own, name) or own)
                yield self._name(binder, name) if binder else f"{star.module}.{name}"

    def _bound(self, path: str, binding: Imported | Alias | Class | None) -> Value:
        match binding:
            case Imported():
                return self._imported(path, binding)
            case Alias(dotted=dotted):
                return self._dotted(path, dotted)
            case Class():
                return self._class(path, binding)
        return None

    def _dotted(self, path: str, dotted: str) -> Value:
        if "." not in dotted:
            return self._name(path, dotted)
        start = self._imported_part(path, dotted)
        value = self._imported(path, Imported(start, 0, None)) if start else None
        if not start:
            start = dotted.partition(".")[0]
            value = self._name(path, start)
        for part in dotted.removeprefix(start).split(".")[1:]:
            match value:
                case str():
                    value = f"{value}.{part}"
                case OwnModule(path=module):
                    value = self._name(module, part)
                case _:
                    return None
        return value

    def _imported_part(self, path: str, dotted: str) -> str:
        """Return the ``a.b`` of ``a.b.c`` where the module says ``import a.b``, else nothing."""
        summary = self._summary(path)
        if summary is None or self._name(path, dotted.partition(".")[0]) is None:
            return ""
        starts = (whole for whole in summary.whole if f"{dotted}.".startswith(f"{whole}."))
        return max(starts, key=len, default="")

    def _class(self, path: str, found: Class) -> ClassInfo:
        self._following.note_undecided()
        base: str | None = None
        members, closed = set(found.members), found.closed and self._leaves_as_is(path, found)
        bases = [each for each in found.bases if not self._is_empty(path, each)]
        takes, hands_on = set(found.takes), found.hands_on and len(bases) == 1
        gives = set(found.gives)
        for written in bases:
            match self._dotted(path, written) if written else None:
                case str(imported) if base is None or is_base_of(base, imported):
                    base = imported
                case ClassInfo(base=theirs) as info if base is None or theirs in (None, base):
                    base = base or theirs
                    members |= info.members
                    closed = closed and info.closed
                    gives = {each for each in gives if info.passes_through(each)}
                    takes |= info.takes
                    hands_on = hands_on and info.hands_on
                case _:
                    closed = hands_on = False
                    gives.clear()
        names, given = frozenset(members), frozenset(gives)
        return ClassInfo(found.name, base, names, closed, frozenset(takes), hands_on, given, path)

    def _is_empty(self, path: str, written: str | None) -> bool:
        """Say whether a base has nothing that an instance is asked for."""
        if written == "object":
            return True
        meant = self._dotted(path, written) if written else None
        return isinstance(meant, str) and meant in EMPTY_BASES

    def _leaves_as_is(self, path: str, found: Class) -> bool:
        """Say whether the metaclass of a class, if any, adds nothing to it."""
        if found.metaclass in {"", "type"}:
            return True
        meant = self._dotted(path, found.metaclass)
        return isinstance(meant, str) and meant in EMPTY_METACLASSES


def _common_value(values: set[Value]) -> Value:
    """Return the value on which all agree, be it that they take it from other roots of Keras."""
    if len(values) == 1:
        return values.pop()
    names = [each for each in values if isinstance(each, str)]
    return one_of_keras(names) if len(names) == len(values) else None
