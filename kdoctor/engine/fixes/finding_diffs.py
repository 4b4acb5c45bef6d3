"""The diff of each finding's own fix, in terms of the document."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache

from msgspec.structs import replace

from kdoctor.documents import Cell, Document, Unit
from kdoctor.documents.positions import Positions
from kdoctor.engine.fixes.apply_edits import edits_of, source_of, texts_with
from kdoctor.engine.fixes.diffs import Change, decoded, split_lines, unified, unified_of_changes
from kdoctor.lazy_regex import pattern
from kdoctor.model import Edit, Finding, Fix, Span
from kdoctor.project.code_style import DEFAULT_STYLE
from kdoctor.rewrite import render
from kdoctor.rewrite.imports import Keeps
from kdoctor.syntax import Module

_NEWLINE = pattern(r"\n")


class FindingDiffs:
    """The diffs of one document's findings.

    For Python it is a diff of the file, for a notebook one of each changed cell's source, for
    Markdown and reStructuredText one of the document's lines. ``keeps`` says which imports stay
    although nothing in the file uses them any longer. ``limit`` is how long a line may be.
    """

    def __init__(
        self, document: Document, data: bytes, keeps: Keeps, *, diffs: bool, replacements: bool
    ) -> None:
        self.style = DEFAULT_STYLE
        self._document = document
        self._data = data
        self._keeps = cache(keeps)
        self._diffs = diffs
        self._replacements = replacements
        self._cell_lines: dict[tuple[int, int], list[str]] = {}
        # Fixes that change the same places share them, where a file does one thing very often.
        self._known: dict[tuple[int, int, object, object], Fix] = {}

    def with_diff(self, finding: Finding, source: Module | Unit) -> Finding:
        """Return the finding with ``fix.diff`` and ``fix.replacements``, as requested."""
        fix = finding.fix
        if fix is None or not (fix.edits or fix.imports or fix.drops):
            return finding
        # By their identity: what is known keeps the edits alive.
        key = _unit(source).index, id(fix.edits), fix.imports, fix.drops
        if key not in self._known:
            self._known[key] = self._diff_of_fix(fix, source)
        known = self._known[key]
        same = replace(fix, diff=known.diff, replacements=known.replacements)
        return replace(finding, fix=same)

    def _diff_of_fix(self, fix: Fix, source: Module | Unit) -> Fix:
        edits = _in_order(edits_of(source, [fix], self._keeps, self.style))
        return replace(
            fix,
            diff=self._diff(edits, _unit(source)) if self._diffs else fix.diff,
            replacements=tuple(
                replacement
                for span, text in self._changes(edits, _unit(source))
                for replacement in self._positions.replacements(span, text)
            )
            if self._replacements
            else fix.replacements,
        )

    @cached_property
    def _positions(self) -> Positions:
        return Positions(self._document.text)

    def _changes(self, edits: Sequence[Edit], unit: Unit) -> Iterable[tuple[Span, str]]:
        """Return spans of the file's text and their replacements."""
        if self._document.kind != "python":
            return self._document.changes({unit.index: texts_with(unit, edits)})
        return [  # the unit is the whole file: only the lines that are touched
            (region, render(unit.text, _inside(edits, region), region, unit.newline))
            for region in _line_regions(unit.text, edits, unit.cells[0].span)
        ]

    def _diff(self, edits: Sequence[Edit], unit: Unit) -> str:
        if self._document.kind in ("python", "notebook"):
            return self._diff_of_cells(edits, unit)
        texts = texts_with(unit, edits)
        changes = self._changed_lines(self._document.changes({unit.index: texts}))
        if changes is not None:
            return unified_of_changes(self._old_lines, changes, self._document.path)
        after = self._document.replace({unit.index: texts})
        return unified(decoded(self._data), decoded(after), self._document.path)

    def _changed_lines(self, changes: Sequence[tuple[Span, str]]) -> list[Change] | None:
        """Return the changed lines of a file, None if its diff has other lines."""
        text, newlines = self._document.text, _newlines(self._document.text)
        if not self._is_as_in_its_diff:
            return None
        found: list[Change] = []
        for span, new in changes:
            first, last = bisect_left(newlines, span.start), bisect_left(newlines, span.end)
            if found and first < found[-1].end:
                return None
            start = newlines[first - 1] + 1 if first else 0
            end = newlines[last] + 1 if last < len(newlines) else len(text)
            lines = split_lines(text[start : span.start] + new + text[span.end : end])
            found.append(Change(first, last + 1, lines))
        return found

    @cached_property
    def _is_as_in_its_diff(self) -> bool:
        return decoded(self._data) == self._document.text

    @cached_property
    def _old_lines(self) -> list[str]:
        return split_lines(self._document.text)

    def _diff_of_cells(self, edits: Sequence[Edit], unit: Unit) -> str:
        parts = []
        for cell in _touched(unit.cells, edits):
            inside = _inside(edits, cell.span)
            regions = list(_line_regions(unit.text, inside, cell.span))
            if not regions:
                continue
            inside = _in_order((*inside, *unit.masks_beside(cell, inside)))
            changes = [_change(unit, cell, region, inside) for region in regions]
            label = unit.path if cell.number is None else f"{unit.path}:cell {cell.number}"
            parts.append(unified_of_changes(self._lines(unit, cell), changes, label))
        return "".join(parts)

    def _lines(self, unit: Unit, cell: Cell) -> Sequence[str]:
        """Return the lines of a cell as the user wrote them."""
        key = unit.index, cell.span.start
        if key not in self._cell_lines:
            self._cell_lines[key] = split_lines(source_of(unit, cell))
        return self._cell_lines[key]


