"""Say from the changed lines alone whether edits preserve a statement's layout.

A long list has a finding in each of its lines, and each finding has a diff of its own: to look at
all tokens of the list for each of them takes the cube of its length.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence

from msgspec import Struct

from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.model import Edit, Span
from kdoctor.rewrite.layout import Statement, joined
from kdoctor.rewrite.render import render
from kdoctor.syntax import Module

_BRACKETS = pattern(r"[()\[\]{}]")
_PAIRS = {")": "(", "]": "[", "}": "{"}


def preserves_layout(module: Module, region: Span, edits: Sequence[Edit], limit: int) -> bool:
    """Say whether edits surely leave a statement's layout right.

    That no line gets too long, none stood below a bracket that moves now, and none fits into the
    line above it now.
    """
    lines = _lines(module, region)
    on_lines: dict[int, list[Edit]] = {}
    for edit in edits:
        number = lines.number(edit.span.start)
        if edit.span.end > lines.spans[number].end:
            return False
        on_lines.setdefault(number, []).append(edit)
    new: dict[int, str] = {}
    for number, own in on_lines.items():
        span = Span(min(each.span.start for each in own), max(each.span.end for each in own))
        piece, line = render(module.text, own, span, "\n"), lines.spans[number]
        if span.start <= lines.open_at.get(number, -1):
            return False
        if "\n" in piece or not _have_same_bracket_depth(module.text[span.start : span.end], piece):
            return False
        before, after = module.text[line.start : span.start], module.text[span.end : line.end]
        new[number] = f"{before}{piece}{after}"
        if not before.strip() and _indent(new[number]) != _indent(lines.text(number)):
            return False
    too_long = 0
    for number, text in new.items():
        old = lines.text(number)
        if 0 < number < len(lines.spans) - 1:
            rows = range(number - 1, number + 2)
            was = joined([lines.text(each) for each in rows], 1)
            becomes = joined([new.get(each, lines.text(each)) for each in rows], 1)
            if len(was) > limit >= len(becomes):
                return False
        too_long += (len(text) > limit) - (len(old) > limit)
    return too_long <= 0


class _Lines(Struct, frozen=True):
    """The lines of a statement: where they stand, and where brackets open that close below."""

    source: str
    spans: Sequence[Span]
    starts: Sequence[int]
    open_at: dict[int, int]  # the place of the last one, by the number of its line

    def number(self, offset: int) -> int:
        """Return the number of the line that a place lies in."""
        return bisect.bisect_right(self.starts, offset) - 1

    def text(self, number: int) -> str:
        """Return one line."""
        span = self.spans[number]
        return self.source[span.start : span.end]


@once
def _lines(module: Module, region: Span) -> _Lines:
    starts, spans, offset = [], [], region.start
    for line in module.text[region.start : region.end].split("\n"):
        starts.append(offset)
        spans.append(Span(offset, offset + len(line.removesuffix("\r"))))
        offset += len(line) + 1
    text = "\n".join(module.text[each.start : each.end] for each in spans)
    statement = Statement.of(text) if len(spans) > 1 else None
    open_at = {}
    if statement is not None:
        for pair in statement.pairs:  # from the first on
            if statement.last_line(pair) > pair.line:
                open_at[pair.line] = starts[pair.line] + pair.column
    return _Lines(module.text, spans, starts, open_at)


def _have_same_bracket_depth(old: str, new: str) -> bool:
    """Say whether what stands behind is in the same brackets as before."""
    return _loose_brackets(old) == _loose_brackets(new)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _loose_brackets(line: str) -> list[str]:
    """Return the brackets of a text whose other half stands outside of it."""
    loose: list[str] = []
    for each in _BRACKETS.findall(line):
        if loose and loose[-1] == _PAIRS.get(each):
            loose.pop()
        else:
            loose.append(each)
    return loose
