"""The names that ``from module import *`` binds, for project modules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from msgspec import Struct

from kdoctor.modules.dependencies import Dependencies
from kdoctor.modules.module_finder import ModuleFinder
from kdoctor.modules.module_summary import ModuleSummary


class _Public(Struct, frozen=True):
    names: frozenset[str] | None
    dependencies: frozenset[str]  # at which files and folders, to know it


class _LocalNames(Struct, frozen=True):
    """What a module has by itself, from outside of the tree, and of which of its modules."""

    names: frozenset[str] | None = None
    outside: frozenset[str] = frozenset()
    of: tuple[str, ...] = ()


class _Star(Struct, frozen=True):
    """The same, with what was looked at to know it."""

    own: _Public
    outside: frozenset[str]
    of: tuple[str, ...]


_Binders = Mapping[str, str | None]
"""The module of a ring that binds a name, None where several do or it may come from outside."""


class StarNames:
    """Computes star-import names; modules in an import cycle share them.

    (Those are a strongly connected component of Tarjan, SIAM J. Comput. 1, 1972.)
    """

    def __init__(
        self,
        tree: ModuleFinder,
        summary: Callable[[str], ModuleSummary | None],
        outside: Callable[[str], Collection[str] | None],
        trace: Dependencies,
    ) -> None:
        self._tree = tree
        self._summary = summary
        self._outside = outside
        self._trace = trace
        self._known: dict[str, _Public] = {}
        self._binders: dict[str, _Binders] = {}

    def __call__(self, path: str) -> frozenset[str] | None:
        """Return what a star import of a module binds, None if unknown."""
        if path not in self._known:
            self._find(path)
        found = self._known[path]
        self._trace.add(found.dependencies)
        return found.names

    def binder(self, path: str, name: str) -> str | None:
        """Return the one module that defines a name which a star import of ``path`` binds.

        It is known where modules take all of each other, and is not looked for elsewhere. To ask
        each in turn would take as many steps as there are, for each of their names.
        """
        if path not in self._known:
            self._find(path)
        return self._binders.get(path, {}).get(name)

    def forget(self) -> None:
        """Drop all caches."""
        self._known.clear()
        self._binders.clear()

    def _find(self, first: str) -> None:
        stars: dict[str, _Star] = {}
        for ring in self._components(first, stars):
            names: set[str] = set()
            dependencies: set[str] = set()
            is_known = True
            inside = set(ring)
            binders: dict[str, str | None] = {}
            elsewhere: set[str] = set()
            for path in ring:
                star = stars.pop(path)
                for name in star.own.names or ():
                    binders[name] = None if name in binders else path
                taken = [self._known[each] for each in {*star.of} - inside]
                elsewhere.update(star.outside, *(each.names or () for each in taken))
                for part in (star.own, *taken):
                    dependencies |= part.dependencies
                    names |= part.names or frozenset()
                    is_known = is_known and part.names is not None
            public = _Public(frozenset(names) if is_known else None, frozenset(dependencies))
            self._known.update(dict.fromkeys(ring, public))
            if is_known and len(ring) > 1:
                binders.update(dict.fromkeys(elsewhere))
                self._binders.update(dict.fromkeys(ring, binders))

    def _components(self, first: str, stars: dict[str, _Star]) -> Iterator[list[str]]:
        """Yield modules that take all of each other, mostly one, after those they take all of."""
        lowest: dict[str, int] = {}
        open_: list[str] = []
        stack: list[tuple[str, int, list[str]]] = []

        def enter(path: str) -> None:
            star = stars[path] = self._star(path)
            lowest[path] = len(open_)
            stack.append((path, len(open_), [*star.of]))
            open_.append(path)

        enter(first)
        while stack:
            path, place, taken = stack[-1]
            if taken:
                other = taken.pop()
                if other in lowest and other in stars:
                    lowest[path] = min(lowest[path], lowest[other])
                elif other not in self._known:
                    enter(other)
                continue
            stack.pop()
            if stack:
                lowest[stack[-1][0]] = min(lowest[stack[-1][0]], lowest[path])
            if lowest[path] == place:
                yield open_[place:]
                del open_[place:]

    def _star(self, path: str) -> _Star:
        with self._trace.isolated() as dependencies:
            own = self._local_names(path)
        return _Star(_Public(own.names, frozenset(dependencies)), own.outside, own.of)

    def _local_names(self, path: str) -> _LocalNames:
        summary = self._summary(path)
        if summary is None or summary.listed_in_parts:
            return _LocalNames()
        if summary.listed is not None:
            return _LocalNames(frozenset(summary.listed))
        names = {name for name in summary.names if not name.startswith("_")}
        outside: set[str] = set()
        of = []
        for star in summary.stars:
            own = self._tree.find(path, star.module, star.level)
            if own is not None:
                of.append(own)
                continue
            more = self._outside(star.module)
            if more is None:
                return _LocalNames()
            outside.update(more)
        return _LocalNames(frozenset(names | outside), frozenset(outside), tuple(of))