def _unit(source: Module | Unit) -> Unit:
    return source if isinstance(source, Unit) else source.unit


def _touched(cells: Sequence[Cell], edits: Iterable[Edit]) -> Sequence[Cell]:
    """Return the cells that an edit may be in, in order."""
    if len(cells) == 1:
        return cells
    places = {bisect_right(cells, edit.span.start, key=_start) - 1 for edit in edits}
    # An edit at the very start of a cell may stand at the end of the one before.
    return [cells[place] for place in sorted(places | {each - 1 for each in places}) if place >= 0]


def _start(cell: Cell) -> int:
    return cell.span.start


@lru_cache(maxsize=1)
def _newlines(text: str) -> list[int]:
    """Return where the lines of a text end."""
    return [found.start() for found in _NEWLINE.finditer(text)]


def _line_regions(text: str, edits: Sequence[Edit], within: Span) -> Iterator[Span]:
    """Yield the ranges of whole lines that ``edits`` touch, sorted and disjoint."""
    start = end = -1
    for span in sorted(edit.span for edit in edits):
        first = text.rfind("\n", within.start, span.start) + 1 or within.start
        newline = text.find("\n", span.end, within.end)
        last = within.end if newline < 0 else newline + 1
        if first < end or start < 0:
            start, end = (first if start < 0 else start), max(end, last)
            continue
        yield Span(start, end)
        start, end = first, last
    if start >= 0:
        yield Span(start, end)


def _in_order(edits: Iterable[Edit]) -> list[Edit]:
    """Return edits by where they begin: a fix may have as many as the file has lines."""
    return sorted(edits, key=_beginning)


def _beginning(edit: Edit) -> int:
    return edit.span.start


def _inside(edits: Sequence[Edit], region: Span) -> list[Edit]:
    """Return those of ``edits``, which are in order, that lie in a region."""
    first = bisect_left(edits, region.start, key=_beginning)
    last = bisect_right(edits, region.end, key=_beginning)
    return [edit for edit in edits[first:last] if region.covers(edit.span)]


def _change(unit: Unit, cell: Cell, region: Span, edits: Sequence[Edit]) -> Change:
    inside = _inside(edits, region)
    newlines = _newlines(unit.text)
    first = bisect_left(newlines, region.start) - bisect_left(newlines, cell.span.start)
    size = len(split_lines(unit.text[region.start : region.end]))
    return Change(first, first + size, split_lines(render(unit.text, inside, region, unit.newline)))
