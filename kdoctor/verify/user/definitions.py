"""What is verified: a module before and after its fix, and a definition in it."""

from __future__ import annotations

from dataclasses import dataclass

from kdoctor.verify.user.results import Verdict
from kdoctor.verify.user.running import Job


@dataclass(frozen=True, slots=True)
class Source:
    """One module's text before and after its fix.

    ``places`` maps each line of the text to its cell (in a notebook) and line in the file. The code
    block of a page does not start on line 1.
    """

    path: str
    before: str
    after: str
    places: tuple[tuple[int | None, int], ...] = ()

    def place(self, number: int) -> tuple[int | None, int]:
        """Return the cell and line in the file of a line of the text, counted from 1."""
        known = 0 < number <= len(self.places)
        return self.places[number - 1] if known else (None, number)

    def where(self, number: int) -> str:
        """Return the same place as text for people."""
        cell, line = self.place(number)
        return f"line {line}" if cell is None else f"line {line} of cell {cell}"


@dataclass(frozen=True, slots=True)
class Subject:
    """A definition of a source, with a job for each side or the verdict that replaces them.

    ``line`` is a line of the source's text. ``with_defaults`` are two more jobs, which leave the
    calls of the project alone: they are there where the fix changes a default that calls may hide.
    """

    source: Source
    name: str
    line: int
    old: Job | None = None
    new: Job | None = None
    verdict: Verdict | None = None
    changed: bool = False
    with_defaults: tuple[Job, Job] | None = None
