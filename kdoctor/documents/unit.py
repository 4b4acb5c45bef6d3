"""One Python module's worth of a document's code, and where each character of it stands."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec import Struct

from kdoctor.documents.layout import Layout, newline_of
from kdoctor.model import Edit, Place, Span

if TYPE_CHECKING:
    from kdoctor.documents.magics import Masked

_Each = TypeVar("_Each")


class Skipped(Struct, frozen=True):
    """Code that was passed over: the line that shows why (in a notebook: of its cell), and why.

    ``python_2`` is the construct of Python 2 that stands there, "" where none does.
    """

    line: int
    why: str
    cell: int | None = None
    python_2: str = ""


class Excerpt(Protocol):
    """The part of a document's text that holds one cell."""

    @property
    def span(self) -> Span:
        """Which characters of the decoded document it takes."""

    @property
    def line(self) -> int:
        """The number of its first line, as places count it."""

    @property
    def layout(self) -> Layout:
        """Its code, and how that stands in the document."""

    def render(self, text: str, document: str) -> str:
        """Return what must stand at ``span`` of ``document`` for the cell's code to be ``text``."""


class TextExcerpt(Struct, frozen=True):
    """A cell in a document that is plain text."""

    span: Span
    line: int
    layout: Layout

    def render(self, text: str, document: str) -> str:  # noqa: ARG002 - notebooks need it
        """Return the text behind its margin."""
        return self.layout.restore(text)


@dataclass(frozen=True, slots=True)
class Cell:
    """A stretch of a unit's text. ``number`` counts from 1 among all cells of a notebook."""

    span: Span
    number: int | None
    excerpt: Excerpt = field(repr=False, compare=False)


class Unit(Struct, frozen=True):
    """One Python module: a file, the cells of a notebook, a fence, or a doctest session.

    ``text`` keeps the document's newlines. IPython's magics in it are masked by zeros of the same
    length; ``masks`` put the originals back. Where it ``is_code`` no longer, it is text that says
    what is to be installed.
    """

    path: str
    index: int
    text: str
    cells: tuple[Cell, ...]
    masks: tuple[Edit, ...]
    newline: str
    is_code: bool = True

    @property
    def sources(self) -> tuple[str, ...]:
        """The text of each cell as the user wrote it: the masks undone."""
        return tuple(cell.excerpt.layout.text for cell in self.cells)

    def place(self, span: Span) -> Place:
        """Say where a span of ``text`` stands for people: in the document, or in its cell."""
        cell = self.cell_at(span.start)
        line, column = _locate(cell, span.start)
        end_line, end_column = _locate(cell, span.end)
        return Place(self.path, self.index, span, cell.number, line, column, end_line, end_column)

    def line_of(self, offset: int) -> str:
        """Return the document's own line at ``offset``, as it reads there: margin, magics and all.

        The column of ``place`` counts in this line.
        """
        cell = self.cell_at(offset)
        return cell.excerpt.layout.line_at(_clamp(offset, cell.span) - cell.span.start)

    def cell_at(self, offset: int) -> Cell:
        """Return the cell that holds what stands at ``offset``."""
        after = bisect.bisect_right(self.cells, offset, key=lambda cell: cell.span.start)
        return self.cells[max(0, after - 1)]

    def masks_of(self, cell: Cell) -> Sequence[Edit]:
        """Return the masks of one cell."""
        first = bisect.bisect_left(self.masks, cell.span.start, key=_start)
        last = bisect.bisect_left(self.masks, cell.span.end, first, key=_start)
        return self.masks[first:last]

    def masks_beside(self, cell: Cell, edits: Iterable[Edit]) -> Sequence[Edit]:
        """Return the masks of one cell but those that the edits give another text."""
        written = {edit.span for edit in edits}
        return [mask for mask in self.masks_of(cell) if mask.span not in written]


def _start(edit: Edit) -> int:
    return edit.span.start


def _locate(cell: Cell, offset: int) -> tuple[int, int]:
    row, column = cell.excerpt.layout.locate(_clamp(offset, cell.span) - cell.span.start)
    return cell.excerpt.line + row, column + 1


def _clamp(offset: int, span: Span) -> int:
    return min(max(offset, span.start), span.end)


