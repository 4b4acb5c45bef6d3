"""Rewrite indentation that Python accepts and libcst cannot represent.

Python compares them by their width, a tab going on to the next multiple of eight: nine spaces are
deeper than a space and a tab. For libcst the one has to begin with the other.
"""

from __future__ import annotations

import ast

from kdoctor import parse_ast
from kdoctor.documents.layout import split_lines
from kdoctor.lazy_regex import pattern
from kdoctor.syntax.ast_walk import nodes_in

_INDENT = pattern(r"[ \t]*\t[ \t]*")


def with_spaces(text: str) -> str | None:
    """Return a text of the same length with a space for each tab that indents a line.

    None where that is no Python, or means something else.
    """
    try:
        tree = parse_ast.parse(text)
        lines = split_lines(text)
        inside = _inside_strings(tree)
        for at, line in enumerate(lines):
            indent = _INDENT.match(line)
            if indent is not None and at + 1 not in inside:
                lines[at] = " " * indent.end() + line[indent.end() :]
        spaced = "".join(lines)
        if spaced == text or ast.dump(parse_ast.parse(spaced)) != ast.dump(tree):
            return None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return spaced


def _inside_strings(tree: ast.Module) -> set[int]:
    """Return the lines, from 1, that begin inside of a string."""
    return {
        line
        for node in nodes_in(tree)
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno is not None
        for line in range(node.lineno + 1, node.end_lineno + 1)
    }
