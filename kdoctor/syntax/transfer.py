"""Transfer functions: result types of operators and calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from kdoctor.syntax.type_oracle import TypeOracle
from kdoctor.syntax.values import OPEN, UNKNOWN, Value, is_tensor, item_of
from kdoctor.value_types import EAGER_TENSOR, EAGER_TENSORS, Kind, Type

_ORDERING = cst.LessThan | cst.LessThanEqual | cst.GreaterThan | cst.GreaterThanEqual


def operator_result(sides: Sequence[Value], are_numbers: Sequence[bool]) -> Value:
    """Return a symbolic tensor if an operand is one; else the operands' common type."""
    for side in sides:
        if _is_symbolic(side):
            return side
    if OPEN in sides:
        return OPEN
    known = (is_tensor(side) or one for side, one in zip(sides, are_numbers, strict=True))
    return Value(EAGER_TENSOR) if any(map(is_tensor, sides)) and all(known) else UNKNOWN


def comparison_result(sides: Sequence[Value], operator: cst.BaseCompOp) -> Value:
    """Return a symbolic tensor if an operand is one, except for `==` and `is`.

    Of two lists `!=` tells whether they differ, and makes none either.
    """
    if not isinstance(operator, cst.NotEqual | _ORDERING):
        return UNKNOWN
    surely = isinstance(operator, _ORDERING)
    found = (each for each in sides if _is_symbolic(each) and (surely or not each.may_be_several))
    return next(found, UNKNOWN)


def call_result_on_tensors(name: str, given: Sequence[Value], oracle: TypeOracle) -> Value:
    """Return the result of an imported function on tensors."""
    types = {each.type.kind: each.type for each in reversed(given) if each.type is not None}
    if Kind.TENSOR not in types and OPEN in given:
        return OPEN
    tensor = types.get(Kind.TENSOR) or types.get(Kind.EAGER)
    return UNKNOWN if tensor is None else Value(oracle.applied_type(name, tensor))


def depends_on_first_argument(callee: Type | None) -> bool:
    """Say whether the result of calling an instance depends on its first argument."""
    return callee is not None and callee.kind in {Kind.LAYER, Kind.MODEL}


def instance_call_result(callee: Type, first: Callable[[], Value], oracle: TypeOracle) -> Value:
    """Return the result of calling an instance, given its first argument."""
    if not depends_on_first_argument(callee):
        return UNKNOWN
    given = first()
    if given.is_open:
        return given
    kind = given.type.kind if given.type is not None else None
    item = item_of(given)
    if kind is Kind.LIST and item.type is not None:
        kind = item.type.kind
    if kind is not Kind.TENSOR and kind is not Kind.EAGER:
        return UNKNOWN
    symbolic = Value(oracle.member_type(callee, "__call__", called=True))
    if kind is Kind.TENSOR:
        return symbolic
    return Value(EAGER_TENSORS if symbolic.may_be_several else EAGER_TENSOR)


def _is_symbolic(value: Value) -> bool:
    return value.type is not None and value.type.kind is Kind.TENSOR
