"""The cells of a notebook as one program, up to the cell that failed.

A traceback of a notebook names the cell and the line in it. What the line rests on (a model, an
import, a function) was mostly made by a cell that ran before, so that the cell alone says little.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import takewhile
from pathlib import Path
from typing import Final

from kdoctor.diagnose.by_rules import ReadSource
from kdoctor.diagnose.frames import TracebackFrame
from kdoctor.diagnose.tracebacks import Raised
from kdoctor.documents.notebook import read_notebook
from kdoctor.errors import KdoctorError

_MAX_NOTEBOOKS: Final = 50  # notebooks of the working folder
_NUMBER: Final = re.compile(r"^(?:Cell In\[|<ipython-input-)(?P<number>\d+)\b")


@dataclass(frozen=True, slots=True)
class _Cell:
    """A code cell: ``number`` is that of its last run, ``position`` its index in the file."""

    number: int | None
    position: int
    shown: tuple[str, ...]  # as they stand there
    lines: tuple[str, ...]  # as Python reads them, without magics

    def has(self, frame: TracebackFrame) -> bool:
        """Say whether a frame's line is in this cell, unchanged."""
        line = self.shown[frame.line - 1 : frame.line] if frame.line else ()
        source = frame.source.partition("\n")[0].strip()
        return bool(line and source) and source[:60] in line[0]


@dataclass(frozen=True, slots=True)
class Notebook:
    """The code cells of a notebook, in file order."""

    cells: tuple[_Cell, ...]
    path: str = ""

    def of(self, frame: TracebackFrame) -> _Cell | None:
        """Return the cell of a frame: Jupyter numbers the runs, VS Code the cells."""
        matched = _NUMBER.match(frame.path)
        if matched is None:
            return None
        number = int(matched["number"])
        called = [each for each in self.cells if each.number == number]
        placed = [each for each in self.cells if each.position == number]
        return next((each for each in (*called, *placed) if each.has(frame)), None)

    def until(self, failed: _Cell) -> Program:
        """Return the cells that had run when a cell failed, in execution order.

        One above it that has no number, or a later one, has run before all the same, as far as one
        can tell: it was run again since, or its number was taken out.
        """
        latest = 0
        ran: list[tuple[int, int, _Cell]] = []
        for each in self.cells:
            is_above = each.position < failed.position
            is_earlier = (each.number or 0) > 0 and (each.number or 0) < (failed.number or 0)
            if is_earlier:
                latest = max(latest, each.number or 0) if is_above else latest
                ran.append((each.number or 0, 0, each))
            elif is_above:
                ran.append((latest, each.position, each))
        in_order = [each for *_, each in sorted(ran, key=lambda it: it[:2])]
        return Program((*in_order, failed), self.path)


@dataclass(frozen=True, slots=True)
class Program:
    """Concatenated cells; ``path`` is the notebook's file if the text does not name it."""

    cells: tuple[_Cell, ...]
    path: str = ""

    @property
    def data(self) -> bytes:
        """Its source."""
        return "".join(f"{line}\n" for each in self.cells for line in each.lines).encode()

    def above(self, cell: _Cell) -> int:
        """Return the number of lines before a cell."""
        before = takewhile(lambda each: each is not cell, self.cells)
        return sum(len(each.lines) for each in before)

    def place(self, line: int) -> str:
        """Return the location of a line of the program, for display.

        >>> one = _Cell(3, 1, ("a = 1",), ("a = 1",))
        >>> Program((one, _Cell(7, 2, ("b = 2", "c = 3"), ("b = 2", "c = 3")))).place(3)
        'line 2 of Cell In[7]'
        """
        for each in self.cells:
            if line <= len(each.lines):
                return f"line {line} of {_called(each)}"
            line -= len(each.lines)
        return f"line {line}"

    def diff(self, before: str, after: str) -> str:
        """Return only the changed lines, each under its location in the notebook."""
        old, new = before.splitlines(), after.splitlines()
        shown = [line for each in self.cells for line in each.shown]
        parts = []
        for tag, start, end, new_start, new_end in SequenceMatcher(
            None, old, new, autojunk=False
        ).get_opcodes():
            if tag == "equal":
                continue
            parts.append(f"# {self.place(start + 1)}\n")
            parts += (f"-{line}\n" for line in shown[start:end])
            for number, line in enumerate(new[new_start:new_end], start):
                masked = old[number] if number < end else ""
                parts.append(f"+{_unmasked(line, masked, shown[number] if masked else '')}\n")
        return "".join(parts)


