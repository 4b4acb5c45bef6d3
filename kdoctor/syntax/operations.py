"""What operators make of what is known of their operands."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kdoctor.kinds import Kind, Type
from kdoctor.syntax.values import UNKNOWN, Value, is_tensor

_ORDERING = cst.LessThan | cst.LessThanEqual | cst.GreaterThan | cst.GreaterThanEqual


def operated(sides: Sequence[Value], are_numbers: Sequence[bool]) -> Value:
    """Return a symbolic tensor where an operand is one; else what both operands are."""
    for side in sides:
        if _is_symbolic(side):
            return side
    known = (is_tensor(side) or one for side, one in zip(sides, are_numbers, strict=True))
    return Value(Type(Kind.EAGER)) if any(map(is_tensor, sides)) and all(known) else UNKNOWN


def compared(sides: Sequence[Value], operator: cst.BaseCompOp) -> Value:
    """Return a symbolic tensor where an operand is one: neither `==` nor `is` makes one.

    Of two lists `!=` tells whether they differ, and makes none either.
    """
    if not isinstance(operator, cst.NotEqual | _ORDERING):
        return UNKNOWN
    surely = isinstance(operator, _ORDERING)
    found = (each for each in sides if _is_symbolic(each) and (surely or not each.may_be_several))
    return next(found, UNKNOWN)


def _is_symbolic(value: Value) -> bool:
    return value.type is not None and value.type.kind is Kind.TENSOR
