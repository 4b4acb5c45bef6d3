"""A NumPy number or array is combined with a symbolic tensor or a weight."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import has_builtin, hidden_builtin
from kdoctor.analysis.queries import imported
from kdoctor.analysis.queries.conditions import package, word
from kdoctor.analysis.queries.operations import SIGNS, Operation, operations
from kdoctor.analysis.queries.sorts import of_kind
from kdoctor.analysis.tensors.numpy_scalars import MAKERS, OF_NUMPY, NumpyScalars, of_numpy
from kdoctor.analysis.tensors.symbolic import RUN_WITH_VALUES, SYMBOLIC, is_symbolic
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
from kdoctor.value_types import Context, Kind

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


# TensorFlow's own variables make a tensor of the other side.
_REFUSING: Final = of_kind(Kind.TENSOR, Kind.VARIABLE, where=lambda each: not each.is_tf_variable)


# NumPy and tensors are in most files: which operator meets both tells.
@rule(
    "KD523",
    severity=Severity.ERROR,
    since="3.0",
    look_for=operations(*SIGNS, of=OF_NUMPY, with_=_REFUSING).beside(
        package("numpy"),
        SYMBOLIC | word("Variable", *_WEIGHTS),
        imported(*MAKERS).even(hidden=True),
    ),
)
def check(met: Operation) -> Finding | None:
    """Report each operator between something of NumPy and a symbolic tensor or a weight."""
    if isinstance(met.node, cst.Comparison) and (len(met.node.comparisons) > 1 or not met.is_first):
        return None
    runs = met.module.context_of(met.node)
    found = of_numpy(met.module, met.one)
    assert found is not None
    if is_symbolic(met.module, met.other):
        if met.is_first and runs not in RUN_WITH_VALUES and not _is_in_a_lambda(met):
            return _finding(met, found, _SYMBOLIC, Severity.ERROR)
    elif runs in RUN_WITH_VALUES and met.is_first:
        told = (
            "no gradient flows through it in eager mode, and a graph raises NotImplementedError: …"
        )
        in_a_graph = runs is not Context.TRAIN_LOOP
        return _finding(met, found, told, Severity.ERROR if in_a_graph else Severity.CHANGE)
    elif runs in RUN_WITH_VALUES and found.is_double:
        told = "it becomes a float64 tensor, and TensorFlow does not mix dtypes: TypeError: …"
        is_sure = runs is Context.CALL and _meets_another(met.module, met.node)
        return _finding(met, found, told, Severity.ERROR if is_sure else Severity.CHANGE)
    return None


def _is_in_a_lambda(met: Operation) -> bool:
    """Say whether the code is handed to a layer, as the function of a ``Lambda``."""
    return any(isinstance(each, cst.Lambda) for each in met.module.ancestors(met.node))


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


def _finding(met: Operation, found: NumpyScalars, told: str, severity: Severity) -> Finding:
    is_tensor = is_symbolic(met.module, met.other)
    side = "left" if met.is_first else "right"
    what = "a symbolic tensor" if is_tensor else "a weight"
    shown = met.source(met.one)
    named = f"the NumPy value `{shown}`" if len(shown) < 40 else "a NumPy value"
    fix = _fix(met, found)
    return met.finding(
        f"{named} is to the {side} of {what}: {told}",
        symbol="KerasTensor" if is_tensor else "keras.Variable",
        severity=severity,
        help="Convert it to a tensor: `keras.ops.convert_to_tensor(array, x.dtype)`."
        if isinstance(fix, NoFix)
        else f"{fix.title}.",
        fix=fix,
    )


def _fix(met: Operation, found: NumpyScalars) -> Fix | NoFix:
    module, python = met.module, found.python
    if python and not has_builtin(module, met.node, python):
        return NoFix(hidden_builtin(python))
    if found.is_one is False:
        return NoFix("an array has to become a tensor with the dtype of the other operand")
    place = module.outer_span(met.one)
    parts: tuple[str | Hole, ...]
    if python:
        parts = (f"{python}(", Hole(module.span(met.one)), ")")
        title = f"Convert it to a Python number with `{python}(…)`"
    else:
        parts = (Hole(place, Precedence.PRIMARY, precedence_of(met.one)), ".item()")
        title = "Convert it to a Python number with `.item()`"
    return met.fix(
        title,
        Edit(place, parts, Precedence.PRIMARY),
        unsafe_because="" if found.is_one else "it may be an array, not a single number",
    )
