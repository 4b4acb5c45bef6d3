"""Apply fixes to a unit's text by edits; the tree is never rendered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from kdoctor.documents import Cell, Unit
from kdoctor.engine.fixes.emptied_blocks import without_empty_blocks
from kdoctor.engine.fixes.unread_variables import edits_of_unread_variables
from kdoctor.model import Applicability, Edit, Fix
from kdoctor.project.code_style import DEFAULT_STYLE, CodeStyle
from kdoctor.rewrite import plan_imports, render
from kdoctor.rewrite.blank_lines import without_blank_lines
from kdoctor.rewrite.branches import (
    are_in_branches,
    edits_outside,
    simplified_branches,
    without_unread_imports,
)
from kdoctor.rewrite.edit_layout import line_limit_of, with_layout
from kdoctor.rewrite.imports import Keeps, keep_nothing
from kdoctor.syntax import Module


def edits_of(
    source: Module | Unit,
    fixes: Sequence[Fix],
    keeps: Keeps = keep_nothing,
    style: CodeStyle = DEFAULT_STYLE,
) -> list[Edit]:
    """Return the edits of some fixes with their import and layout edits.

    A unit that was not parsed has fixes of comments only, and these need no import. ``keeps`` says
    which imports stay although nothing in the file uses them any longer, ``style``
    how code is written.
    """
    edits = [edit for fix in fixes for edit in fix.edits]
    if isinstance(source, Unit):
        return edits
    if unread := edits_of_unread_variables(source, edits):
        fixes = [*fixes, Fix("", tuple(unread), Applicability.SAFE)]
        edits = [*edits, *unread]
    longest = line_limit_of(source, style.line_limit)
    planned = [*edits, *plan_imports(source, fixes, keeps, longest, style.sorting)]
    filled = without_empty_blocks(source, planned)
    needs = chain.from_iterable(fix.imports for fix in fixes)
    # Laid out for their sake only where there are any: each finding's own diff is made here.
    if are_in_branches(source, filled) and (
        settled := simplified_branches(source, with_layout(source, filled, longest), needs)
    ):
        more = Fix("", tuple(settled), Applicability.SAFE)
        again = [*without_unread_imports(fixes, settled), more]
        planned = [*edits, *plan_imports(source, again, keeps, longest, style.sorting)]
        filled = without_empty_blocks(source, [*edits_outside(planned, settled), *settled])
    return with_layout(source, without_blank_lines(source, filled), longest)


def texts_of(
    source: Module | Unit,
    fixes: Sequence[Fix],
    keeps: Keeps = keep_nothing,
    style: CodeStyle = DEFAULT_STYLE,
) -> list[str]:
    """Return the fixed text of each cell of a unit, magics restored.

    Raises:
        ValueError: edits overlap, or one lies in no single cell.
    """
    unit = source if isinstance(source, Unit) else source.unit
    return texts_with(unit, edits_of(source, fixes, keeps, style))


def texts_with(unit: Unit, edits: Sequence[Edit]) -> list[str]:
    """Return the text of each cell of a unit after some edits, magics restored.

    Raises:
        ValueError: edits overlap, or one lies in no single cell.
    """
    inside: dict[int, list[Edit]] = {}
    for edit in edits:
        cell = unit.cell_at(edit.span.start)
        if not cell.span.covers(edit.span):
            raise ValueError(f"the edit of {edit.span} lies in no single cell")
        inside.setdefault(cell.span.start, []).append(edit)
    return [
        _cell_text(unit, cell, inside[cell.span.start])
        if cell.span.start in inside
        else cell.excerpt.layout.text
        for cell in unit.cells
    ]


def source_of(unit: Unit, cell: Cell) -> str:
    """Return a cell's original text, magics included."""
    return _cell_text(unit, cell, ())


def _cell_text(unit: Unit, cell: Cell, inside: Iterable[Edit]) -> str:
    inside = tuple(inside)
    masks = unit.masks_beside(cell, inside)
    return render(unit.text, [*inside, *masks], cell.span, unit.newline)
