"""Remove excess blank lines around deleted lines."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence

from kdoctor.lazy_regex import pattern
from kdoctor.model import Edit, Span
from kdoctor.rewrite.source_lines import LINE_BREAK, line_start
from kdoctor.syntax import Module

_INDENT = pattern(r"[ \t]*")
_REST = pattern(r"\s*")
_BLANK_LINE = pattern(r"[ \t]*(?:\r\n|\r|\n)")


def without_blank_lines(module: Module, edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits, extended over blank lines that would be too many.

    Those below a line that goes follow it, as far as there are as many above it. All go that would
    be the first of a block, or the last of a file.
    """
    gone = {each for each in edits if _deletes_lines(module, each)}
    if not gone:
        return list(edits)
    others = [each.span for each in edits if each not in gone and any(each.parts)]
    wider = dict(_Lines(module, _merged(others)).widened(sorted(gone, key=lambda each: each.span)))
    return [wider.get(each, each) for each in edits]


def _deletes_lines(module: Module, edit: Edit) -> bool:
    """Say whether an edit does nothing but take whole lines out."""
    text, (start, end) = module.text, (edit.span.start, edit.span.end)
    return (
        start < end
        and not any(edit.parts)
        and line_start(text, start) == start
        and text[end - 1] in "\r\n"
    )


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Return stretches that cover the same, in order and apart from each other."""
    found: list[Span] = []
    for each in sorted(spans):
        if found and each.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, each.end))
        else:
            found.append(each)
    return found


class _Lines:
    """The lines of a file, with where else something is written."""

    def __init__(self, module: Module, others: Sequence[Span]) -> None:
        self._module = module
        self._text = module.text
        self._others = others

    def widened(self, gone: Sequence[Edit]) -> Iterator[tuple[Edit, Edit]]:
        """Yield the edits that take blank lines as well, by what they were."""
        found: list[tuple[Edit, Span]] = []
        last, above, top = -1, 0, 0  # `top` is the first of those that go in a row
        for edit in gone:
            start, end = edit.span.start, edit.span.end
            cell = self._module.unit.cell_at(start).span
            if start != last:  # else the lines above it go, too
                kept, above = self._above(start, cell)
                top = len(found)
            if self._is_written_to(kept + 1, start):
                above = 0
            left = above
            while left and (blank := _BLANK_LINE.match(self._text, end, cell.end)):
                if self._is_written_to(end, blank.end()):
                    break
                end, left = blank.end(), left - 1
            last = end
            found.append((edit, Span(start, end)))
            if _REST.fullmatch(self._text, end, cell.end):
                first, span = found[top]
                found[top] = first, Span(self._last_break(kept, span.start, cell), span.end)
        yield from ((edit, Edit(span, edit.parts)) for edit, span in found if span != edit.span)

    def _last_break(self, kept: int, start: int, cell: Span) -> int:
        """Return where the blank lines above what goes at the end of a file start."""
        after = LINE_BREAK.match(self._text, kept, start)
        if kept == cell.start or after is None or self._is_written_to(kept + 1, cell.end):
            return start
        return after.end()

    def _above(self, start: int, cell: Span) -> tuple[int, int]:
        """Return where the text above some lines ends, and how many blank lines may go below."""
        kept = start
        while kept > cell.start and self._text[kept - 1] in " \t\r\n":
            kept -= 1
        if kept == cell.start or self._opens_a_block(kept, start):
            return kept, len(self._text)
        return kept, len(LINE_BREAK.findall(self._text, kept, start)) - 1

    def _opens_a_block(self, end: int, start: int) -> bool:
        """Say whether the line that ends above some lines is the head of the block they are in."""
        if not self._text.endswith(":", 0, end):
            return False
        return self._indent(line_start(self._text, end)) < self._indent(start)

    def _indent(self, start: int) -> int:
        found = _INDENT.match(self._text, start)
        return 0 if found is None else found.end() - start

    def _is_written_to(self, start: int, end: int) -> bool:
        """Say whether another edit writes between two places, or at one of them."""
        first = bisect.bisect_left(self._others, start, key=lambda each: each.end)
        return first < len(self._others) and self._others[first].start <= end
