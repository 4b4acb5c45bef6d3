"""Where each node stands, found out by letting libcst write the tree once more.

A node has two spans. The inner is the node itself: no parentheses around it, no blank lines and
comments before it, no comma after it (and, as in Python's own ``ast``, no decorators). The outer
of an expression has its own parentheses too; of any other node it is the inner one's text with the
whitespace that libcst hangs on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType

import libcst as cst
from libcst._nodes.internal import CodegenState

from kdoctor.model import Span


@dataclass(frozen=True, slots=True)
class Positions:
    """The spans of every node, in characters of ``text``, the tree as libcst writes it."""

    text: str
    _inner: dict[cst.CSTNode, tuple[int, int]]
    _outer: dict[cst.CSTNode, tuple[int, int]]

    def inner(self, node: cst.CSTNode) -> Span:
        """Return where the node itself stands."""
        start, end = self._inner.get(node) or self._outer[node]
        if isinstance(node, cst.Param):  # libcst counts the name alone
            last = node.default or node.annotation
            end = self._outer[last][1] if last is not None else end
        return self._span(start, end)

    def outer(self, node: cst.CSTNode) -> Span:
        """Return where the node and what libcst hangs on it stand."""
        return self._span(*self._outer[node])

    def _span(self, start: int, end: int) -> Span:
        # libcst ends every line, and takes the last newline back where the file has none.
        return Span(min(start, len(self.text)), min(end, len(self.text)))

    @classmethod
    def of(cls, tree: cst.Module) -> Positions:
        """Write ``tree`` once.

        Raises:
            RecursionError: it is nested too deeply for this stack.
        """
        state = _RecordingState(tree.default_indent, tree.default_newline)
        tree._codegen(state)  # noqa: SLF001 - the only way to positions without MetadataWrapper
        return cls("".join(state.tokens), state.inner, state.outer)


class _RecordingState(CodegenState):
    """Counts the characters written, where libcst's own counts lines and columns."""

    def __init__(self, default_indent: str, default_newline: str) -> None:
        super().__init__(default_indent=default_indent, default_newline=default_newline)
        self.offset = 0
        self.inner: dict[cst.CSTNode, tuple[int, int]] = {}
        self.outer: dict[cst.CSTNode, tuple[int, int]] = {}
        self._starts: list[int] = []

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        self.offset += len(value)

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.add_token(token)

    def written(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return where a node stands that was written already."""
        return self.inner.get(node) or self.outer[node]

    def before_codegen(self, node: cst.CSTNode) -> None:  # noqa: ARG002
        self._starts.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        self.outer[node] = (self._starts.pop(), self.offset)

    def record_syntactic_position(  # type: ignore[override]
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> _Recording:
        return _Recording(self, node, start_node, end_node)


class _Recording:
    """``with`` it around what is written of a node proper."""

    __slots__ = ("_end_node", "_node", "_start", "_start_node", "_state")

    def __init__(
        self,
        state: _RecordingState,
        node: cst.CSTNode,
        start_node: cst.CSTNode | None,
        end_node: cst.CSTNode | None,
    ) -> None:
        self._state = state
        self._node = node
        self._start_node = start_node
        self._end_node = end_node
        self._start = 0

    def __enter__(self) -> None:
        self._start = self._state.offset

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            return
        state = self._state
        start, end = self._start, state.offset
        if self._start_node is not None:
            start = state.written(self._start_node)[0]
        if self._end_node is not None:
            end = state.written(self._end_node)[1]
        state.inner[self._node] = (start, end)
