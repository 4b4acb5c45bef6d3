"""A NumPy number or array is combined with a symbolic tensor or a weight."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import has_builtin, hidden_builtin
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import package, word
from kdoctor.analysis.tensors.numpy_scalars import MAKERS, NumpyScalars, may_be_of_numpy, of_numpy
from kdoctor.analysis.tensors.symbolic import RUN_WITH_VALUES, SYMBOLIC, is_symbolic
from kdoctor.analysis.triggers import Operator, Trigger, may_have_kind, some_operator
from kdoctor.keras_api.returns import CALLED, MEMBERS
from kdoctor.model import (
    Edit,
    Finding,
    Fix,
    Hole,
    NoFix,
    Precedence,
    Severity,
)
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Context, Kind

if TYPE_CHECKING:
    from kdoctor.syntax.may_types import MayTypes
    from kdoctor.syntax.symbol_table import Namespace

_OPERATORS: Final = (
    *(cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.FloorDivide, cst.Modulo, cst.Power),
    cst.MatrixMultiply,
)
_COMPARISONS: Final = (
    *(cst.Equal, cst.NotEqual, cst.GreaterThan, cst.GreaterThanEqual),
    *(cst.LessThan, cst.LessThanEqual),
)
_SYMBOLIC: Final = (
    "ValueError: A KerasTensor is symbolic: it's a placeholder for a shape an a dtype"
)
_WEIGHTS: Final = frozenset(
    name
    for given in (MEMBERS, CALLED)
    for (_, name), made in given.items()
    if Kind.VARIABLE in {made.kind, made.item.kind if made.item else None}
)
"""The members that are weights, hold some, or make one."""
_MIX_NO_DTYPES: Final = frozenset({
    "tensorflow.matmul", "tensorflow.linalg.matmul", "tensorflow.nn.conv2d",
})  # fmt: skip


class _Met(Struct, frozen=True):
    """An operator that meets both, and which side is NumPy's."""

    node: cst.CSTNode
    numpys: cst.BaseExpression
    other: cst.BaseExpression
    found: NumpyScalars
    is_first: bool


def _may_meet(quick: QuickFacts, facts: TargetFacts) -> bool:
    def meets(possible: MayTypes, node: Operator, space: Namespace) -> bool:
        if isinstance(node, ast.BinOp):
            sides = [(node.left, node.right), (node.right, node.left)]
        else:
            sides = [(node.left, node.comparators[0])]
        return any(
            may_be_of_numpy(quick, possible.symbol_table, numpys)
            and may_have_kind(possible, other, space, {Kind.TENSOR, Kind.VARIABLE})
            for numpys, other in sides
        )

    return not MAKERS.isdisjoint(quick.calls_by_meaning) and some_operator(quick, facts, meets)


