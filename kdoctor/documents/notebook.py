"""Jupyter notebooks: all Python code cells are one unit; outputs and all else stay as they are.

A notebook is never written anew from its decoded form. Only the characters of a changed cell's
``source`` are, in that source's own style.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kdoctor.documents.json_positions import Spelling, Value, decode, items, members, spelled_at
from kdoctor.documents.layout import (
    Layout,
    Line,
    dedented_like_first,
    examples,
    has_prompt,
    line_starts,
    split_lines,
)
from kdoctor.documents.magics import foreign_cell_magic, registered_cell_magics
from kdoctor.documents.positions import Positions
from kdoctor.documents.unit import Candidate, Skipped, Unit, joined, kept_of
from kdoctor.errors import FileProblem
from kdoctor.model import Place, Region, Span

_SHELLS = frozenset({"%%bash", "%%sh", "%%sx", "%%system"})
_PYTHONS = frozenset({"python", "python3", "ipython", "ipython3", "pyspark"})


def read_notebook(text: str, path: str) -> tuple[tuple[Unit, ...], tuple[Skipped, ...]]:
    """Read a notebook of format 4, or 2 and 3 with their worksheets.

    Raises:
        FileProblem: not valid JSON, or no notebook.
    """
    notebook = _decoded(text)
    language = _language(notebook.value)
    cells = list(_cells(text, notebook))
    if language != "python":
        code = any(cell["cell_type"].value == "code" for cell in cells)
        why = f"the notebook is written in {language}, not in Python"
        return (), (Skipped(1, why),) if code else ()
    magics = registered_cell_magics(filter(None, map(_code, cells)))
    candidates: list[Candidate] = []
    skipped: list[Skipped] = []
    for number, cell in enumerate(cells, start=1):
        if cell["cell_type"].value != "code":
            continue
        part = _candidate(cell, number, magics)
        if isinstance(part, Candidate):
            candidates.append(part)
        else:
            skipped.append(part)
    kept, not_python = kept_of(candidates)
    skipped = sorted([*skipped, *not_python], key=lambda part: (part.cell or 0, part.line))
    return ((joined(path, 0, kept),) if kept else ()), tuple(skipped)


def shell_cells(text: str) -> Iterator[tuple[int, SourceExcerpt]]:
    """Yield the cells of shell commands of a notebook in Python, each with its number.

    Raises:
        FileProblem: not valid JSON, or no notebook.
    """
    notebook = _decoded(text)
    if _language(notebook.value) != "python":
        return
    for number, cell in enumerate(_cells(text, notebook), start=1):
        source, code = _source(cell), _code(cell)
        is_code = cell["cell_type"].value == "code" and _cell_language(cell) == "python"
        if is_code and source and code and foreign_cell_magic(code) in _SHELLS:
            yield number, SourceExcerpt(source, _layout(code))


def _decoded(text: str) -> Value:
    try:
        return decode(text)
    except json.JSONDecodeError as error:
        raise FileProblem(
            f"not a valid notebook: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from error
    except RecursionError as error:
        raise FileProblem("not a valid notebook: its JSON is nested too deeply") from error
    except ValueError as error:
        raise FileProblem(f"not a valid notebook: {error}") from error


def _cells(text: str, notebook: Value) -> Iterator[dict[str, Value]]:
    """Yield the members of each cell, in order.

    Raises:
        FileProblem: there are none, or they are not cells.
    """
    if not isinstance(notebook.value, dict):
        raise FileProblem("not a valid notebook: its JSON is not an object")
    top = members(text, notebook)
    sheets = [top]
    if "cells" not in top and "worksheets" in top:
        sheets = [members(text, sheet) for sheet in items(text, _array(top, "worksheets"))]
    for sheet in sheets:
        for cell in items(text, _array(sheet, "cells")):
            if not isinstance(cell.value, dict) or "cell_type" not in cell.value:
                raise FileProblem("not a valid notebook: a cell has no cell_type")
            yield members(text, cell)


def _array(parent: Mapping[str, Value], key: str) -> Value:
    array = parent.get(key)
    if array is None or not isinstance(array.value, list):
        raise FileProblem(f"not a valid notebook: it has no list of {key}")
    return array


def _language(notebook: Any) -> str:
    """Return the language of the notebook's kernel, in small letters; Python where it is silent."""
    metadata = _dict(_dict(notebook).get("metadata"))
    kernel = _dict(metadata.get("kernelspec"))
    info = _dict(metadata.get("language_info"))
    language = str(info.get("name") or kernel.get("language") or "python").lower()
    return "python" if language in _PYTHONS else language


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _candidate(
    cell: Mapping[str, Value], number: int, magics: Collection[str]
) -> Candidate | Skipped:
    source, code = _source(cell), _code(cell)
    if source is None or code is None:
        return Skipped(1, "the cell has no source", number)
    language = _cell_language(cell)
    if language != "python":
        return Skipped(1, f"the cell is written in {language}, not in Python", number)
    magic = foreign_cell_magic(code, magics)
    if magic is not None:
        return Skipped(1, f"a {magic} cell does not run in the notebook's Python", number)
    return Candidate(SourceExcerpt(source, _layout(code)), number)


