r"""Line boundaries of a source with ``\n``, ``\r\n`` or ``\r``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kdoctor.lazy_regex import pattern
from kdoctor.model import Span

if TYPE_CHECKING:
    from kdoctor.syntax import Module

LINE_BREAK = pattern(r"\r\n|\r|\n")


def line_start(text: str, offset: int) -> int:
    """Return where the line of ``offset`` starts."""
    start = text.rfind("\n", 0, offset) + 1
    return max(start, text.rfind("\r", start, offset) + 1)


def line_end(text: str, offset: int) -> int:
    """Return where the line of ``offset`` ends, before its line break."""
    found = LINE_BREAK.search(text, offset)
    return found.start() if found else len(text)


def line_after(text: str, offset: int) -> int:
    """Return where the line after that of ``offset`` starts."""
    found = LINE_BREAK.search(text, offset)
    return found.end() if found else len(text)


def line_before(text: str, start: int) -> int:
    """Return where the line before that which starts at ``start`` starts."""
    return line_start(text, start - (2 if text.endswith("\r\n", 0, start) else 1))


def margin(text: str, offset: int) -> str:
    """Return what stands before ``offset`` on its line: its indentation, where it is the first."""
    return text[line_start(text, offset) : offset]


def lines_around(module: Module, span: Span) -> Span:
    """Return the lines on which a span stands with their line break, all within its cell.

    The line break between two cells belongs to neither.
    """
    cell = module.unit.cell_at(span.start).span
    start, end = line_start(module.text, span.start), line_after(module.text, span.end)
    return Span(max(start, cell.start), min(end, cell.end))


def whole_line(module: Module, span: Span) -> Span | None:
    """Return the lines of a statement with their line break, None where they hold more."""
    lines = lines_around(module, span)
    rest = module.text[lines.start : span.start] + module.text[span.end : lines.end]
    return None if rest.strip() else lines
