"""Fixed points over mutually dependent keys; each key is evaluated once.

To follow a name along every path that leads back to it takes time that grows exponentially with
the branches that bind it again. Here a name is looked at again only where an answer that it rests
on has changed, so that the work is bounded by what the source says.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Final, Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Answer = TypeVar("_Answer")
_MAX_DEPTH: Final = 20
"""Questions within each other that are followed at once, for the sake of the stack."""


class GreatestFixedPoint(Generic[_Key]):
    """Greatest fixed point of a predicate: true unless something refutes it.

    ``x = 2 * x`` is as the other bindings of ``x`` have it. An answer joins others by ``and`` and
    ``or`` alone, so that it goes from yes to no, and at most once.
    """

    def __init__(self) -> None:
        self._holds: dict[_Key, bool] = {}
        self._ways: dict[_Key, Callable[[], bool]] = {}
        self._readers: dict[_Key, set[_Key]] = {}  # whose answers rest on that of a key
        self._open: list[_Key] = []
        self._waiting: list[_Key] = []  # to be answered, or to be answered again

    def holds(self, key: _Key, find: Callable[[], bool]) -> bool:
        """Return the answer for ``key``, which ``find`` finds by asking here for others."""
        if not self._open:
            return self._resolve(key, find)
        self._readers.setdefault(key, set()).add(self._open[-1])
        known = self._holds.get(key)
        if known is not None:
            return known
        self._holds[key], self._ways[key] = True, find
        if len(self._open) < _MAX_DEPTH:
            self._answer(key)
        else:
            self._waiting.append(key)
        return self._holds[key]

    def _resolve(self, key: _Key, find: Callable[[], bool]) -> bool:
        if key in self._holds:
            return self._holds[key]
        self._holds[key], self._ways[key] = True, find
        try:
            self._answer(key)
            while self._waiting:
                waiting = self._waiting.pop()
                if self._holds[waiting]:
                    self._answer(waiting)
        except BaseException:
            self._holds.clear()  # some were not answered to the end
            raise
        finally:
            for each in (self._ways, self._readers, self._open, self._waiting):
                each.clear()
        return self._holds[key]

    def _answer(self, key: _Key) -> None:
        self._open.append(key)
        holds = self._ways[key]()
        self._open.pop()
        if not holds:
            self._holds[key] = False
            self._waiting += self._readers.pop(key, ())


class Expansion(Generic[_Key, _Answer]):
    """Transitive expansion of keys; a key in a cycle expands to itself.

    (What is made of each other is a strongly connected component of Tarjan, SIAM J. Comput. 1,
    1972.)
    """

    def __init__(self) -> None:
        self._known: dict[_Key, _Answer] = {}
        self._ways: dict[_Key, tuple[_Answer, Callable[[], _Answer]]] = {}
        self._parts: list[_Key] | None = None  # of what is being looked at

    def of(self, key: _Key, itself: _Answer, find: Callable[[], _Answer]) -> _Answer:
        """Return what ``find`` finds by asking here for others, ``itself`` in a ring."""
        if key in self._known:
            return self._known[key]
        self._ways[key] = itself, find
        if self._parts is not None:
            self._parts.append(key)
            return itself
        try:
            for ring in self._components(key):
                self._finalize_cycle(ring)
        finally:
            self._ways.clear()
            self._parts = None
        return self._known[key]

    def _finalize_cycle(self, ring: list[_Key]) -> None:
        for each in ring:
            itself, find = self._ways[each]
            is_of_itself = len(ring) > 1 or each in self._parts_of(each)
            self._known[each] = itself if is_of_itself else find()

    def _parts_of(self, key: _Key) -> list[_Key]:
        """Return what a key is made of that is not known yet."""
        self._parts = []
        self._ways[key][1]()
        return self._parts

    def _components(self, first: _Key) -> Iterator[list[_Key]]:
        """Yield keys that are made of each other, mostly one, and what they are made of before."""
        lowest: dict[_Key, int] = {}
        open_ = [first]
        stack = [(first, 0, self._parts_of(first))]
        lowest[first] = 0
        while stack:
            key, place, parts = stack[-1]
            if parts:
                part = parts.pop()
                if part in self._known:
                    continue
                if part in lowest:
                    lowest[key] = min(lowest[key], lowest[part])
                    continue
                lowest[part] = len(open_)
                stack.append((part, len(open_), self._parts_of(part)))
                open_.append(part)
                continue
            stack.pop()
            if stack:
                above = stack[-1][0]
                lowest[above] = min(lowest[above], lowest[key])
            if lowest[key] == place:
                yield open_[place:]
                del open_[place:]