@rule(
    "KD523",
    severity=Severity.ERROR,
    since="3.0",
    # NumPy and tensors are in most files: which operator meets both tells.
    look_for=files(package("numpy"), SYMBOLIC | word("Variable", *_WEIGHTS), Trigger(_may_meet)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each operator between something of NumPy and a symbolic tensor or a weight."""
    module = file.module
    for met in _meetings(module):
        runs = module.context_of(met.node)
        if is_symbolic(module, met.other):
            if met.is_first and runs not in RUN_WITH_VALUES and not _is_in_a_lambda(module, met):
                yield _finding(file, met, _SYMBOLIC, Severity.ERROR)
        elif runs in RUN_WITH_VALUES and met.is_first:
            told = (
                "no gradient flows through it in eager mode, and a graph raises "
                "NotImplementedError: …"
            )
            in_a_graph = runs is not Context.TRAIN_LOOP
            yield _finding(file, met, told, Severity.ERROR if in_a_graph else Severity.CHANGE)
        elif runs in RUN_WITH_VALUES and met.found.is_double:
            told = "it becomes a float64 tensor, and TensorFlow does not mix dtypes: TypeError: …"
            is_sure = runs is Context.CALL and _meets_another(module, met.node)
            yield _finding(file, met, told, Severity.ERROR if is_sure else Severity.CHANGE)


def _meetings(module: Module) -> Iterator[_Met]:
    for node, left, right, is_comparison in _operations(module):
        # The cheaper question first: most operators meet neither.
        for numpys, other, is_first in ((left, right, True), (right, left, False)):
            if is_comparison and not is_first:
                continue
            if not _may_refuse(module, other) or module.is_guarded(node):
                continue
            found = of_numpy(module, numpys)
            if found is not None:
                yield _Met(node, numpys, other, found, is_first)


def _operations(
    module: Module,
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression, cst.BaseExpression, bool]]:
    for operation in module.nodes(cst.BinaryOperation):
        if isinstance(operation.operator, _OPERATORS):
            yield operation, operation.left, operation.right, False
    for compared in module.nodes(cst.Comparison):
        match compared.comparisons:
            case [cst.ComparisonTarget(operator=operator, comparator=second)] if isinstance(
                operator, _COMPARISONS
            ):
                yield compared, compared.left, second, True


def _may_refuse(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it surely is a symbolic tensor, or a weight of Keras."""
    found = module.type_of(node)
    if found is None:
        return False
    # TensorFlow's own variables make a tensor of the other side.
    is_weight = found.kind is Kind.VARIABLE and not found.is_tf_variable
    return is_weight or found.kind is Kind.TENSOR


def _is_in_a_lambda(module: Module, met: _Met) -> bool:
    """Say whether the code is handed to a layer, as the function of a ``Lambda``."""
    return any(isinstance(each, cst.Lambda) for each in module.ancestors(met.node))


def _meets_another(module: Module, node: cst.CSTNode) -> bool:
    """Say whether what comes out meets something of `call`: an operator, or `tf.matmul(x, …)`."""
    parent = module.parent(node)
    if isinstance(parent, cst.BinaryOperation):
        other = parent.right if parent.left is node else parent.left
        found = module.type_of(other)
        return not isinstance(other, cst.BaseNumber) and found is None
    call = module.parent(parent) if isinstance(parent, cst.Arg) else None
    if not isinstance(call, cst.Call) or len(call.args) < 2:
        return False
    return module.qualified(call.func) in _MIX_NO_DTYPES


def _finding(file: File, met: _Met, told: str, severity: Severity) -> Finding:
    is_tensor = is_symbolic(file.module, met.other)
    side = "left" if met.is_first else "right"
    what = "a symbolic tensor" if is_tensor else "a weight"
    shown = file.source(met.numpys)
    named = f"the NumPy value `{shown}`" if len(shown) < 40 else "a NumPy value"
    fix = _fix(file, met)
    return file.finding(
        f"{named} is to the {side} of {what}: {told}",
        at=met.node,
        symbol="KerasTensor" if is_tensor else "keras.Variable",
        severity=severity,
        help="Convert it to a tensor: `keras.ops.convert_to_tensor(array, x.dtype)`."
        if isinstance(fix, NoFix)
        else f"{fix.title}.",
        fix=fix,
    )


def _fix(file: File, met: _Met) -> Fix | NoFix:
    module, python = file.module, met.found.python
    if python and not has_builtin(module, met.node, python):
        return NoFix(hidden_builtin(python))
    if met.found.is_one is False:
        return NoFix("an array has to become a tensor with the dtype of the other operand")
    place = module.outer_span(met.numpys)
    parts: tuple[str | Hole, ...]
    if python:
        parts = (f"{python}(", Hole(module.span(met.numpys)), ")")
        title = f"Convert it to a Python number with `{python}(…)`"
    else:
        parts = (Hole(place, Precedence.PRIMARY, precedence_of(met.numpys)), ".item()")
        title = "Convert it to a Python number with `.item()`"
    return file.fix(
        title,
        Edit(place, parts, Precedence.PRIMARY),
        unsafe_because="" if met.found.is_one else "it may be an array, not a single number",
    )
