"""Follow aliases in bounded steps on a bounded stack."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

Outcome = tuple[object] | type[Exception]
"""What something comes to: a value, or the kind of the refusal to tell one."""

_MAX_DEPTH: Final = 10
"""Names within each other that are followed at once; those further down are looked at first."""
_MAX_CYCLES: Final = 200
"""Ways back to what is being asked for that one question may find: there may be n! of them."""


class TooDeepError(Exception):
    """A key must be resolved first, on its own stack."""

    def __init__(self, key: Hashable, find: Callable[[], object]) -> None:
        super().__init__()
        self.key = key
        self.find = find


class TooManyCyclesError(Exception):
    """A key depends on itself through too many cycles."""


class AliasCache:
    """Resolved keys, shared by all queries."""

    def __init__(self, *refusals: type[Exception]) -> None:
        self.refusals = refusals
        self.known: dict[Hashable, Outcome] = {}
        self.provisional = 0
        """How many answers were given so far that hold only on the way to another one."""
        self.weight = 0
        """How much there is to all that was found since nothing was known."""

    def forget(self) -> None:
        """Drop all resolved keys."""
        self.known.clear()
        self.weight = 0

    def note_provisional(self) -> None:
        """Record that the current result depends on a provisional one."""
        self.provisional += 1


class AliasChain:
    """Resolves one query.

    What leads into no ring is kept for all questions, so that it does not matter which comes first.
    """

    def __init__(self, kept: AliasCache, in_ring: Outcome) -> None:
        self._kept = kept
        self._in_ring = in_ring  # what that comes to which rests on itself
        self._stack: dict[Hashable, bool] = {}  # what is looked at; whether `loosen` was called
        self._first: dict[Hashable, Callable[[], object]] = {}  # of those, what was too deep
        self._meanwhile: dict[Hashable, Outcome] = {}  # on the way to the answer
        self._cycles = 0

    def answer(self, find: Callable[[], object]) -> object:
        """Return the result of ``find``, which resolves names through ``of``."""
        while True:
            try:
                if not self._first:
                    return find()
                key, way = next(reversed(self._first.items()))
                self._meanwhile[key] = self._found(key, way)
                del self._first[key]
            except TooDeepError as problem:
                self._first[problem.key] = problem.find
                self._stack[problem.key] = False
            except TooManyCyclesError:
                return _unwrapped(self._in_ring)

    def of(self, key: Hashable, find: Callable[[], object]) -> object:
        """Return what a key resolves to; ``find`` resolves further keys through this method.

        Raises:
            Exception: one of the refusals; ``TooDeepError`` and ``TooManyCyclesError`` for
                ``answer``.
        """
        return _unwrapped(self._outcome(key, find))

    def weigh(self, weight: int) -> None:
        """Record the size of an answer, for cache eviction."""
        self._kept.weight += weight

    def note_undecided(self) -> None:
        """Note that what is looked at may have an answer where one that it rests on has none."""
        if self._stack:
            self._stack[next(reversed(self._stack))] = True

    def _outcome(self, key: Hashable, find: Callable[[], object]) -> Outcome:
        outcome = self._kept.known.get(key)
        if outcome is not None:
            return outcome
        outcome = self._meanwhile.get(key)
        if outcome is not None:
            self._kept.note_provisional()
            return outcome
        if key in self._stack:
            self._close_cycle(key)
            return self._in_ring
        if len(self._stack) - len(self._first) > _MAX_DEPTH:
            raise TooDeepError(key, find)
        self._stack[key] = False
        return self._found(key, find)

    def _found(self, key: Hashable, find: Callable[[], object]) -> Outcome:
        before = self._kept.provisional
        outcome: Outcome
        try:
            outcome = (find(),)
        except self._kept.refusals as refusal:
            outcome = type(refusal)
        except TooDeepError:
            if key not in self._first and self._stack.pop(key):
                self.note_undecided()
            raise
        del self._stack[key]
        if self._kept.provisional == before:
            self._kept.known[key] = outcome
        else:
            self._note(key, outcome)
        return outcome

    def _note(self, key: Hashable, outcome: Outcome) -> None:
        """Keep what rests on a ring, or do not: it may be another answer from elsewhere."""

    def _close_cycle(self, key: Hashable) -> None:  # noqa: ARG002 - others ask for it
        """Note that what is looked at rests on ``key``, which rests on it.

        Raises:
            TooManyRingsError: there were more such ways than anybody follows.
        """
        self._cycles += 1
        if self._cycles > _MAX_CYCLES:
            raise TooManyCyclesError
        self._kept.note_provisional()


class AliasChainOnce(AliasChain):
    """Resolves each key once a query, also in a cycle.

    An answer is as unknown as any that it rests on, other than below
    ``note_undecided``: so what is in a ring is so for whoever asks.
    """

    def _note(self, key: Hashable, outcome: Outcome) -> None:
        self._meanwhile[key] = outcome

    def _close_cycle(self, key: Hashable) -> None:
        for each, is_loose in reversed(self._stack.items()):
            if is_loose:
                self._kept.note_provisional()
                return
            if each == key:
                return


def _unwrapped(outcome: Outcome) -> object:
    if isinstance(outcome, tuple):
        return outcome[0]
    raise outcome
