"""Memo of inferred values: final, assumption-dependent, or part of a cycle."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, TypeVar

import libcst as cst
from msgspec import Struct

from kdoctor.syntax.values import OPEN, UNKNOWN, Value

_Key = TypeVar("_Key", bound=Hashable)
_MAX_INFERENCE_CHAIN = 60  # nodes: a model of 300 layers is a chain of 300 assignments
_ROUNDS = 8  # in which the values of a ring must come to rest
_NO_RING: Final = 1 << 30


class OutOfOrderError(Exception):
    """An expression depends on itself, or on too long a chain.

    Which answer a ring gives may depend on who asks first, and a long chain has no end on a usual
    stack. So first things are to be inferred first.
    """


class _Unsettled(Struct, frozen=True):
    """A value that rests on a ring which is still open; ``lowest`` is the depth of its first."""

    value: Value
    lowest: int


class InferenceMemo:
    """Values by node: final, or until other parameter types are assumed.

    Whoever infers says by ``note_assumption`` that a value rests on a parameter; so does then all
    that is inferred from it.

    What is asked for while it is being inferred closes a ring: ``x = Dense(4)(x)`` in a loop. It is
    ``OPEN`` at first, which takes nothing away from what else may be there, and then what the round
    before found, until a round finds the same. So a ring is what gets into it from outside where
    all in it keep to that. (These are the strongly connected components of Tarjan, SIAM J. Comput.
    1, 1972, with a fixed point of Kildall, POPL 1973, in each.)
    """

    def __init__(self) -> None:
        self.certain: dict[Hashable, Value] = {}  # what rests on no assumption
        self.in_order = False
        self._assumed: dict[Hashable, Value] = {}
        self._returned: dict[cst.FunctionDef, Value] = {}
        self._busy: dict[Hashable, int] = {}  # what is being inferred, and how deep it stands
        self._unsettled: dict[Hashable, _Unsettled] = {}  # last things last
        self._guesses: dict[Hashable, Value] = {}  # of those that close a ring
        self._rests = False
        self._lowest = _NO_RING
        self._guessed_wrong = False

    def note_assumption(self) -> None:
        """Record that the current inference depends on a parameter."""
        self._rests = True

    def forget_assumed(self) -> None:
        """Drop all values that depend on a parameter."""
        self._assumed.clear()

    def recall(self, node: _Key, infer: Callable[[_Key], Value]) -> Value:
        """Return the memoized value of a node, or infer it.

        Raises:
            OutOfOrderError: that is to be asked when things are in order.
        """
        known = self.certain.get(node)
        if known is not None:
            return known
        known = self._assumed.get(node)
        if known is not None:
            self._rests = True
            return known
        unsettled = self._unsettled.get(node)
        if unsettled is not None:
            self._lowest = min(self._lowest, unsettled.lowest)
            return unsettled.value
        depth = self._busy.get(node)
        if not self.in_order and (depth is not None or len(self._busy) > _MAX_INFERENCE_CHAIN):
            raise OutOfOrderError
        if depth is not None:
            self._lowest = min(self._lowest, depth)
            return self._guesses.setdefault(node, OPEN)
        around = self._rests, self._lowest
        before = len(self._unsettled)
        self._busy[node] = len(self._busy)
        try:
            value = self._inferred(node, infer, before)
        except BaseException:
            self._drop(before)
            self._guesses.pop(node, None)
            raise
        finally:
            del self._busy[node]
        self._rests, self._lowest = self._rests or around[0], min(self._lowest, around[1])
        return value

    def _inferred(self, node: _Key, infer: Callable[[_Key], Value], before: int) -> Value:
        """Return what a node is; keep it, where no ring goes on from it to what is around."""
        depth, wrong_around = self._busy[node], self._guessed_wrong
        for _ in range(_ROUNDS):
            self._rests, self._lowest, self._guessed_wrong = False, _NO_RING, False
            value = infer(node)
            if self._lowest == _NO_RING:
                break
            self._check_guess(node, value)
            if self._lowest < depth:
                self._guessed_wrong |= wrong_around
                self._unsettled[node] = _Unsettled(value, self._lowest)
                return value
            if not self._guessed_wrong and not self._closes_open(node, before):
                break
            self._drop(before, forget_guesses=False)
        else:
            value = UNKNOWN
            self._drop(before)
        self._guessed_wrong = wrong_around
        self._finalize(node, value, before)
        self._lowest = _NO_RING
        return value

    def _check_guess(self, node: Hashable, value: Value) -> None:
        guess = self._guesses.get(node)
        if guess is not None and guess != value:
            self._guesses[node] = value
            self._guessed_wrong = True

    def _closes_open(self, first: Hashable, before: int) -> bool:
        """Say whether nothing gets into a part of a ring from outside: nobody knows what it is."""
        ring = (first, *self._since(before))
        lost = [each for each in ring if self._guesses.get(each) is OPEN]
        self._guesses.update(dict.fromkeys(lost, UNKNOWN))
        return bool(lost)

    def _finalize(self, first: Hashable, value: Value, before: int) -> None:
        kept = self._assumed if self._rests else self.certain
        for each in self._since(before):
            kept[each] = self._unsettled.pop(each).value
            self._guesses.pop(each, None)
        kept[first] = value
        self._guesses.pop(first, None)

    def _since(self, before: int) -> list[Hashable]:
        """Return what has become unsettled since there were so many."""
        return [*self._unsettled][before:] if len(self._unsettled) > before else []

    def _drop(self, before: int, *, forget_guesses: bool = True) -> None:
        for each in self._since(before):
            del self._unsettled[each]
            if forget_guesses:
                self._guesses.pop(each, None)

    def recall_returned(
        self, function: cst.FunctionDef, infer: Callable[[cst.FunctionDef], Value]
    ) -> Value:
        """Return the memoized result of a function's calls, or infer it."""
        known = self._returned.get(function)
        if known is not None:
            return known
        around = self._rests, self._lowest
        self._rests, self._lowest = False, _NO_RING
        value = infer(function)
        if not self._rests and self._lowest == _NO_RING:
            self._returned[function] = value
        self._rests, self._lowest = self._rests or around[0], min(self._lowest, around[1])
        return value