def _source(cell: Mapping[str, Value]) -> Value | None:
    return cell.get("source") or cell.get("input")  # format 3 says input


def _code(cell: Mapping[str, Value]) -> str | None:
    source = _source(cell)
    match source.value if source else None:
        case str() as text:
            return text
        case [*lines] if all(isinstance(line, str) for line in lines):
            return "".join(lines)
    return None


def _cell_language(cell: Mapping[str, Value]) -> str:
    """Return the language of one cell: format 3 and VS Code may say it."""
    if "language" in cell:
        return str(cell["language"].value).lower()
    metadata = _dict(cell["metadata"].value) if "metadata" in cell else {}
    return str(_dict(metadata.get("vscode")).get("languageId") or "python").lower()


def _layout(code: str) -> Layout:
    """Read a cell as IPython does: without the indentation of its first line, without prompts."""
    lines = [Line("", "", line) for line in split_lines(code)]
    pasted = [example for _, example in examples(lines)] if has_prompt(code) else []
    if len(pasted) == 1 and len(pasted[0].lines) == len(lines):
        return pasted[0]
    return dedented_like_first(code)


def regions_in_json(
    text: str, units: Iterable[Unit], places: Iterable[Place]
) -> dict[Place, Region]:
    """Return where places in the cells of a notebook stand in its JSON."""
    excerpts = {cell.number: cell.excerpt for unit in units for cell in unit.cells}
    positions = Positions(text)
    spelled: dict[int | None, tuple[list[int], list[int]]] = {}
    regions = {}
    for place in places:
        excerpt = excerpts[place.cell]
        if not isinstance(excerpt, SourceExcerpt):
            raise TypeError(excerpt)
        if place.cell not in spelled:
            spelled[place.cell] = excerpt.spelled(text)
        starts, offsets = spelled[place.cell]
        span = Span(
            _offset(starts, offsets, place.line, place.column),
            _offset(starts, offsets, place.end_line, place.end_column),
        )
        regions[place] = positions.region(span)
    return regions


def _offset(starts: Sequence[int], offsets: Sequence[int], line: int, column: int) -> int:
    return offsets[min(starts[line - 1] + column - 1, len(offsets) - 1)]


@dataclass(frozen=True, slots=True)
class SourceExcerpt:
    """A cell that is the ``source`` of a notebook's JSON: a string, or a list of lines."""

    source: Value
    layout: Layout
    line: int = 1

    @property
    def span(self) -> Span:
        """The characters of the JSON value."""
        return Span(self.source.start, self.source.end)

    def spelled(self, document: str) -> tuple[list[int], list[int]]:
        """Return where the lines of the source start in it, and its characters in the JSON."""
        source = self.source.value
        code = source if isinstance(source, str) else "".join(source)
        return line_starts(code), spelled_at(document, self.source)

    def render(self, text: str, document: str) -> str:
        """Return the JSON of the new source in the style of the old one."""
        source = self.layout.restore(text)
        spelling = Spelling.of(document[self.source.start : self.source.end], document)
        if isinstance(self.source.value, str):
            return spelling.string(source)
        return _list_like(document, self.source, source, spelling)


def _list_like(document: str, old: Value, source: str, spelling: Spelling) -> str:
    """Return a list of lines, indented as the old list is; lines that are not new stay as spelled.

    Lines end where ``str.splitlines`` ends them, as nbformat splits them.
    """
    lines = source.splitlines(keepends=True)
    before = list(items(document, old))
    if not lines:
        return "[]"
    if not before:
        return f"[{', '.join(map(spelling.string, lines))}]"
    spelled = {item.value: document[item.start : item.end] for item in before}
    opening = document[old.start : before[0].start]
    closing = document[before[-1].end : old.end]
    gap = "," + (opening[1:] or " ")
    if len(before) > 1:
        gap = document[before[0].end : before[1].start]
    spellings = [spelled.get(line) or spelling.string(line) for line in lines]
    return opening + gap.join(spellings) + closing
