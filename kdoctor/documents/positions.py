"""Offsets of a text as lines and columns, and changes of it cut down to what they change."""

from __future__ import annotations

import bisect
from collections.abc import Iterator

from kdoctor.documents.layout import line_starts, split_lines
from kdoctor.documents.line_changes import changes
from kdoctor.model import Region, Replacement, Span


class Positions:
    """Where the characters of one text stand."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = line_starts(text)

    def region(self, span: Span) -> Region:
        """Return the lines and columns of a span."""
        return Region(*self._locate(span.start), *self._locate(span.end))

    def replacements(self, span: Span, text: str) -> Iterator[Replacement]:
        """Yield what must be replaced for ``text`` to stand at ``span``: words, not whole lines."""
        old, new = split_lines(self._text[span.start : span.end]), split_lines(text)
        at, row = span.start, 0
        for each in changes(old, new):
            at += sum(map(len, old[row : each.start]))
            row = each.start
            lines = new[each.new_start : each.new_end]
            yield self._cut("".join(old[each.start : each.end]), "".join(lines), at)

    def _cut(self, old: str, new: str, at: int) -> Replacement:
        """Return the change from ``old``, which stands at ``at``, without what stays."""
        head = common_start(old, new)
        while head and _joins(old, head) | _joins(new, head):
            head -= 1
        tail = common_start(old[head:][::-1], new[head:][::-1])
        while tail and _joins(old, len(old) - tail) | _joins(new, len(new) - tail):
            tail -= 1
        region = self.region(Span(at + head, at + len(old) - tail))
        return Replacement(region, new[head : len(new) - tail])

    def _locate(self, offset: int) -> tuple[int, int]:
        row = bisect.bisect_right(self._starts, offset)
        return row, offset - self._starts[row - 1] + 1


def common_start(one: str, other: str) -> int:
    """Count the equal characters at the start."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _joins(text: str, at: int) -> bool:
    """Say whether a cut before ``at`` would go through a word, a line end or a JSON escape."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return (
        before == "\\" or (before, after) == ("\r", "\n") or (_in_word(before) and _in_word(after))
    )


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"
