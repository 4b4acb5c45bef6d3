"""How deeply one statement may be nested.

libcst takes two seconds for a sum of 1,000 terms and minutes for one of 5,000, and much of what is
asked of a node goes up to its statement. Python itself runs no more than 3,000 levels; people write
some dozens.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable
from typing import Final

MOST: Final = 500
"""Levels of nodes; each term of a sum is one, and so is each ``elif``."""

_LONG: Final = MOST  # characters of a line that may hold that many
_MANY: Final = MOST // 4  # lines of a statement that may
_BRACKETS_AND_LINES = re.compile(r"[(\[{]+|[)\]}]+|\n")


def deep_line(text: str, parse: Callable[[str], ast.Module]) -> int | None:
    """Return the line (from 1) of the first statement that is nested too deeply, None if none is.

    ``parse`` is Python's own parser, with as much room as it needs.
    """
    if not _may_be_deep(text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in the user's strings are no news
            tree = parse(text)
    except (SyntaxError, ValueError):
        return None  # libcst says what is wrong with it
    except (RecursionError, MemoryError):
        return _longest_line(text)
    return next((each.lineno for each in tree.body if _is_deep(each)), None)


def _may_be_deep(text: str) -> bool:
    """Say no of almost every text, by its lines alone."""
    if len(text) < MOST:
        return False
    return (
        max(map(len, text.split("\n"))) > _LONG
        or text.count("elif") > _MANY
        or text.count("\\\n") > _MANY
        or _longest_bracket(text) > _MANY
    )


def _longest_bracket(text: str) -> int:
    """Return over how many lines brackets stay open at most, as if no string held any."""
    depth = longest = lines = 0
    for found in _BRACKETS_AND_LINES.findall(text):
        if found == "\n":
            lines = lines + 1 if depth else 0
            longest = max(longest, lines)
        elif found[0] in "([{":
            depth += len(found)
        else:
            depth = max(0, depth - len(found))
    return longest


def _longest_line(text: str) -> int:
    lengths = [len(line) for line in text.split("\n")]
    return lengths.index(max(lengths)) + 1


def _is_deep(statement: ast.stmt) -> bool:
    waiting: list[tuple[ast.AST, int]] = [(statement, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MOST:
            return True
        waiting += [(child, depth + 1) for child in ast.iter_child_nodes(node)]
    return False
