"""Where a node stands, found out by letting libcst write the code around it once more.

A node has two spans. The inner is the node itself: no parentheses around it, no blank lines and
comments before it, no comma after it (and, as in Python's own ``ast``, no decorators). The outer
of an expression has its own parentheses too; of any other node it is the inner one's text with the
whitespace that libcst hangs on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

import libcst as cst
from libcst._nodes.internal import CodegenState

from kdoctor.model import Span


class Positions:
    """The spans of nodes, in characters of ``text``, which ``tree`` was parsed from.

    Only what is asked for is written: the smallest statement around a node whose text stands in
    the file once, which says where it stands. Where there is none, the whole tree is written.
    """

    def __init__(
        self, tree: cst.Module, text: str, parents: Mapping[cst.CSTNode, cst.CSTNode]
    ) -> None:
        self._tree = tree
        self._text = text
        # libcst ends every line, and takes the last newline back where the file has none.
        self._lines = "\n" + text + ("" if tree.has_trailing_newline else tree.default_newline)
        self._parents = parents
        self._inner: dict[cst.CSTNode, tuple[int, int]] = {}
        self._outer: dict[cst.CSTNode, tuple[int, int]] = {}

    def inner(self, node: cst.CSTNode) -> Span:
        """Return where the node itself stands.

        Raises:
            DifferentTextError: libcst does not write the tree as it was.
            RecursionError: it is nested too deeply for this stack.
        """
        self._find(node)
        start, end = self._inner.get(node) or self._outer[node]
        if isinstance(node, cst.Param):  # libcst counts the name alone
            last = node.default or node.annotation
            end = self._outer[last][1] if last is not None else end
        return self._span(start, end)

    def outer(self, node: cst.CSTNode) -> Span:
        """Return where the node and what libcst hangs on it stand. Raises as ``inner`` does."""
        self._find(node)
        return self._span(*self._outer[node])

    def _span(self, start: int, end: int) -> Span:
        return Span(min(start, len(self._text)), min(end, len(self._text)))

    def _find(self, node: cst.CSTNode) -> None:
        if node in self._outer:
            return
        parents = self._parents
        above: cst.CSTNode | None = node
        while above is not None:
            holder = parents.get(above)
            if isinstance(holder, cst.IndentedBlock | cst.Module) and self._place(above, parents):
                return
            above = holder
        self._write_all()

    def _place(self, statement: cst.CSTNode, parents: Mapping[cst.CSTNode, cst.CSTNode]) -> bool:
        """Write one statement; keep its spans if its text stands in the file exactly once."""
        state = _RecordingState(self._tree.default_indent, self._tree.default_newline)
        for indent in self._indents(statement, parents):
            state.increase_indent(indent)
        statement._codegen(state)  # noqa: SLF001 - the only way to positions
        written = "\n" + "".join(state.tokens)
        start = self._lines.find(written)
        if start < 0 or self._lines.find(written, start + 1) >= 0:
            return False
        for own, found in ((self._inner, state.inner), (self._outer, state.outer)):
            for node, (first, last) in found.items():
                own[node] = (start + first, start + last)
        return True

    def _indents(
        self, statement: cst.CSTNode, parents: Mapping[cst.CSTNode, cst.CSTNode]
    ) -> list[str]:
        """Return the indentation of each block around a statement, from the outside in."""
        indents: list[str] = []
        above = parents.get(statement)
        while above is not None:
            if isinstance(above, cst.IndentedBlock):
                own = above.indent
                indents.append(self._tree.default_indent if own is None else own)
            above = parents.get(above)
        return indents[::-1]

    def _write_all(self) -> None:
        state = _RecordingState(self._tree.default_indent, self._tree.default_newline)
        self._tree._codegen(state)  # noqa: SLF001 - the only way to positions
        written = "".join(state.tokens)
        if written != self._text:
            raise DifferentTextError(written)
        self._inner, self._outer = state.inner, state.outer


class DifferentTextError(Exception):
    """libcst writes another text than it read, which this holds."""

    def __init__(self, written: str) -> None:
        super().__init__("libcst does not give this code back as it is")
        self.written = written


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
