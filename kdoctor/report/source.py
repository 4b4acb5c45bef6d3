"""Excerpt of a finding's source line, with its span marked and long lines cut."""

from __future__ import annotations

import unicodedata

from kdoctor.model import Place
from kdoctor.report.output import Page, printable

_WIDTH = 120  # characters of the line that are shown at most
_LEAST = 30  # however narrow the terminal is


def excerpt(line: str, place: Place, page: Page) -> list[str]:
    """Return the lines that show ``line`` with a mark under the span, without newlines.

    A tab stays a tab in both lines, and a wide character is marked twice, so that the mark stands
    below the span whatever the tab width.
    """
    start = place.column - 1
    end = min(place.end_column - 1, len(line)) if place.end_line == place.line else len(line)
    end = max(end, start + 1)
    number = str(place.line)
    # Beside it stand its number, a bar, and a mark at each end that is cut.
    room = page.width - len(number) - 7 if page.width else _WIDTH
    width = max(_LEAST, min(_WIDTH, room))
    if len(line) <= width and line.isascii() and line.isprintable():  # nearly all
        shown, pad, mark = line, " " * min(start, len(line)), "^" * (end - start)
    else:
        shown, pad, mark = _cut(line, start, end, width)
    bar = page.paint("quiet", "|")
    return [
        f"  {page.paint('quiet', number)} {bar} {shown}".rstrip(),
        f"  {' ' * len(number)} {bar} {pad}{page.paint('mark', mark)}",
    ]


def _cut(line: str, start: int, end: int, width: int) -> tuple[str, str, str]:
    """Return the visible part of a line, the padding below it, and the mark.

    A third of what is visible stands before the span.
    """
    first = max(0, start - width // 3) if _width(line) > width else 0
    last, room = first, width
    while last < len(line) and (room := room - _width(printable(line[last]))) >= 0:
        last += 1
    before, marked, after = line[first:start], line[start : min(end, last)], line[end:last]
    cut_before, cut_after = "…" * (first > 0), "…" * (last < len(line))
    shown = cut_before + "".join(map(printable, (before, marked, after))) + cut_after
    pad = " " * len(cut_before) + _blank(printable(before))
    return shown, pad, "^" * max(1, _width(printable(marked)))


def _width(text: str) -> int:
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _blank(text: str) -> str:
    return "\t".join(" " * _width(part) for part in text.split("\t"))
