"""The common interface of node span providers."""

from __future__ import annotations

from typing import Protocol

import libcst as cst

from kdoctor.model import Span


class Spans(Protocol):
    """The spans of a tree's nodes, in characters of the text.

    The inner one is the node itself: no parentheses around it, no blank lines and comments before
    it, no comma after it. The outer one of an expression has its own parentheses, too.
    """

    def inner(self, node: cst.CSTNode) -> Span:
        """Return where the node itself stands.

        Raises:
            DifferentTextError: libcst does not write the tree as it was.
            RecursionError: it is nested too deeply for this stack.
        """
        ...

    def outer(self, node: cst.CSTNode) -> Span:
        """Return the span of an expression with its own parentheses. Raises as ``inner`` does."""
        ...


class DifferentTextError(Exception):
    """libcst does not write back the text that it read."""

    def __init__(self, written: str) -> None:
        super().__init__("libcst does not reproduce this code exactly")
        self.written = written

    def offset_in(self, text: str) -> int:
        """Return where it first differs from the text that was read."""
        pairs = enumerate(zip(self.written, text, strict=False))
        ends = min(len(self.written), len(text))
        return next((at for at, (left, right) in pairs if left != right), ends)
