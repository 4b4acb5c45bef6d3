"""`keras.utils.normalize(x, axis=0)` divides an array by norms of the wrong axis."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import replace_expression
from kdoctor.analysis.queries import Argument, functions
from kdoctor.analysis.tensors.constructors import ArrayForm
from kdoctor.analysis.tensors.rank import ranks_of
from kdoctor.model import Finding, Severity
from kdoctor.rules.rule import rule


def _is_zero(form: object) -> bool:
    return form == 0 and type(form) is int


@rule(
    "KD465",
    severity=Severity.ERROR,
    since="3.0",
    look_for=functions("utils.normalize").passing("x", place=0).argument("axis", 1, where=_is_zero),
)
def check(axis: Argument) -> Finding | None:
    """Report each such axis."""
    x = axis.argument("x", 0)
    if not isinstance(axis.node, cst.Integer):
        return None  # a name may stand for other axes, too
    array = None if x is None else ranks_of(axis.module).of(x.value)
    if array is None or array.form is not ArrayForm.ARRAY or (array.axes or 0) < 2:
        return None
    new = f"-{array.axes}"
    return axis.finding(
        "the norms of the first axis are applied to the last: ValueError: operands could not be "
        "broadcast together with shapes, or wrong numbers if the sizes fit",
        at=axis.arg,
        symbol=axis.name,
        help=f"Count the axis from the end: the array has {array.axes}, so the first is {new}.",
        fix=axis.fix(
            f"Write `{new}` instead of `0`", replace_expression(axis.module, axis.node, new)
        ),
    )
