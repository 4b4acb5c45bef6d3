"""Split documents into sources: a file, the cells of a notebook, each block of a page."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kdoctor.documents import Document, Kind, Unit
from kdoctor.errors import FileProblem
from kdoctor.model import Span
from kdoctor.rewrite.source_lines import LINE_BREAK
from kdoctor.verify.user.definitions import Source


def sources_of(
    path: str, before: bytes, after: bytes, kind: Kind | None = None
) -> Iterator[Source]:
    """Yield the modules of a file, each with its text before and after the fix.

    Raises:
        FileProblem: it cannot be read as its kind, or the fix changed its number of blocks.
    """
    old = Document.parse(before, path, kind)
    new = Document.parse(after, path, kind, old)
    if len(old.units) != len(new.units):
        raise FileProblem("the fix changes the number of code blocks")
    for left, right in zip(old.units, new.units, strict=True):
        yield Source(path, left.text, right.text, tuple(_places_of(left)))


def _places_of(unit: Unit) -> Iterator[tuple[int | None, int]]:
    """Yield the cell and line of each line of a unit.

    If the document is not a notebook, the cell is None and the line is a line of the document.
    """
    at = 0
    ends = [each.end() for each in LINE_BREAK.finditer(unit.text)]
    for at, _ in pairwise([0, *ends, len(unit.text) + 1]):
        place = unit.place(Span(at, at))
        yield place.cell, place.line
