"""What ``from module import *`` binds, for the modules of a tree."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from msgspec import Struct

from kdoctor.engine.cache.trace import Trace
from kdoctor.engine.outline import Outline
from kdoctor.engine.tree import Tree


class _Public(Struct, frozen=True):
    names: frozenset[str] | None
    looked: frozenset[str]  # at which files and folders, to know it


class _Star(Struct, frozen=True):
    """What a module has by itself, and of which modules of the tree it takes all."""

    own: _Public
    of: tuple[str, ...]


class StarNames:
    """Finds the names, once for each module: modules that take all of each other have the same.

    (Those are a strongly connected component of Tarjan, SIAM J. Comput. 1, 1972.)
    """

    def __init__(
        self,
        tree: Tree,
        outline: Callable[[str], Outline | None],
        outside: Callable[[str], Collection[str] | None],
        trace: Trace,
    ) -> None:
        self._tree = tree
        self._outline = outline
        self._outside = outside
        self._trace = trace
        self._known: dict[str, _Public] = {}

    def __call__(self, path: str) -> frozenset[str] | None:
        """Return what a star import of a module binds, None where that is not known."""
        if path not in self._known:
            self._find(path)
        found = self._known[path]
        self._trace.add(found.looked)
        return found.names

    def forget(self) -> None:
        """Forget all that is known."""
        self._known.clear()

    def _find(self, first: str) -> None:
        stars: dict[str, _Star] = {}
        for ring in self._rings(first, stars):
            names: set[str] = set()
            looked: set[str] = set()
            is_known = True
            inside = set(ring)
            for path in ring:
                star = stars.pop(path)
                taken = (self._known[each] for each in {*star.of} - inside)
                for part in (star.own, *taken):
                    looked |= part.looked
                    names |= part.names or frozenset()
                    is_known = is_known and part.names is not None
            public = _Public(frozenset(names) if is_known else None, frozenset(looked))
            self._known.update(dict.fromkeys(ring, public))

    def _rings(self, first: str, stars: dict[str, _Star]) -> Iterator[list[str]]:
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
        with self._trace.apart() as looked:
            names, of = self._own(path)
        return _Star(_Public(names, frozenset(looked)), of)

    def _own(self, path: str) -> tuple[frozenset[str] | None, tuple[str, ...]]:
        outline = self._outline(path)
        if outline is None or outline.listed_in_parts:
            return None, ()
        if outline.listed is not None:
            return frozenset(outline.listed), ()
        names = {name for name in outline.names if not name.startswith("_")}
        of = []
        for star in outline.stars:
            own = self._tree.find(path, star.module, star.level)
            if own is not None:
                of.append(own)
                continue
            more = self._outside(star.module)
            if more is None:
                return None, ()
            names.update(more)
        return frozenset(names), tuple(of)
