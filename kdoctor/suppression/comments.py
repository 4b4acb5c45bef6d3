"""Find a source's comments and logical lines.

Python's own tokenizer finds them: what looks like a comment in a string is none.
"""

from __future__ import annotations

import bisect
import io
import tokenize
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from kdoctor.lazy_regex import pattern
from kdoctor.model import Span

_COMMENT = pattern(r"(?:^|\s)(?P<text>#.*)")
_LONE_RETURN = pattern(r"\r(?!\n)")
_NO_CODE = frozenset(
    {tokenize.ENCODING, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.COMMENT}
)
_OPENS = {getattr(tokenize, f"{kind}_START", -1) for kind in ("FSTRING", "TSTRING")}
_CLOSES = {getattr(tokenize, f"{kind}_END", -1) for kind in ("FSTRING", "TSTRING")}


class Comment(Struct, frozen=True):
    """A comment. ``alone``: it has its own line. Rows count from 0."""

    span: Span
    row: int
    alone: bool
    text: str


class Rows(Struct, frozen=True):
    """Rows ``first`` to ``last``, both included."""

    first: int
    last: int


class SourceLines(Struct):
    """The physical and logical lines of a source.

    ``joined`` are runs of rows that a string or a backslash makes one: no comment can stand on any
    but the last. ``statements`` are the rows of each logical line (of a compound statement: its
    head), ``indents`` how far they are indented. All are in source order.
    """

    starts: list[int]
    comments: list[Comment] = field(default_factory=list)
    joined: list[Rows] = field(default_factory=list)
    statements: list[Rows] = field(default_factory=list)
    indents: list[int] = field(default_factory=list)

    def row_of(self, offset: int) -> int:
        """Return the row of an offset."""
        return bisect.bisect_right(self.starts, offset) - 1

    def join_of(self, row: int) -> Rows:
        """Return the rows joined with this one by backslashes or strings."""
        return _run_around(self.joined, row) or Rows(row, row)

    def statement_of(self, row: int) -> Rows:
        """Return the rows of the logical line around a row."""
        return _run_around(self.statements, row) or self.join_of(row)

    def code_below(self, row: int) -> int | None:
        """Return the next row with code, None after the last."""
        index = bisect.bisect_right(self.joined, row, key=lambda rows: rows.first)
        return self.joined[index].first if index < len(self.joined) else None


def lines_of(text: str, *, is_code: bool = True) -> SourceLines:
    """Return the lines of a source, as far as it can be tokenized.

    What is no code has comments behind ``#``, and lines that go on behind a backslash.
    """
    text = _LONE_RETURN.sub("\n", text)
    rows = text.split("\n")
    starts = [0]
    for row in rows[:-1]:
        starts.append(starts[-1] + len(row) + 1)
    lines = SourceLines(starts)
    if not is_code:
        _read_text(lines, rows)
        return lines
    builder = _Builder(lines, rows)
    for token in _tokens(text):
        builder.take(token)
    return lines


def _read_text(lines: SourceLines, rows: Sequence[str]) -> None:
    """Read the rows of requirements, Dockerfiles and the like."""
    first: int | None = None
    for number, row in enumerate(rows):
        found = _COMMENT.search(row)
        alone = found is not None and not row[: found.start("text")].strip()
        if found is not None:
            start = lines.starts[number] + found.start("text")
            text = found["text"].rstrip()
            span = Span(start, start + len(text))
            lines.comments.append(Comment(span, number, alone, text))
        if first is None and (alone or not row.strip()):
            continue
        first = number if first is None else first
        if not (row.rstrip("\r").endswith("\\") or (alone and number > first)):
            lines.joined.append(Rows(first, number))
            lines.statements.append(Rows(first, number))
            lines.indents.append(indent_of(rows[first]))
            first = None


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    # Neither io.StringIO nor str.splitlines ends lines where Python does, unless it is told so.
    try:
        yield from tokenize.generate_tokens(io.StringIO(text, newline="\n").readline)
    except (tokenize.TokenError, SyntaxError):
        return  # what stands before is known all the same


class _Builder:
    def __init__(self, lines: SourceLines, rows: list[str]) -> None:
        self._lines = lines
        self._rows = rows
        self._string_depth = 0
        self._join: int | None = None
        self._statement: int | None = None

    def take(self, token: tokenize.TokenInfo) -> None:
        kind, row = token.type, token.start[0] - 1
        self._string_depth += (kind in _OPENS) - (kind in _CLOSES)
        if kind == tokenize.COMMENT:
            self._comment(token, row)
        if kind in _NO_CODE:
            return
        if kind in {tokenize.NL, tokenize.NEWLINE}:
            self._end_line(row, ends_statement=kind == tokenize.NEWLINE)
            return
        if self._join is None:
            self._join = row
        if self._statement is None:
            self._statement = row
            self._lines.indents.append(indent_of(self._rows[row]))

    def _comment(self, token: tokenize.TokenInfo, row: int) -> None:
        start = self._lines.starts[row] + token.start[1]
        text = token.string.rstrip()
        alone = not self._rows[row][: token.start[1]].strip()
        self._lines.comments.append(Comment(Span(start, start + len(text)), row, alone, text))

    def _end_line(self, row: int, *, ends_statement: bool) -> None:
        if self._string_depth > 0:
            return
        if self._join is not None:
            self._lines.joined.append(Rows(self._join, row))
        self._join = None
        if ends_statement and self._statement is not None:
            self._lines.statements.append(Rows(self._statement, row))
            self._statement = None


def indent_of(row: str) -> int:
    """Return the indentation width of a line."""
    expanded = row.expandtabs(8)
    return len(expanded) - len(expanded.lstrip())


def _run_around(runs: list[Rows], row: int) -> Rows | None:
    index = bisect.bisect_right(runs, row, key=lambda rows: rows.first) - 1
    return runs[index] if index >= 0 and row <= runs[index].last else None
