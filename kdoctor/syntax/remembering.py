"""What has been inferred of the nodes of a module, and what of it rests on an assumption."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import libcst as cst

from kdoctor.syntax.values import UNKNOWN, Value

_Node = TypeVar("_Node", bound=cst.CSTNode)


class Memory:
    """Values by node: some for good, and some until other parameters are assumed.

    Whoever infers says by ``note_assumption`` that a value rests on a parameter; so does then all
    that is inferred from it. What is asked for while it is being inferred is counted among that:
    the answer depends on who asked first.
    """

    def __init__(self) -> None:
        self._certain: dict[cst.CSTNode, Value] = {}
        self._assumed: dict[cst.CSTNode, Value] = {}
        self._returned: dict[cst.FunctionDef, Value] = {}
        self._busy: set[cst.CSTNode] = set()
        self._rests = False

    def note_assumption(self) -> None:
        """Note that what is being inferred rests on a parameter."""
        self._rests = True

    def forget_assumed(self) -> None:
        """Forget all that rests on a parameter."""
        self._assumed.clear()

    def recall(self, node: _Node, infer: Callable[[_Node], Value]) -> Value:
        """Return what a node is, inferred where it is not known; UNKNOWN while that goes on."""
        known = self._certain.get(node)
        if known is not None:
            return known
        known = self._assumed.get(node)
        if known is not None or node in self._busy:
            self._rests = True
            return UNKNOWN if known is None else known
        around, self._rests = self._rests, False
        self._busy.add(node)
        try:
            value = infer(node)
        finally:
            self._busy.discard(node)
        (self._assumed if self._rests else self._certain)[node] = value
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
