"""A variable is the left operand of an operator, and a symbolic tensor the right one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import word
from kdoctor.analysis.tensors.symbolic import REFUSED, RUN_WITH_VALUES, SYMBOLIC, is_symbolic
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rewrite.expression_context import span_for_a_call
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_FUNCTIONS: Final[dict[type[cst.BaseBinaryOp | cst.BaseCompOp], str]] = {
    cst.Add: "add",
    cst.Subtract: "subtract",
    cst.Multiply: "multiply",
    cst.Divide: "true_divide",
    cst.FloorDivide: "floor_divide",
    cst.Modulo: "mod",
    cst.Power: "power",
    cst.MatrixMultiply: "matmul",
    cst.Equal: "equal",
    cst.NotEqual: "not_equal",
    cst.GreaterThan: "greater",
    cst.GreaterThanEqual: "greater_equal",
    cst.LessThan: "less",
    cst.LessThanEqual: "less_equal",
}
_IN_PLACE: Final[dict[type[cst.BaseAugOp], type[cst.BaseBinaryOp]]] = {
    cst.AddAssign: cst.Add,
    cst.SubtractAssign: cst.Subtract,
    cst.MultiplyAssign: cst.Multiply,
    cst.DivideAssign: cst.Divide,
    cst.FloorDivideAssign: cst.FloorDivide,
    cst.ModuloAssign: cst.Modulo,
    cst.PowerAssign: cst.Power,
}
_NO_FIX = "the expression contains a comment, or the result is not assigned to a plain name"


class _Met(Struct, frozen=True):
    """An operator that meets both, and the function of ``keras.ops`` that does the same."""

    node: cst.BinaryOperation | cst.Comparison | cst.AugAssign
    left: cst.BaseExpression
    right: cst.BaseExpression
    function: str


@rule("KD519", severity=Severity.ERROR, since="3.0", look_for=files(SYMBOLIC, word("Variable")))
def check(file: File) -> Iterator[Finding]:
    """Report each operator between a variable and a symbolic tensor."""
    module = file.module
    if "Variable" not in module.words:
        return
    for met in _operations(module):
        compares = isinstance(met.node, cst.Comparison)
        if (
            _refuses(module, met.left, compares=compares)
            and is_symbolic(module, met.right)
            and module.context_of(met.node) not in RUN_WITH_VALUES
            and not module.is_guarded(met.node)
        ):
            yield _finding(file, met)


def _operations(module: Module) -> Iterator[_Met]:
    """Yield what Python asks its left side about."""
    for operation in module.nodes(cst.BinaryOperation):
        if type(operation.operator) in _FUNCTIONS:
            function = _FUNCTIONS[type(operation.operator)]
            yield _Met(operation, operation.left, operation.right, function)
    for compared in module.nodes(cst.Comparison):
        if len(compared.comparisons) == 1:
            second = compared.comparisons[0]
            if type(second.operator) in _FUNCTIONS:
                function = _FUNCTIONS[type(second.operator)]
                yield _Met(compared, compared.left, second.comparator, function)
    for changed in module.nodes(cst.AugAssign):
        if type(changed.operator) in _IN_PLACE:
            function = _FUNCTIONS[_IN_PLACE[type(changed.operator)]]
            yield _Met(changed, changed.target, changed.value, function)


def _refuses(module: Module, node: cst.BaseExpression, *, compares: bool) -> bool:
    found = module.type_of(node)
    refusing = ("Variable", "ResourceVariable") if compares else ("Variable",)
    return found is not None and found.kind is Kind.VARIABLE and found.cls in refusing


def _finding(file: File, met: _Met) -> Finding:
    fix = _fix(file, met)
    return file.finding(
        f"the variable `{file.source(met.left)}` is to the left of a symbolic tensor: {REFUSED}",
        at=met.node,
        symbol="keras.Variable",
        help=f"Use `keras.ops.{met.function}`." if isinstance(fix, NoFix) else f"{fix.title}.",
        fix=fix,
    )


def _fix(file: File, met: _Met) -> Fix | NoFix:
    module, why_not = file.module, NoFix(_NO_FIX)
    whole = span_for_a_call(module, met.node)
    first, second = module.span(met.left), module.span(met.right)
    gaps = (whole.start, first.start), (first.end, second.start), (second.end, whole.end)
    if any("#" in module.text[start:end] for start, end in gaps):
        return why_not
    written, need = speller_at(module, met.node).spell(f"keras.ops.{met.function}")
    start = ""
    if isinstance(met.node, cst.AugAssign):
        # A variable has no way to change in place: the name gets the result.
        if not isinstance(met.left, cst.Name):
            return why_not
        start = f"{met.left.value} = "
    parts = (f"{start}{written}(", Hole(first), ", ", Hole(second), ")")
    return file.fix(f"Write `{written}`", Edit(whole, parts), imports=[need])
