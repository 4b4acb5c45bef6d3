"""Line numbers of the keys in a TOML file, which tomllib does not report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kdoctor.lazy_regex import pattern

Path = tuple[str, ...]

_QUOTED = r'"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'"
_PART = pattern(rf"[ \t]*(?:([A-Za-z0-9_-]+)|({_QUOTED}))[ \t]*")
# A string of several lines, of one line, a comment, a bracket, the end of a line, all else.
_TOKEN: Final = pattern(
    rf"""\"{{3}}(?:\\.|[^\\])*?\"{{3,5}}|'{{3}}.*?'{{3,5}}|{_QUOTED}|#[^\n]*|[\[\]{{}}\n]|"""
    r"""[^"'#\[\]{}\n]+""",
    re.DOTALL,
)


def key_lines(text: str) -> dict[Path, int]:
    r"""Return the line of each table and key by its full path, except inside inline tables.

    >>> key_lines('[tool.kdoctor]\nignore = [\n]\n"a b".c = 1')
    {('tool', 'kdoctor'): 1, ('tool', 'kdoctor', 'ignore'): 2, ('tool', 'kdoctor', 'a b', 'c'): 4}
    """
    lines: dict[Path, int] = {}
    table: Path = ()
    for start in _statements(text):
        line = text.count("\n", 0, start) + 1
        if text.startswith("[", start):
            table, _ = _key(text, start + text.startswith("[[", start) + 1)
            lines.setdefault(table, line)
        else:
            key, end = _key(text, start)
            if key and text.startswith("=", end):
                lines.setdefault((*table, *key), line)
    return lines


def _statements(text: str) -> Iterator[int]:
    """Yield where each table's head and each key begins."""
    depth, at_start = 0, True
    for token in _TOKEN.finditer(text):
        first = token[0][0]
        if first == "\n" and depth <= 0:
            depth, at_start = 0, True
            continue
        if at_start and first != "#" and not token[0].isspace():
            yield token.end() - len(token[0].lstrip())
            at_start = False
        depth += (first in "[{") - (first in "]}")


def _key(text: str, at: int) -> tuple[Path, int]:
    """Read a dotted key: its parts, and where it ends."""
    parts: list[str] = []
    while part := _PART.match(text, at):
        parts.append(part[1] or part[2][1:-1])
        at = part.end()
        if not text.startswith(".", at):
            break
        at += 1
    return tuple(parts), at
