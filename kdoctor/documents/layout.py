r"""Layout of code in a document: plain, or behind a margin and prompts.

A fence in a list or in a block quote, a literal block and a doctest hold the same Python as a
module, with something in front of each line. A layout takes that off and puts it back.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, chain, pairwise
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from kdoctor import parse_ast
from kdoctor.documents.line_changes import pairs
from kdoctor.lazy_regex import pattern

# Python and CommonMark end lines here and nowhere else; str.splitlines knows eight more places.
_LINE_END = pattern(r"\r\n|\r|\n")
_PROMPT = pattern(r"([ \t]*)(>>>|\.\.\.)( |(?=[\r\n])|$)")


def line_starts(text: str) -> list[int]:
    r"""Return the offset of every line's first character.

    >>> line_starts("a\r\nb\n")
    [0, 3, 5]
    """
    return [0, *map(re.Match.end, _LINE_END.finditer(text))]


def split_lines(text: str) -> list[str]:
    r"""Split into lines that keep their newline; no empty last line.

    >>> split_lines("a\r\nb\x0cc\n")
    ['a\r\n', 'b\x0cc\n']
    """
    starts = line_starts(text)
    if starts[-1] != len(text):
        starts.append(len(text))
    return [text[start:end] for start, end in pairwise(starts)]


def newline_of(text: str) -> str:
    r"""Return the newline that ends most lines of ``text``, ``\n`` where there is none."""
    both = text.count("\r\n")
    counts = {"\n": text.count("\n") - both, "\r\n": both, "\r": text.count("\r") - both}
    return max(counts, key=lambda newline: counts[newline])


class Layout(Protocol):
    """The code of one cell, and how it stands in the document."""

    @property
    def text(self) -> str:
        """The code alone."""

    def locate(self, offset: int) -> tuple[int, int]:
        """Return row and column (both from 0, below the first line) of an offset in ``text``."""

    def line_at(self, offset: int) -> str:
        """Return the document's line that holds the offset, without its newline."""

    def restore(self, text: str) -> str:
        """Return how the document must read for its code to be ``text``."""


class Plain(Struct, frozen=True, dict=True):
    """Code that stands as it is."""

    text: str

    @cached_property
    def _starts(self) -> list[int]:
        return line_starts(self.text)

    def locate(self, offset: int) -> tuple[int, int]:
        """Return row and column of an offset."""
        row = bisect.bisect_right(self._starts, offset) - 1
        return row, offset - self._starts[row]

    def line_at(self, offset: int) -> str:
        """Return the line that holds the offset."""
        start = self._starts[self.locate(offset)[0]]
        end = _LINE_END.search(self.text, start)
        return self.text[start : end.start() if end else len(self.text)]

    def restore(self, text: str) -> str:
        """Return ``text``."""
        return text


class Line(Struct, frozen=True):
    """``margin`` (indentation, ``> ``), ``prompt`` (``>>> ``) and ``code`` with its newline."""

    margin: str
    prompt: str
    code: str

    @property
    def is_blank(self) -> bool:
        """Whether the line holds no code."""
        return not self.code.strip()


