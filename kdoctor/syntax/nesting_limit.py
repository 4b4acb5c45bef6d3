"""Limit how deeply a statement may be nested.

libcst takes two seconds for a sum of 1,000 terms and minutes for one of 5,000, and much of what is
asked of a node goes up to its statement. Python itself runs no more than 3,000 levels; people write
some dozens.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from msgspec import Struct

from kdoctor.lazy_regex import pattern

MAX_LEVELS: Final = 500
"""Levels of nodes; each term of a sum is one, and so is each ``elif``."""

# Characters: fewer cannot nest deeply enough to exhaust a usual stack.
_MIN_DEEP_LENGTH: Final = 4000
_MIN_DEEP_LINES: Final = MAX_LEVELS // 4  # lines of a statement that may be deep
_BRACKETS_AND_LINES = pattern(rb"\(+|\)+|\n+")
_AS_ROUND: Final = bytes.maketrans(b"[]{}", b"()()")
_ALL_ELSE: Final = bytes({*range(256)} - {*b"()[]{}\n"})
_GO_ON: Final = frozenset({"elif", "else", "except", "finally"})  # with a statement of its level
_ROUNDS: Final = 8  # people nest less deeply within a line


class Extent(Struct, frozen=True):
    """Size bounds of a text's statements, from its lines alone."""

    length: int  # characters
    longest_line: int  # characters
    joined_lines: int  # by a bracket or by backslashes, at most
    brackets: int  # levels, at most
    elifs: int

    @classmethod
    def of(cls, text: str) -> Extent:
        """Look at the lines of ``text``."""
        longest = max(map(len, text.split("\n")))
        lines, levels = _most_brackets(text)
        joined = max(lines, text.count("\\\n"))
        return cls(len(text), longest, joined, levels, text.count("elif"))

    @property
    def needs_a_deep_stack(self) -> bool:
        """Whether a parser that recurses may exhaust a usual stack with a statement of it."""
        statement = self.longest_line * (self.joined_lines + 1)
        return self.length >= _MIN_DEEP_LENGTH and (
            statement >= _MIN_DEEP_LENGTH or self.elifs > _MIN_DEEP_LINES
        )

    @property
    def may_be_deep(self) -> bool:
        """Whether a statement may be nested too deeply: no of almost every text."""
        return self.length >= MAX_LEVELS and (
            self.longest_line > MAX_LEVELS
            or self.elifs > _MIN_DEEP_LINES
            or self.joined_lines > _MIN_DEEP_LINES
        )


def deep_line(text: str, extent: Extent, parse: Callable[[str], ast.Module]) -> int | None:
    """Return the line (from 1) of the first too deeply nested statement, if any.

    ``parse`` is Python's own parser, with as much room as it needs.
    """
    if not extent.may_be_deep:
        return None
    try:
        tree = parse(text)
    except (SyntaxError, ValueError):
        return None  # libcst says what is wrong with it
    except (RecursionError, MemoryError):
        return _line_of_the_longest(text)
    return next((each.lineno for each in tree.body if _is_deep(each)), None)


def _most_brackets(text: str) -> tuple[int, int]:
    """Return over how many lines and levels brackets stay open at most, as if no string held any.

    Those that close within their line, nearly all, are taken out first.
    """
    brackets = text.encode("ascii", "replace").translate(_AS_ROUND, _ALL_ELSE)
    within = 0
    while within < _ROUNDS and b"()" in brackets:
        brackets = brackets.replace(b"()", b"")
        within += 1
    depth = deepest = longest = lines = 0
    for found in _BRACKETS_AND_LINES.findall(brackets):
        if found[:1] == b"\n":
            lines = lines + len(found) if depth else 0
            longest = max(longest, lines)
        elif found[:1] == b"(":
            depth += len(found)
            deepest = max(deepest, depth)
        else:
            depth = max(0, depth - len(found))
    return longest, deepest + within


def _line_of_the_longest(text: str) -> int:
    """Return the line (from 1) of the statement that goes on for longest.

    Python's own parser gave up: in 3.12, it does at 3,000 levels whatever room it has.
    """
    longest = size = elifs = 0
    start = found = 1
    level = 0
    with suppress(tokenize.TokenError, SyntaxError):  # what comes after that is unknown
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
                level += (token.type == tokenize.INDENT) - (token.type == tokenize.DEDENT)
                size = 0
            elif token.type not in (tokenize.NL, tokenize.COMMENT):
                if not (size or level or token.string in _GO_ON):
                    start, elifs = token.start[0], 0
                size += 1
                elifs += token.string == "elif"
                if max(size, elifs) > longest:
                    longest, found = max(size, elifs), start
    return found


def _is_deep(statement: ast.stmt) -> bool:
    waiting: list[tuple[ast.AST, int]] = [(statement, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_LEVELS:
            return True
        waiting += [(child, depth + 1) for child in ast.iter_child_nodes(node)]
    return False
