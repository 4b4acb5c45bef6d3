r"""Mask IPython magics in a cell for a Python parser, without moving any character.

A magic becomes zeros of the same length: ``%matplotlib inline`` is ``000000000000000000``, which is
a valid expression. What counts as a magic is IPython's ``inputtransformer2``: it must begin a
logical line (``%``, ``!``, ``?``), end one (``obj?``) or follow an assignment (``files = !ls``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct

from kdoctor.documents.layout import line_starts
from kdoctor.documents.parsing import why_not_python
from kdoctor.lazy_regex import pattern
from kdoctor.model import Edit, Span

# Cell magics that run their cell's Python in the notebook itself. All others hold another language,
# a file's content (%%writefile), or Python of another process (%%python).
PYTHON_CELL_MAGICS = frozenset(
    {"time", "timeit", "capture", "prun", "debug", "memit", "mprun", "lprun", "wandb"}
    | {"snakeviz", "pyinstrument", "ipytest", "heat"}
)

# Line magics whose argument is a statement of the notebook: %time history = model.fit(x, y)
_STATEMENT_MAGIC = pattern(r"%(?:time|timeit|prun|memit)(?:[ \t]+-\w+(?:[ \t]+\d+)?)*(?=[ \t])")
_CELL_MAGIC = pattern(r"\s*%%(\w*)(\?{0,2})")
_REGISTERED = pattern(r"^@register_cell_magic\b.*\n(?:async )?def (\w+)", re.MULTILINE)
_INDENT = pattern(r"[ \t\f]*")
# ``,f a b``, ``;f a b`` and ``/f a b`` are IPython's auto-quoting and auto-calling.
_ESCAPES = tuple("%!?,;/")
_TOKEN = pattern(
    r"""
    (?P<string>  \"\"\"(?:\\.|[^\\])*?(?:\"\"\"|\Z) | \'\'\'(?:\\.|[^\\])*?(?:\'\'\'|\Z)
               | \"(?:\\(?:\r\n|.)|[^\"\\\r\n])*\"? | \'(?:\\(?:\r\n|.)|[^\'\\\r\n])*\'? )
  | (?P<comment> \#[^\r\n]* )
  | (?P<joined>  \\(?:\r\n|\r|\n) )
  | (?P<newline> \r\n|\r|\n )
  | (?P<assign>  (?<![=!<>:+\-*/%&|^@~])=(?!=)[ \t]*(?=[%!]) )
  | (?P<open>    [(\[{] )
  | (?P<close>   [)\]}] )
  | (?P<space>   [ \t\f]+ )
  | (?P<other>   \w+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_LINE = pattern(r"[^\r\n]*")
_CONTINUED = pattern(r"(?:[^\r\n]*\\(?:\r\n|\r|\n))*[^\r\n]*")


class Masked(Struct, frozen=True):
    """A cell's text that a Python parser takes, and the edits that put the magics back."""

    text: str
    masks: tuple[Edit, ...] = ()


def registered_cell_magics(codes: Iterable[str]) -> frozenset[str]:
    """Return the names of the cell magics that a notebook makes itself.

    They run their cell in the notebook, or leave it out: ``%%backend jax``, ``%%skip_if slow``.
    """
    return frozenset(name for code in codes for name in _REGISTERED.findall(code))


def foreign_cell_magic(text: str, registered: Collection[str] = ()) -> str | None:
    r"""Return the cell magic that makes a cell something else than the notebook's Python.

    >>> foreign_cell_magic("%%bash\nls")
    '%%bash'
    >>> foreign_cell_magic("%%time\nfit()") is None
    True
    """
    start = 0
    while magic := _CELL_MAGIC.match(text, start):
        if magic.group(2):
            return None  # %%time? asks for help
        if magic.group(1) not in PYTHON_CELL_MAGICS and magic.group(1) not in registered:
            return "%%" + magic.group(1)
        start = _LINE.match(text, magic.end()).end()  # type: ignore[union-attr]  # matches anything
    return None


def mask(text: str) -> Masked:
    r"""Replace every magic by zeros.

    >>> mask("!ls\nx = 1").text
    '000\nx = 1'
    """
    edits: list[Edit] = []
    pieces: list[str] = []
    done = 0
    for start, zeros in _masks(text):
        end = start + len(zeros)
        edits.append(Edit(Span(start, end), (text[start:end],)))
        pieces += [text[done:start], zeros]
        done = end
    return Masked("".join([*pieces, text[done:]]), tuple(edits))


def _masks(text: str) -> Iterator[tuple[int, str]]:
    """Yield where each mask starts and what it reads, a line at a time."""
    at = 0
    while at < len(text):
        indent_end = _end(_INDENT, text, at)
        indent = text[at:indent_end]
        if text.startswith(_ESCAPES, indent_end):
            timed = _timed_statement(text, indent_end)
            if timed is not None:
                yield indent_end, "0" * (timed.start - indent_end - 1) + ";"
                at = _after_newline(text, timed.end)
                continue
            end = _end(_CONTINUED, text, indent_end)
            yield from _zeros(text, indent_end, end, indent)
            at = _after_newline(text, end)
            continue
        line = _logical_line(text, indent_end)
        if line.magic is not None:
            yield from _zeros(text, line.magic, line.end, indent)
        elif line.question is not None:
            yield from _zeros(text, indent_end, line.question, indent)
        at = _after_newline(text, line.end)


class _LogicalLine(Struct, frozen=True):
    end: int
    magic: int | None = None  # where ``%…`` or ``!…`` begins behind an assignment
    question: int | None = None  # the end of ``obj?``


def _logical_line(text: str, start: int) -> _LogicalLine:
    depth = 0
    at = last = start
    while token := _TOKEN.match(text, at):
        kind = token.lastgroup
        at = token.end()
        if kind == "newline" and depth <= 0:
            at = token.start()
            break
        if kind == "assign" and depth <= 0:
            return _LogicalLine(_end(_CONTINUED, text, at), magic=at)
        depth += (kind == "open") - (kind == "close")
        if kind not in {"comment", "space", "newline", "joined"}:
            last = at
    asks = last > start and text[last - 1] == "?"
    return _LogicalLine(at, question=last if asks else None)


def _timed_statement(text: str, start: int) -> Span | None:
    """Return the statement that a line magic measures, with the space before it."""
    magic = _STATEMENT_MAGIC.match(text, start)
    if magic is None:
        return None
    end = _logical_line(text, magic.end()).end
    if why_not_python("0;" + text[magic.end() : end]) is not None:
        return None
    return Span(magic.end(), end)


def _zeros(text: str, start: int, end: int, indent: str) -> Iterator[tuple[int, str]]:
    """Yield one mask a line: a continued magic becomes statements under each other."""
    starts = [start + offset for offset in line_starts(text[start:end])]
    for number, first in enumerate(starts):
        length = _end(_LINE, text, first) - first
        if first + length > end:
            length = end - first
        if number == 0:
            yield first, "0" * length
        elif length > len(indent):
            yield first, indent + "0" * (length - len(indent))
        elif length:
            yield first, " " * length


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _after_newline(text: str, at: int) -> int:
    return at + (2 if text.startswith("\r\n", at) else 1)
