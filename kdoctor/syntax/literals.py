"""Fast values of literals: ``ast.literal_eval`` on libcst nodes.

Python's own makes four functions for each question, which hold each other and wait for the garbage
collector; most questions are about constants, or about what is no literal at all.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from kdoctor import parse_ast

if TYPE_CHECKING:
    import libcst as cst


def literal_value(node: ast.expr) -> object:
    """Return the value of a literal or of a display of literals.

    Raises:
        ValueError: it is something else.
        TypeError: it is a set or dict of what cannot be in one.
        RecursionError: it is nested too deeply.
    """
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Tuple(elts=elements):
            return tuple(map(literal_value, elements))
        case ast.List(elts=elements):
            return list(map(literal_value, elements))
        case ast.UnaryOp(
            op=ast.USub(), operand=ast.Constant(value=int() | float() | complex() as value)
        ) if not isinstance(value, bool):
            return -value
        case (
            ast.UnaryOp()
            | ast.BinOp(right=ast.Constant(value=complex()))  # `1 + 2j`
            | ast.Set()
            | ast.Dict()
            | ast.Call(args=[], keywords=[])  # `set()`
        ):
            return ast.literal_eval(node)
    raise ValueError("not a literal")


def literal_value_in(source: str) -> object:
    """Return the same for source text.

    Raises:
        SyntaxError: it is no expression.
        ValueError: it is no literal, or holds a null byte.
        TypeError: as above.
        RecursionError: as above.
        MemoryError: it is nested too deeply to be parsed.
    """
    # Most have no escape that may be invalid, and are asked by the thousand.
    parse = parse_ast.parse if "\\" in source else ast.parse
    return literal_value(parse(source.lstrip(" \t"), mode="eval").body)


def evaluated(
    node: cst.SimpleString | cst.ConcatenatedString | cst.Integer | cst.Float,
) -> object:
    """Return libcst's ``evaluated_value`` of a node, memoized.

    Of strings side by side of which one is formatted it is None.
    """
    text = getattr(node, "value", None)
    if text is not None:
        return literal_value_in(text)
    return node.evaluated_value