def _called(cell: _Cell) -> str:
    return f"Cell In[{cell.number}]" if cell.number else f"cell {cell.position}"


def _unmasked(line: str, masked: str, shown: str) -> str:
    """Restore the magic at the start of a line: ``%time model.fit(…)``."""
    if masked == shown:
        return line
    width = next((at for at in range(len(masked)) if masked[at:] == shown[at:]), len(masked))
    return shown[:width] + line[width:] if line[:width] == masked[:width] else line


def notebook_of(text: str) -> Notebook | None:
    """Return the cells of a notebook, None if the text is not a notebook."""
    if not text.lstrip("\ufeff \t\r\n").startswith("{") or '"cell_type"' not in text:
        return None
    text = text.lstrip("\ufeff")
    try:
        units, _ = read_notebook(text, "a notebook")
        numbers = _numbers(json.loads(text))
    except (KdoctorError, ValueError, TypeError, AttributeError, RecursionError):
        return None
    return Notebook(
        tuple(
            _Cell(
                numbers.get(cell.number or 0),
                cell.number or 0,
                tuple(cell.excerpt.layout.text.splitlines()),
                tuple(unit.text[cell.span.start : cell.span.end].splitlines()),
            )
            for unit in units
            for cell in unit.cells
        )
    )


def notebook_at_hand(found: tuple[Raised, ...], read: ReadSource) -> Notebook | None:
    """Return the notebook that a text names, or the one of the working folder that it is of.

    The latter where it is the only one that has the very line in the cell that ran it.
    """
    cells = [frame for each in found for frame in each.frames if _NUMBER.match(frame.path)]
    if not cells:
        return None
    named = {frame.notebook for frame in cells} - {""}
    paths = named or {str(path) for path in sorted(Path().glob("*.ipynb"))[:_MAX_NOTEBOOKS]}
    fitting = []
    for path in sorted(paths):
        data = read(path)
        notebook = notebook_of(data.decode("utf-8-sig", errors="replace")) if data else None
        if notebook is not None and any(map(notebook.of, cells)):
            fitting.append(replace(notebook, path="" if named else path))
    return fitting[0] if len(fitting) == 1 else None


def _numbers(content: object) -> dict[int, int]:
    """Return the number of the last run of each cell, by its place in the file."""
    if not isinstance(content, dict):
        return {}
    sheets = content.get("worksheets", [content])  # before nbformat 4
    cells = [cell for sheet in sheets for cell in sheet["cells"]]
    counts = (each.get("execution_count", each.get("prompt_number")) for each in cells)
    return {at: number for at, number in enumerate(counts, 1) if isinstance(number, int)}


def placed(error: Raised, notebook: Notebook) -> Raised:
    """Return an exception whose frames refer to the program of the notebook's cells."""
    first = next((found for each in error.frames if (found := notebook.of(each))), None)
    before = error.before and placed(error.before, notebook)
    if first is None:
        return replace(error, before=before)
    program = notebook.until(first)
    frames = tuple(_in_program(each, notebook, program) for each in error.frames)
    return replace(error, frames=frames, before=before)


def _in_program(frame: TracebackFrame, notebook: Notebook, program: Program) -> TracebackFrame:
    cell = notebook.of(frame)
    if cell is None or cell not in program.cells:
        return frame
    return replace(frame, program=program, above=program.above(cell))
