"""Spans of built nodes that ``ast`` has no position for, by libcst's writer.

Few ask: a scan of code as people write it does without.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.model import Span
from kdoctor.syntax.code_writer import CodeWriter, own_span
from kdoctor.syntax.libcst_walk import children, descendants
from kdoctor.syntax.lowering.chunked_parse import parse_in_chunks
from kdoctor.syntax.spans import DifferentTextError
from kdoctor.syntax.written_spans import WrittenSpans


class ParsedSpans:
    """The spans of a built tree's nodes, by the same nodes of the tree that libcst parses.

    Raises:
        DifferentTextError: libcst cannot parse the text, as ``(x): int = 1``.
    """

    def __init__(self, built: cst.Module, text: str) -> None:
        try:
            parsed = parse_in_chunks(text)
        except cst.ParserSyntaxError:
            raise DifferentTextError("") from None
        parents = {child: each for each in descendants(parsed) for child in children(each)}
        self._spans = WrittenSpans(parsed, text, parents)
        self._same = dict(zip(descendants(built), descendants(parsed), strict=True))

    def inner(self, node: cst.CSTNode) -> Span:
        """Return where the node itself stands. Raises as ``WrittenSpans.inner`` does."""
        return self._spans.inner(self._same[node])


def spans_in(
    top: cst.BaseExpression, text: str, offset: int, newline: str
) -> Iterator[tuple[cst.CSTNode, Span, Span]]:
    """Yield each node of a libcst-parsed expression with its inner and outer span.

    It begins at an offset of the text, without the brackets that it has got since. Nothing is
    yielded where libcst does not write it as it was.
    """
    writing = CodeWriter("", newline)
    writing.write(top)
    brackets = len(top.lpar)
    written = "".join(writing.tokens)
    if not text.startswith(written[brackets : len(written) - brackets], offset):
        return
    begin = offset - brackets
    for node, (start, end) in writing.outer.items():
        first, last = own_span(node, writing.inner, writing.outer)
        yield node, Span(begin + first, begin + last), Span(begin + start, begin + end)