class Candidate(Struct, frozen=True):
    """What may become a cell, if it is Python."""

    excerpt: Excerpt
    number: int | None = None


class Kept(Struct, frozen=True):
    """A candidate that is Python, and its text with the magics masked."""

    candidate: Candidate
    masked: Masked

    @property
    def text(self) -> str:
        """The text, masked."""
        return self.masked.text


def kept_of(candidates: Iterable[Candidate]) -> tuple[list[Kept], list[Skipped]]:
    """Return the candidates that are Python, and why the others are not.

    Each is parsed on its own, so that one that is no Python does not spoil the others.
    """
    kept: list[Kept] = []
    skipped: list[Skipped] = []
    for candidate in candidates:
        masked = _python(candidate)
        if isinstance(masked, Skipped):
            skipped.append(masked)
        else:
            kept.append(Kept(candidate, masked))
    return kept, skipped


def _python(candidate: Candidate) -> Masked | Skipped:
    from kdoctor.documents.magics import Masked, mask  # noqa: PLC0415 - a file has none
    from kdoctor.documents.parsing import why_not_python  # noqa: PLC0415

    excerpt = candidate.excerpt
    text = excerpt.layout.text
    if why_not_python(text) is None:
        return Masked(text)  # no magic is valid Python
    masked = mask(text)
    problem = why_not_python(masked.text)
    if problem is None:
        return masked
    line = excerpt.line + problem.line - 1
    return Skipped(line, problem.why, candidate.number, problem.python_2)


def joined(path: str, index: int, kept: Sequence[Kept]) -> Unit:
    """Make one unit. Between two cells stands one newline that belongs to neither."""
    newline = newline_of("".join(each.text for each in kept))
    cells: list[Cell] = []
    masks: list[Edit] = []
    at = 0
    for each in kept:
        end = at + len(each.text)
        cells.append(Cell(Span(at, end), each.candidate.number, each.candidate.excerpt))
        masks += (
            Edit(Span(edit.span.start + at, edit.span.end + at), edit.parts)
            for edit in each.masked.masks
        )
        at = end + len(newline)
    text = newline.join(each.text for each in kept)
    return Unit(path, index, text, tuple(cells), tuple(masks), newline)


def text_unit(path: str, index: int, excerpt: Excerpt, number: int | None = None) -> Unit:
    """Make a unit of text that is no code; of a notebook it is the cell of that number."""
    text = excerpt.layout.text
    cell = Cell(Span(0, len(text)), number, excerpt)
    return Unit(path, index, text, (cell,), (), newline_of(text), is_code=False)


def regrouped(units: tuple[Unit, ...], like: Sequence[Unit]) -> tuple[Unit, ...]:
    """Return units whose cells go together as those of other units: the n-th as the n-th.

    Where there is another number of cells, the units come back as they are.
    """
    if len(units) == len(like) == 1:
        return units
    cells = _in_order((cell.excerpt.span, _kept_again(unit, cell)) for unit, cell in _cells(units))
    groups = _in_order((cell.excerpt.span, unit.index) for unit, cell in _cells(like))
    if len(cells) != len(groups):
        return units
    modules: list[list[Kept]] = [[] for _ in like]
    for group, kept in zip(groups, cells, strict=True):
        modules[group].append(kept)
    return tuple(joined(like[index].path, index, kept) for index, kept in enumerate(modules))


def _cells(units: Iterable[Unit]) -> Iterator[tuple[Unit, Cell]]:
    for unit in units:
        for cell in unit.cells:
            yield unit, cell


def _in_order(placed: Iterable[tuple[Span, _Each]]) -> list[_Each]:
    return [each for _, each in sorted(placed, key=lambda pair: pair[0].start)]


def _kept_again(unit: Unit, cell: Cell) -> Kept:
    from kdoctor.documents.magics import Masked  # noqa: PLC0415 - a file has none

    start, end = cell.span.start, cell.span.end
    masks = tuple(
        Edit(Span(edit.span.start - start, edit.span.end - start), edit.parts)
        for edit in unit.masks
        if cell.span.covers(edit.span)
    )
    return Kept(Candidate(cell.excerpt, cell.number), Masked(unit.text[start:end], masks))
