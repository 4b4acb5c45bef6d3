"""Track the files and folders that an answer depends on, memoized answers included."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, Generic, ParamSpec, TypeVar

from kdoctor.documents.reading import read_regular
from kdoctor.modules.file_stamp import GONE, UNSTEADY, FileStamp, file_state, folder_state, names_in

P = ParamSpec("P")
T = TypeVar("T")

_LOOKED_AT: Final = 32  # files and folders, for an answer, on the average
_NOTHING: Final[frozenset[str]] = frozenset()

Seen = Mapping[str, FileStamp]  # by path, or another key of ``FileStamp``


class Dependencies:
    """Reads files and folders, and records each with its state.

    ``listens``: whether anybody will want to know which, for one answer or another; where nobody
    does, no state is made, which would cost more than the look.
    """

    def __init__(self, *, listens: bool = True) -> None:
        self.listens = listens
        self._looked: set[str] | None = None  # where somebody wants to know
        self._states: dict[str, FileStamp] = {}

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None if it cannot be read."""
        try:
            state, data = file_state(path) if self.listens else (UNSTEADY, read_regular(path))
        except OSError:
            state, data = GONE, None
        self.note(path, state)
        return data

    def names_in(self, folder: str) -> frozenset[str]:
        """Return the names in a folder, none if it cannot be read."""
        state, names = folder_state(folder) if self.listens else (UNSTEADY, names_in(folder))
        self.note(folder if folder.endswith(os.sep) else folder + os.sep, state)
        return names

    def contains_any(self, folder: str, names: Collection[str]) -> bool:
        """Say whether a folder, perhaps a large one, contains one of some names."""
        if self.listens:  # the state of a folder is that of all that is in it
            return not self.names_in(folder).isdisjoint(names)
        return any(os.path.lexists(f"{folder}{os.sep}{name}") for name in names)

    @contextmanager
    def isolated(self) -> Iterator[set[str]]:
        """Record accesses of a block separately; add them to the outer record afterwards."""
        before = self._looked
        dependencies: set[str] = set()
        self._looked = dependencies
        try:
            yield dependencies
        finally:
            self._looked = before
            self.add(dependencies)

    def add(self, dependencies: Collection[str]) -> None:
        """Record the dependencies of a memoized answer as accessed now."""
        if self._looked is not None:
            self._looked.update(dependencies)

    @property
    def is_recording(self) -> bool:
        """Whether accesses are being recorded."""
        return self.listens and self._looked is not None

    def note(self, key: str, state: FileStamp) -> None:
        """Record the state of something that was accessed in another way."""
        if self._states.setdefault(key, state).digest != state.digest:
            self._states[key] = UNSTEADY
        self.add((key,))

    def seen(self, dependencies: set[str]) -> Seen:
        """Return the states of what was accessed."""
        return {path: self._states.get(path, GONE) for path in dependencies}

    @property
    def size(self) -> int:
        """The number of files and folders with a recorded state."""
        return len(self._states)

    def forget(self) -> None:
        """Drop all states. Answers that depend on them are invalid afterwards."""
        self._states.clear()


class TrackedMemo(Generic[P, T]):
    """Memoized answers with their dependencies; at most ``most`` of them.

    Where much was looked at for each, as in a ring of modules, they are fewer.
    """

    def __init__(self, trace: Dependencies, find: Callable[P, T], most: int) -> None:
        self._trace = trace
        self._find = find
        self._most = most
        self._known: dict[object, tuple[T, frozenset[str]]] = {}
        self._looked = 0

    def __call__(self, *key: P.args, **none: P.kwargs) -> T:
        """Return the answer."""
        known = self._known.get(key)
        if known is not None:
            if self._trace.listens:
                self._trace.add(known[1])
            return known[0]
        if self._trace.listens:
            with self._trace.isolated() as dependencies:
                known = self._find(*key, **none), frozenset(dependencies)
        else:
            known = self._find(*key, **none), _NOTHING
        self._looked += len(known[1]) - len(self._known.pop(key, (None, _NOTHING))[1])
        while self._known and (
            len(self._known) >= self._most or self._looked > _LOOKED_AT * self._most
        ):
            self._looked -= len(self._known.pop(next(iter(self._known)))[1])
        self._known[key] = known
        return known[0]

    def forget(self) -> None:
        """Drop all answers."""
        self._known.clear()
        self._looked = 0
