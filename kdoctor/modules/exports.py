"""What the project's modules export: ``syntax.Package`` over the file system."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final, cast

from msgspec import Struct

from kdoctor.keras_api.surface import (
    is_base_of,
    is_module_everywhere,
    same_under_other_roots,
    without_legacy,
)
from kdoctor.modules.ast_cache import AstCache
from kdoctor.modules.dependencies import Dependencies, TrackedMemo
from kdoctor.modules.function_summaries import FunctionSummaries
from kdoctor.modules.legacy_switch import LegacySwitches
from kdoctor.modules.module_finder import ModuleFinder
from kdoctor.modules.module_summary import Alias, Class, Imported, ModuleSummary, summary_from
from kdoctor.modules.reverse_imports import ReverseImports
from kdoctor.modules.star_names import StarNames
from kdoctor.syntax.alias_chains import AliasCache, AliasChain, AliasChainOnce, Outcome
from kdoctor.syntax.bases import EMPTY_BASES, EMPTY_METACLASSES
from kdoctor.syntax.package import ClassInfo


class OwnModule(Struct, frozen=True):
    """A project module, as the meaning of a name."""

    path: str


_MIN_CACHED_ENTRIES = 600  # files and folders that were looked at: those of several projects
_MAX_CACHED_ENTRIES = 10 * _MIN_CACHED_ENTRIES  # where one project has more than that
# Files after which it was much again: one project must be larger than that.
_MIN_FILES_BETWEEN_EVICTIONS = 50
# Files that were looked at for names of which it is kept what they mean.
_MAX_RESOLVED_WEIGHT = 400_000
_RE_EXPORTS = 5  # modules that a function is imported through

_IN_RING: Final[Outcome] = ((None, ()),)  # and nothing was looked at to know it

Value = str | ClassInfo | OwnModule | None  # a dotted name comes from outside of the tree
Stars = Callable[[str], Collection[str] | None]
Outlines = Callable[[str], ModuleSummary | None]


class ProjectPackage:
    """The project's modules, each read on first use.

    ``stars`` says what ``from module import *`` binds for a module outside of the tree;
    ``outlines`` what a file of it binds, as an editor may hold it. Relative paths count from
    ``start``, by default the working folder. ``trace``, where it ``listens``, has what was read.
    """

    def __init__(
        self, stars: Stars, outlines: Outlines | None = None, start: str = "", *,
        listens: bool = True,
    ) -> None:  # fmt: skip
        self.stars = self._stars = stars
        self.trace = Dependencies(listens=listens)
        self.trees = AstCache()
        self._tree = ModuleFinder(start, self.trace)
        # Bounded: memory must not grow with the tree.
        self._summary = TrackedMemo(self.trace, outlines or self._read, 256)
        self._answers = TrackedMemo(self.trace, self._ask, 8192)
        self._public = StarNames(self._tree, self._summary, stars, self.trace)
        self._kept = AliasCache()  # what names of modules mean, with what was looked at to know it
        self._switches = LegacySwitches(self.trace, self._tree)
        self._functions = FunctionSummaries(self.trace, self.trees)
        self._callees = TrackedMemo(self.trace, self._functions.parameter_callees, 256)
        self._returned_call = TrackedMemo(self.trace, self._functions.returned_call, 256)
        # Whether anything of Keras can be reached from a module, and what was looked at to know it.
        self.reach_keras: dict[OwnModule, tuple[bool, frozenset[str]]] = {}
        self._importers = ReverseImports(start, self.trace)
        self.keras_root = self._importers.keras_root
        self._much, self._files = _MIN_CACHED_ENTRIES, 0  # files: since all was forgotten

    def evict_if_large(self) -> None:
        """Drop all caches if they are large. Not to be called while a file is read.

        A large project whose modules all import each other would be read again for each file: so
        much more is kept where it was soon much again.
        """
        self._files += 1
        if self.trace.size <= self._much:
            return
        if self._files < _MIN_FILES_BETWEEN_EVICTIONS:
            self._much = min(2 * self._much, _MAX_CACHED_ENTRIES)
        self._files = 0
        self._forget_answers()

    def forget(self) -> None:
        """Drop all caches. Not to be called while a file is read."""
        self._forget_answers()
        self._importers.forget()
        self.trees.forget()

    def _forget_answers(self) -> None:
        self._tree.forget()
        for known in (self._summary, self._answers, self._callees, self._returned_call):
            known.forget()
        for each in (self._functions, self._switches, self._public, self._kept):
            each.forget()
        self.reach_keras.clear()
        self.trace.forget()

    def prefetch(self, unit_path: str) -> None:
        """Summarize a file's bindings ahead of time."""
        self._summary(self._tree.canonical_path(unit_path))

    def exports(self, unit_path: str, module: str, level: int, name: str) -> str | ClassInfo | None:
        """Return what ``from module import name`` binds in ``unit_path``.

        A dotted name where it comes from outside of the tree, a class where the tree defines it;
        None where the module is not of the tree or the name may mean several things.
        """
        path = self._file(unit_path, module, level)
        if path is None:
            return None
        value = self._answers(path, name)
        if isinstance(value, OwnModule) or self._is_hidden(unit_path, module, level, name, path):
            return None
        return value

    def _file(self, unit_path: str, module: str, level: int) -> str | None:
        """Return the file of a module of the tree, also where a package hands it on as its own.

        ``net.backend`` where ``net/__init__.py`` says ``from .. import backend``.
        """
        path = self._tree.find(unit_path, module, level)
        package, _, name = module.rpartition(".")
        if path is not None or not name or not (package or level):
            return path
        package_path = self._file(unit_path, package, level)
        value = None if package_path is None else self._answers(package_path, name)
        return value.path if isinstance(value, OwnModule) else None

    def may_hold(self, unit_path: str, top: str) -> bool:
        """Say whether ``import top.…`` in ``unit_path`` can be a project module."""
        return self._tree.may_hold(unit_path, top)

    def holds(self, unit_path: str, top: str) -> bool:
        """Say whether ``import top`` in ``unit_path`` surely is a project module."""
        return self._tree.find(unit_path, top, 0) is not None

    def has_file(self, unit_path: str, relative: str) -> bool:
        """Say whether a relative path exists beside ``unit_path`` or in its project."""
        return self._tree.has_file(unit_path, relative)

    def parameter_callees(
        self, unit_path: str, module: str, level: int, name: str
    ) -> Collection[tuple[int, str]]:
        """Return what a project function surely calls with its parameters, by position."""
        found = self._function(unit_path, module, level, name)
        if found is None:
            return ()
        meant = ((place, self._answers(found[0], each)) for place, each in self._callees(*found))
        return [(place, each) for place, each in meant if isinstance(each, str)]

    def returned_call(self, unit_path: str, module: str, level: int, name: str) -> str | None:
        """Return the call whose result a project function surely returns."""
        found = self._function(unit_path, module, level, name)
        callee = None if found is None else self._returned_call(*found)
        value = None if found is None or callee is None else self._answers(found[0], callee)
        return value if isinstance(value, str) else None

    def _function(
        self, unit_path: str, module: str, level: int, name: str
    ) -> tuple[str, str] | None:
        """Return the file and the name of a function of the tree."""
        path = self._tree.find(unit_path, module, level)
        for _ in range(_RE_EXPORTS):
            summary = None if path is None else self._summary(path)
            match list(summary.names.get(name, ())) if summary else []:
                case [None] if path is not None:
                    return path, name
                case [Imported(name=str(imported)) as through] if path is not None:
                    path, name = self._tree.find(path, through.module, through.level), imported
                case _:
                    return None
        return None

    def star_names(self, unit_path: str, module: str, level: int) -> Collection[str] | None:
        """Return what ``from module import *`` binds, None if unknown."""
        path = self._tree.find(unit_path, module, level)
        return None if path is None else self._public(path)

    def imports_another_root(self, unit_path: str, module: str, level: int) -> bool:
        """Say whether a module of the tree imports tf_keras: what it makes may be of Keras 2."""
        path = self._tree.find(unit_path, module, level)
        summary = None if path is None else self._summary(path)
        return summary is not None and summary.takes_tf_keras

    def may_be_imported_from(self, unit_path: str, name: str) -> bool:
        """Say whether another file of the project may take a name out of a file."""
        return self._importers.take(unit_path, name)

    def assigned_elsewhere(self, unit_path: str, module: str, level: int) -> Collection[str]:
        """Return what a module of the tree assigns in modules that are not of the tree."""
        path = self._tree.find(unit_path, module, level)
        summary = None if path is None else self._summary(path)
        if path is None or summary is None:
            return ()
        meant = [self._answers(path, each) for each in summary.given]
        return [each for each in meant if isinstance(each, str)]

    def switched_by(self, unit_path: str, texts: Iterable[str]) -> str:
        """Return the module that sets ``TF_USE_LEGACY_KERAS`` for a file with ``texts``, or ""."""
        return self._switches.set_by(unit_path, texts)

    def meanings(self, unit_path: str, imported: Imported) -> Iterator[Value]:
        """Yield what an import may bind, for each name where it imports several."""
        if imported.name != "*":
            yield self._question().meant(unit_path, imported)
            return
        path = self._tree.find(unit_path, imported.module, imported.level)
        yield imported.module if path is None else OwnModule(path)

    def contents(self, module: OwnModule) -> Iterator[Value]:
        """Yield what the names of a module of the tree mean, and the modules of its stars."""
        summary = self._summary(module.path)
        if summary is None:
            return
        yield from (self._answers(module.path, name) for name in summary.names)
        for star in summary.stars:
            yield from self.meanings(module.path, star)

    def _is_hidden(self, unit_path: str, module: str, level: int, name: str, path: str) -> bool:
        """Say whether a module of the tree has the name, too.

        Where ``pkg/__init__.py`` says ``import keras`` and ``pkg/keras.py`` is there, ``pkg.keras``
        is that file as soon as anybody has imported it, unless it is what the name comes from:
        ``from .keras import keras``.
        """
        below = f"{module}.{name}" if module else name
        if self._tree.find(unit_path, below, level) in (None, path):
            return False
        summary = self._summary(path)
        bindings = summary.names.get(name, set()) if summary else set()
        return not any(
            isinstance(each, Imported) and each.level == 1 and each.module == name
            for each in bindings
        )

    def _read(self, path: str) -> ModuleSummary | None:
        data = self.trace.read(path)
        if data is None or (tree := self.trees.of_bytes(data)) is None:
            return None
        self._functions.note(path, tree)
        return summary_from(tree, data)

    def _ask(self, path: str, name: str) -> Value:
        return self._question().dotted(path, name)

    def _question(self) -> _Resolution:
        if self._kept.weight > _MAX_RESOLVED_WEIGHT:
            # In a ring of 100 modules each name has them all.
            self._kept.forget()
        modules = _Modules(self._tree, self._summary, self._stars, self._public, self.trace)
        return _Resolution(modules, AliasChainOnce(self._kept, _IN_RING))


class _Modules(Struct, frozen=True):
    """What is known of modules, each by itself."""

    tree: ModuleFinder
    summary: Outlines
    stars: Stars
    public: StarNames
    trace: Dependencies


class _Resolution:
    """One question about one name, on whose way modules may be in a ring.

    What is found halfway there is kept for other questions only where it would be the same
    answer to each: it must not depend on which file was read first.
    """

    def __init__(self, modules: _Modules, following: AliasChain) -> None:
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
        return ClassInfo(found.name, base, names, closed, frozenset(takes), hands_on, given)

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
    """Return the value on which all agree, be it that they take it from other roots of Keras.

    ``optimizers.legacy.Optimizer`` is what ``optimizers.Optimizer`` was before.
    """
    if len(values) == 1:
        return values.pop()
    names = [each for each in values if isinstance(each, str)]
    if len(names) == len(values) and len(plain := {without_legacy(each) for each in names}) == 1:
        return plain.pop()
    same = same_under_other_roots(names) if len(names) == len(values) else []
    # What stands in a module of Keras may be there under one root only.
    return same[0] if same and is_module_everywhere(same[0]) else None
