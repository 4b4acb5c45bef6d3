"""Code blocks of Markdown and reStructuredText that are marked as Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kdoctor.documents.layout import (
    Line,
    Margined,
    dedented,
    examples,
    has_prompt,
    line_starts,
)
from kdoctor.documents.line_continuations import modules
from kdoctor.documents.unit import (
    Candidate,
    Kept,
    Skipped,
    TextExcerpt,
    Unit,
    joined,
    kept_of,
)
from kdoctor.lazy_regex import pattern
from kdoctor.model import Span

_PYTHON = frozenset(
    {"python", "python3", "py", "py3", "ipython", "ipython3", "jupyter", "jupyter-python"}
    | {"pycon", "pycon3", "python-console", "python-repl", "doctest"}
    | {"testcode", "testsetup", "testcleanup"}
)
# Directives of MyST and Sphinx whose argument is the language.
_CODE_DIRECTIVES = frozenset({"code-block", "code", "sourcecode"})
_FIRST_WORD = pattern(r"[^\s,;:{}()=]*")


def says_python(info: str) -> bool:
    """Say whether a fence's info string names Python.

    >>> says_python('py title="train.py"'), says_python("{code-cell} ipython3"), says_python("sh")
    (True, True, False)
    """
    info = info.strip().lower()
    if not info.startswith("{"):
        return _first_word(info) in _PYTHON
    directive, _, argument = info[1:].partition("}")
    name = _first_word(directive.lstrip(". "))
    if name == "code-cell":
        return not argument.strip() or _first_word(argument.strip()) in _PYTHON
    return name in _PYTHON or (
        name in _CODE_DIRECTIVES and _first_word(argument.strip()) in _PYTHON
    )


def _first_word(text: str) -> str:
    word = _FIRST_WORD.match(text)
    return word.group() if word else ""


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines of a document that hold code. ``row`` counts from 0."""

    row: int
    lines: tuple[Line, ...]

    @property
    def has_prompts(self) -> bool:
        """Whether the code is a doctest: its first line that is not blank begins an example."""
        return has_prompt(next((line.code for line in self.lines if not line.is_blank), ""))


class Lines:
    """A document's text by lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        starts = line_starts(text)
        if starts[-1] != len(text):
            starts.append(len(text))
        self._starts = starts

    def __len__(self) -> int:
        """Count the lines."""
        return len(self._starts) - 1

    def __getitem__(self, row: int) -> str:
        """Return a line with its newline."""
        return self.text[self._starts[row] : self._starts[row + 1]]

    def span(self, row: int, count: int) -> Span:
        """Return the characters of ``count`` lines from ``row`` on."""
        return Span(self._starts[row], self._starts[row + count])

    def code(self, block: Block) -> Candidate:
        """Return a block without the indentation that all its lines share."""
        return self._candidate(block.row, Margined(dedented(block.lines)))

    def session(self, block: Block) -> Iterator[Candidate]:
        """Yield the doctest examples of a block; the output between them is none of theirs."""
        for row, example in examples(block.lines):
            yield self._candidate(block.row + row, example)

    def _candidate(self, row: int, layout: Margined) -> Candidate:
        return Candidate(TextExcerpt(self.span(row, len(layout.lines)), row + 1, layout))


def units_of(
    path: str, pieces: Sequence[Sequence[Candidate]]
) -> tuple[tuple[Unit, ...], tuple[Skipped, ...]]:
    """Make the units of a page's pieces of code, as far as they are Python."""
    kept: list[list[Kept]] = []
    skipped: list[Skipped] = []
    for candidates in pieces:
        python, others = kept_of(candidates)
        skipped += others
        if python:
            kept.append(python)
    units = (joined(path, index, module) for index, module in enumerate(modules(kept)))
    return tuple(units), tuple(sorted(skipped, key=lambda part: part.line))
