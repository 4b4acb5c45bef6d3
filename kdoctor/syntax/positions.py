"""Where a node stands, found out by letting libcst write the code around it once more.

A node has two spans. The inner is the node itself: no parentheses around it, no blank lines and
comments before it, no comma after it (and, as in Python's own ``ast``, no decorators). The outer
of an expression has its own parentheses too; of any other node it is the inner one's text with the
whitespace that libcst hangs on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from types import TracebackType
from typing import Final

import libcst as cst
from libcst._nodes.internal import CodegenState

from kdoctor.model import Span

_NEIGHBOURS: Final = (2, 8)  # lines on each side that tell apart what stands in a file twice


class Positions:
    """The spans of nodes, in characters of ``text``, which ``tree`` was parsed from.

    Only what is asked for is written: the smallest statement around a node whose text stands in
    the file once, alone (of one with a body: what is before that) or with the lines next to it,
    which says where it stands. Where there is none, the whole tree is written.
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
        inside = False  # of the body of what is above
        while above is not None:
            holder = parents.get(above)
            if isinstance(holder, cst.IndentedBlock | cst.Module):
                if above is not node and not inside and self._place_head(above, node):
                    return
                if any(self._place(run) for run in _runs(holder.body, above)):
                    return
                inside = True
            above = holder
        self._write_all()

    def _place_head(self, statement: cst.CSTNode, node: cst.CSTNode) -> bool:
        """Write what stands before the body of a statement, if ``node`` may be there."""
        if not isinstance(statement, cst.BaseCompoundStatement) or isinstance(statement, cst.Match):
            return False
        return self._place([statement], until=statement.body) and node in self._outer

    def _place(self, statements: Sequence[cst.CSTNode], until: cst.CSTNode | None = None) -> bool:
        """Write some statements; keep their spans if their text stands in the file exactly once."""
        state = _RecordingState(self._tree.default_indent, self._tree.default_newline, until)
        for indent in self._indents(statements[0]):
            state.increase_indent(indent)
        with suppress(_Reached):
            for statement in statements:
                statement._codegen(state)  # noqa: SLF001 - the only way to positions
        written = "\n" + "".join(state.tokens)
        start = self._lines.find(written)
        if start < 0 or self._lines.find(written, start + 1) >= 0:
            return False
        for own, found in ((self._inner, state.inner), (self._outer, state.outer)):
            for node, (first, last) in found.items():
                own[node] = (start + first, start + last)
        return True

    def _indents(self, statement: cst.CSTNode) -> list[str]:
        """Return the indentation of each block around a statement, from the outside in."""
        parents = self._parents
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


def _runs(body: Sequence[cst.CSTNode], statement: cst.CSTNode) -> Iterator[Sequence[cst.CSTNode]]:
    """Yield a statement of a body; if it is a line, also with more and more of those around it."""
    yield [statement]
    if not isinstance(statement, cst.SimpleStatementLine):
        return
    place = next(index for index, each in enumerate(body) if each is statement)
    size = 1
    for reach in _NEIGHBOURS:
        before = takewhile(_is_line, reversed(body[max(0, place - reach) : place]))
        after = takewhile(_is_line, body[place + 1 : place + 1 + reach])
        run = [*reversed(list(before)), statement, *after]
        if len(run) > size:
            yield run
        size = len(run)


def _is_line(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleStatementLine)


class DifferentTextError(Exception):
    """libcst writes another text than it read, which this holds."""

    def __init__(self, written: str) -> None:
        super().__init__("libcst does not give this code back as it is")
        self.written = written


class _Reached(Exception):
    """All that was wanted is written."""


class _RecordingState(CodegenState):
    """Counts the characters written, where libcst's own counts lines and columns.

    Writing ends with ``_Reached`` where it comes to the node ``until``.
    """

    def __init__(
        self, default_indent: str, default_newline: str, until: cst.CSTNode | None = None
    ) -> None:
        super().__init__(default_indent=default_indent, default_newline=default_newline)
        self._until = until
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

    def before_codegen(self, node: cst.CSTNode) -> None:
        if node is self._until:
            raise _Reached
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
