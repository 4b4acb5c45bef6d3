"""Messages about code that cannot be parsed."""

from __future__ import annotations

from collections.abc import Iterable

from kdoctor.documents import Unit
from kdoctor.documents.python_2 import CURE, construct_of_python_2
from kdoctor.engine.result import SkippedPart
from kdoctor.errors import SyntaxProblem
from kdoctor.model import Place, Span, Unreadable


def syntax_problem_text(problem: SyntaxProblem, unit: Unit) -> str:
    """Return what is wrong with a source, and where, in the user's numbering."""
    place = problem_place(problem, unit)
    cell = "" if place.cell is None else f"cell {place.cell}, "
    where = f"({cell}line {place.line}, column {place.column})"
    old = construct_of_python_2(unit.text, problem.line, problem.why)
    return f"Python 2: {old} {where}; {CURE}" if old else f"{problem.why} {where}"


def python_2_cells(path: str, skipped: Iterable[SkippedPart]) -> Unreadable | None:
    """Say that cells of a notebook are Python 2, and were not checked; None where none is."""
    old = [part for part in skipped if part.python_2]
    if not old:
        return None
    more = f" and {len(old) - 1} more" if len(old) > 1 else ""
    where = f"(cell {old[0].cell}, line {old[0].line}{more})"
    return Unreadable(path, f"Python 2: {old[0].python_2} {where}; {CURE}")


def problem_place(problem: SyntaxProblem, unit: Unit) -> Place:
    """Return the location of a syntax error; in a notebook, within the cell."""
    offset = 0
    for _ in range(problem.line - 1):
        offset = unit.text.find("\n", offset) + 1
    offset = min(offset + problem.column - 1, len(unit.text))
    return unit.place(Span(offset, offset))