class Margined(Struct, frozen=True, dict=True):
    r"""Code behind a margin. ``ending`` is a last newline that stands in the document only.

    >>> quoted = Margined((Line("> ", "", "x = 1\n"), Line("> ", "", "y = 2\n")))
    >>> quoted.text, quoted.locate(6)
    ('x = 1\ny = 2\n', (1, 2))
    >>> quoted.restore("x = 1\nz = 3\ny = 2\n")
    '> x = 1\n> z = 3\n> y = 2\n'
    """

    lines: tuple[Line, ...]
    ending: str = ""

    @cached_property
    def text(self) -> str:
        """The code alone."""
        return "".join(line.code for line in self.lines)

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(line.code) for line in self.lines), initial=0))

    def locate(self, offset: int) -> tuple[int, int]:
        """Return row and column of an offset, behind the margin of its line."""
        row = bisect.bisect_right(self._starts, offset) - 1
        if row == len(self.lines) and not self.lines[-1].code.endswith(("\n", "\r")):
            row -= 1
        if row == len(self.lines):
            return row, 0
        line = self.lines[row]
        return row, len(line.margin) + len(line.prompt) + offset - self._starts[row]

    def line_at(self, offset: int) -> str:
        """Return the document's line, margin and all."""
        row, _ = self.locate(offset)
        if row == len(self.lines):
            return ""
        line = self.lines[row]
        return line.margin + line.prompt + line.code.rstrip("\r\n")

    def restore(self, text: str) -> str:
        """Put margins and prompts back; lines that are new get those of their neighbours."""
        if not text:
            return ""  # the last line of an example goes with its prompt
        if self.text.endswith(("\n", "\r")) and not text.endswith(("\n", "\r")):
            text += newline_of(self.text)  # else the closing fence would join the code
        codes = split_lines(text)
        if not self.lines[-1].code and text.endswith(("\n", "\r")):
            codes.append("")  # the bare "..." that ends a compound statement
        prompts = _prompts_for(codes) if any(line.prompt for line in self.lines) else None
        kept = dict(pairs([line.code for line in self.lines], codes))
        rows = sorted(kept)
        new: list[str] = []
        for row, code in enumerate(codes):
            old = self.lines[kept[row]] if row in kept else None
            if old is not None and old.code == code:
                new.append(old.margin + old.prompt + code)
                continue
            margin = self._margin_of(kept, rows, row) + (prompts[row] if prompts else "")
            new.append((margin if code.strip() else margin.rstrip()) + code)
        return "".join(new) + self.ending

    def _margin_of(self, kept: dict[int, int], rows: Sequence[int], row: int) -> str:
        """Return the margin for new line ``row``: that of the nearest old line with code."""
        above = bisect.bisect_right(rows, row)
        near = kept[rows[above - 1]] if above else 0
        around = chain(range(near, -1, -1), range(near + 1, len(self.lines)))
        lines = (self.lines[each] for each in around)
        return next((line for line in lines if not line.is_blank), self.lines[near]).margin


def _prompts_for(codes: Sequence[str]) -> list[str]:
    """Return ``>>> `` for each line that begins a statement and ``... `` for those inside one."""
    prompts = [">>> "] * len(codes)
    try:
        statements = parse_ast.parse("".join(codes)).body
    except (SyntaxError, ValueError):
        return prompts
    for statement in statements:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(node.lineno for node in decorators)])
        last = statement.end_lineno or statement.lineno
        prompts[first:last] = ["... "] * (last - first)
    return prompts


def dedented(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Move the indentation that all lines share into their margin."""
    lines = tuple(lines)
    indents = [_indent(line.code) for line in lines if not line.is_blank]
    shared = min(indents, key=len, default="")
    while not all(indent.startswith(shared) for indent in indents):
        shared = shared[:-1]
    return tuple(_shifted(line, shared) for line in lines)


def dedented_like_first(text: str) -> Layout:
    """Return a cell's layout as IPython reads it: the first line's indentation is taken off."""
    lines = [Line("", "", code) for code in split_lines(text)]
    indent = next((_indent(line.code) for line in lines if not line.is_blank), "")
    if not indent:
        return Plain(text)
    return Margined(tuple(_shifted(line, indent) for line in lines))


def _indent(code: str) -> str:
    return code[: len(code) - len(code.lstrip(" \t"))]


def _shifted(line: Line, indent: str) -> Line:
    if not line.code.startswith(indent):
        return line
    return Line(line.margin + indent, line.prompt, line.code[len(indent) :])


def has_prompt(code: str) -> bool:
    """Say whether a line begins a doctest example."""
    prompt = _PROMPT.match(code)
    return prompt is not None and prompt.group(2) == ">>>"


def examples(lines: Sequence[Line]) -> Iterator[tuple[int, Margined]]:
    """Yield the doctest examples in ``lines``, each with the row of its first line.

    Examples with no output between them come out as one. As in ``doctest``, a line with ``...``
    goes on only where it follows a prompt directly, else it is expected output. The newline that
    ends an example stands outside its text.
    """
    block: list[Line] = []
    for row, line in enumerate([*lines, Line("", "", "")]):
        prompt = _PROMPT.match(line.code)
        if prompt and (prompt.group(2) == ">>>" or block):
            margin = line.margin + prompt.group(1)
            code = line.code[prompt.end() :]
            block.append(Line(margin, prompt.group()[len(prompt.group(1)) :], code))
            continue
        if block:
            yield row - len(block), _without_last_newline(block)
            block = []


def _without_last_newline(block: Sequence[Line]) -> Margined:
    *rest, last = block
    code = last.code.rstrip("\r\n")
    return Margined((*rest, replace(last, code=code)), ending=last.code[len(code) :])
