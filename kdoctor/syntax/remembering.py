"""What has been inferred of the nodes of a module, and what of it rests on an assumption."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import libcst as cst

from kdoctor.syntax.values import UNKNOWN, Value

_Node = TypeVar("_Node", bound=cst.CSTNode)
_LONG = 60  # nodes: a model of 300 layers is a chain of 300 assignments


class OutOfOrderError(Exception):
    """What is asked for rests on itself, or on a long chain of others.

    Which answer a ring gives depends on who asks first, and a long chain has no end on a usual
    stack. So first things are to be inferred first.
    """


class Memory:
    """Values by node: some for good, and some until other parameters are assumed.

    Whoever infers says by ``note_assumption`` that a value rests on a parameter; so does then all
    that is inferred from it. What is asked for while it is being inferred is counted among that:
    the answer depends on who asked first, so that is refused until things are ``in_order``.
    """

    def __init__(self) -> None:
        self.certain: dict[cst.CSTNode, Value] = {}  # what rests on no assumption
        self._assumed: dict[cst.CSTNode, Value] = {}
        self._returned: dict[cst.FunctionDef, Value] = {}
        self._busy: set[cst.CSTNode] = set()
        self._rests = False
        self.in_order = False

    def note_assumption(self) -> None:
        """Note that what is being inferred rests on a parameter."""
        self._rests = True

    def forget_assumed(self) -> None:
        """Forget all that rests on a parameter."""
        self._assumed.clear()

    def recall(self, node: _Node, infer: Callable[[_Node], Value]) -> Value:
        """Return what a node is of which nothing is certain; UNKNOWN while it is inferred.

        Raises:
            OutOfOrderError: that is to be asked when things are in order.
        """
        known = self._assumed.get(node)
        if known is not None:
            self._rests = True
            return known
        if not self.in_order and (node in self._busy or len(self._busy) > _LONG):
            raise OutOfOrderError
        if node in self._busy:
            self._rests = True
            return UNKNOWN
        around, self._rests = self._rests, False
        self._busy.add(node)
        try:
            value = infer(node)
        finally:
            self._busy.discard(node)
        (self._assumed if self._rests else self.certain)[node] = value
        self._rests = self._rests or around
        return value

    def recall_returned(
        self, function: cst.FunctionDef, infer: Callable[[cst.FunctionDef], Value]
    ) -> Value:
        """Return what calls of a function give; inferred anew while that rests on anything."""
        known = self._returned.get(function)
        if known is not None:
            return known
        around, self._rests = self._rests, False
        value = infer(function)
        if not self._rests:
            self._returned[function] = value
        self._rests = self._rests or around
        return value
