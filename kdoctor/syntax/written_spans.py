"""Spans of nodes by writing the surrounding code again.

A node has two spans. The inner is the node itself: no parentheses around it, no blank lines and
comments before it, no comma after it (and, as in Python's own ``ast``, no decorators). The outer
of an expression has its own parentheses too; of any other node it is the inner one's text with the
whitespace that libcst hangs on it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.model import Span
from kdoctor.syntax.code_writer import CodeWriter, Extent, TargetWritten, own_span
from kdoctor.syntax.spans import DifferentTextError

_NEIGHBOURS: Final = 8  # lines on each side that tell apart what stands in a file twice

_Lines = cst.IndentedBlock | cst.Module


class _WrittenChunk(Struct, frozen=True, eq=False):
    """What libcst wrote at one go, and where in that each node stands."""

    text: str
    inner: Mapping[cst.CSTNode, Extent]
    outer: Mapping[cst.CSTNode, Extent]

    def span(self, node: cst.CSTNode) -> Extent:
        """Return where the node itself stands."""
        return own_span(node, self.inner, self.outer)


class WrittenSpans:
    """The spans of nodes, in characters of ``text``, which ``tree`` was parsed from.

    Only what is asked for is written: the smallest statement around a node (of one with a body:
    what is before that). Its text stands in the file once, alone or with more and more of what is
    next to it, which says where it stands. Where it does not, the whole tree is written.
    """

    def __init__(
        self, tree: cst.Module, text: str, parents: Mapping[cst.CSTNode, cst.CSTNode]
    ) -> None:
        self._tree = tree
        self._text = text
        # libcst ends every line, and takes the last newline back where the file has none.
        self._lines = "\n" + text + ("" if tree.has_trailing_newline else tree.default_newline)
        self._parents = parents
        self._placed: dict[
            cst.CSTNode, tuple[int, _WrittenChunk]
        ] = {}  # with where the piece starts

    def inner(self, node: cst.CSTNode) -> Span:
        """Return where the node itself stands.

        Raises:
            DifferentTextError: libcst does not write the tree as it was.
            RecursionError: it is nested too deeply for this stack.
        """
        offset, piece = self._find(node)
        return self._span(offset, piece.span(node))

    def outer(self, node: cst.CSTNode) -> Span:
        """Return where the node and what libcst hangs on it stand. Raises as ``inner`` does."""
        offset, piece = self._find(node)
        return self._span(offset, piece.outer[node])

    def _span(self, offset: int, span: Extent) -> Span:
        most = len(self._text)
        return Span(min(offset + span[0], most), min(offset + span[1], most))

    def _find(self, node: cst.CSTNode) -> tuple[int, _WrittenChunk]:
        if node not in self._placed and not self._find_around(node):
            self._write_all()
        return self._placed[node]

    def _find_around(self, node: cst.CSTNode) -> bool:
        parents = self._parents
        above: cst.CSTNode | None = node
        inside = False  # of the body of what is above
        while above is not None:
            holder = parents.get(above)
            if isinstance(holder, cst.IndentedBlock | cst.Module):
                body = None if above is node or inside else _body_of(above)
                if body is not None and self._place(holder, above, body) and node in self._placed:
                    return True
                if self._place(holder, above):
                    return True
                inside = True
            above = holder
        return False

    def _place(
        self, block: _Lines, statement: cst.CSTNode, until: cst.BaseSuite | None = None
    ) -> bool:
        """Place a statement of a block, or what of it stands before its body ``until``.

        That is done by what is around it, where need be and that is not long.
        """
        indents = self._indents(statement)
        pieces = deque([self._written(statement, indents, until)])
        times = self._count_occurrences(pieces)
        if times < 2 or not (until or isinstance(statement, cst.SimpleStatementLine)):
            return times == 1
        index = next(index for index, each in enumerate(block.body) if each is statement)
        before = self._before(block, index, indents)
        after = self._after(block, index, indents) if until is None else self._inside(until)
        sides = deque([(pieces.appendleft, before), (pieces.append, after)])
        while times > 1 and sides:
            add, side = sides.popleft()
            piece = next(side, None)
            if piece is not None:
                add(piece)
                times = self._count_occurrences(pieces)
                sides.append((add, side))
        return times == 1

    def _count_occurrences(self, pieces: Iterable[_WrittenChunk]) -> int:
        """Say how often pieces stand in the file one after the other: 2 for more than once.

        They are placed where that is once.
        """
        written = "\n" + "".join(piece.text for piece in pieces)
        start = self._lines.find(written)
        if start < 0:
            return 0
        if self._lines.find(written, start + 1) >= 0:
            return 2
        for piece in pieces:
            self._placed |= dict.fromkeys(piece.outer, (start, piece))
            start += len(piece.text)
        return 1

    def _before(self, block: _Lines, index: int, indents: Sequence[str]) -> Iterator[_WrittenChunk]:
        """Write the lines before a statement, last things first, and what opens their block."""
        lines = [*takewhile(_is_line, reversed(block.body[max(0, index - _NEIGHBOURS) : index]))]
        for each in lines:
            yield self._written(each, indents)
        if len(lines) == index and isinstance(block, cst.IndentedBlock):
            opener = self._parents[block]
            if isinstance(opener, cst.If) and isinstance(self._parents[opener], cst.If):
                return  # an `elif` is written so by the `if` around it alone
            opening = self._written(opener, indents[:-1], until=block)
            header = self._written(block.header, ())
            yield _WrittenChunk(opening.text + header.text, {}, {})

    def _after(self, block: _Lines, index: int, indents: Sequence[str]) -> Iterator[_WrittenChunk]:
        """Write the lines after a statement, one by one."""
        for each in takewhile(_is_line, block.body[index + 1 : index + 1 + _NEIGHBOURS]):
            yield self._written(each, indents)

    def _inside(self, body: cst.BaseSuite) -> Iterator[_WrittenChunk]:
        """Write the first lines of a body, one by one."""
        if isinstance(body, cst.IndentedBlock):
            yield self._written(body.header, ())
            yield from self._after(body, -1, self._indents(body.body[0]))

    def _written(
        self, node: cst.CSTNode, indents: Sequence[str], until: cst.CSTNode | None = None
    ) -> _WrittenChunk:
        writing = CodeWriter(self._tree.default_indent, self._tree.default_newline, until)
        for indent in indents:
            writing.increase_indent(indent)
        with suppress(TargetWritten):
            writing.write(node)
        return _WrittenChunk("".join(writing.tokens), writing.inner, writing.outer)

    def _indents(self, statement: cst.CSTNode) -> list[str]:
        """Return the indentation of each block around a statement, from the outside in."""
        parents = self._parents
        indents: list[str] = []
        above = parents.get(statement)
        while above is not None:
            if isinstance(above, cst.IndentedBlock | cst.Match):
                own = above.indent
                indents.append(self._tree.default_indent if own is None else own)
            above = parents.get(above)
        return indents[::-1]

    def _write_all(self) -> None:
        whole = self._written(self._tree, ())
        if whole.text != self._text:
            raise DifferentTextError(whole.text)
        self._placed = dict.fromkeys(whole.outer, (0, whole))


def _body_of(statement: cst.CSTNode) -> cst.BaseSuite | None:
    """Return the body of a statement that may have one, None for any other."""
    if not isinstance(statement, cst.BaseCompoundStatement) or isinstance(statement, cst.Match):
        return None
    return statement.body


def _is_line(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleStatementLine)
