"""Which expressions of a glimpse may be shapes, for ``shape_is_a_tuple``."""

from __future__ import annotations

import ast
from typing import Final

from kdoctor.syntax.glimpse import Glimpse

GIVEN_A_SHAPE: Final = frozenset({"build", "compute_output_shape"})
"""The methods of a layer to which Keras passes a shape first."""


def may_be_a_shape(glimpse: Glimpse, node: ast.expr) -> bool:
    """Say whether an expression may be a shape, a part of one, or one of its items."""
    given = {name for each in glimpse.nodes.get(ast.FunctionDef, ()) for name in _given(each)}
    waiting, seen = [node], set[str]()
    for each in waiting:  # it grows meanwhile
        match each:
            case ast.Name(id=name) if name in given:
                return True
            case ast.Name(id=name) if name not in seen:
                seen.add(name)
                waiting += glimpse.values_of(each)
            case ast.Attribute(attr=member) if member == "shape" or member in glimpse.stores:
                return True
            case ast.Call(func=ast.Attribute(attr="get_shape")):
                return True
            case ast.Subscript():
                waiting.append(each.value)
    return False


def _given(function: ast.FunctionDef) -> list[str]:
    """Return which parameter of a function may be the shape that Keras passes."""
    shape = function.args.args[1:2] if function.name in GIVEN_A_SHAPE else ()
    return [each.arg for each in shape]
