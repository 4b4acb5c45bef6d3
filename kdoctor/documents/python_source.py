"""A Python file: one unit, one cell, nothing masked."""

from __future__ import annotations

from kdoctor.documents.layout import Plain, newline_of
from kdoctor.documents.unit import Cell, TextExcerpt, Unit
from kdoctor.model import Span


def read_python(text: str, path: str) -> Unit:
    """Return the whole text as one unit. Whether it is Python, its parser will say."""
    span = Span(0, len(text))
    cell = Cell(span, None, TextExcerpt(span, 1, Plain(text)))
    return Unit(path, 0, text, (cell,), (), newline_of(text))
