"""``.numpy()`` of what a model, a layer or ``keras.ops`` gives: no array of JAX has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.backends.checks import asks_for_the_backend
from kdoctor.analysis.backends.tensorflow_only import stands_beside_a_tape
from kdoctor.analysis.calls import speller_at, value_of
from kdoctor.analysis.facts import BACKEND_NAMES
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import ASKS_OTHER_BACKENDS, member
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of, required_precedence
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_MEMBER: Final = "numpy"
_CONVERTS: Final = "keras.ops.convert_to_numpy"
_GIVE_TENSORS: Final = (Kind.LAYER, Kind.MODEL, Kind.LOSS)
_OPS: Final = "ops."
_NO_TENSORS: Final = frozenset({"convert_to_numpy", "is_tensor", "ndim", "shape", "size"})
_NO_AXES: Final = "of a tensor without axes it gives an array, where `.numpy()` gives a number"
_RAISED: Final = {
    "jax": "on JAX, AttributeError: 'jaxlib._jax.ArrayImpl' object has no attribute 'numpy'",
    "torch": "on PyTorch, RuntimeError: Can't call numpy() on Tensor that requires grad.",
}


@rule(
    "KD821",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(ASKS_OTHER_BACKENDS & member(_MEMBER)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each call of the method on such a tensor."""
    module = file.module
    for node in module.attributes:
        call = module.parent(node)
        is_called = isinstance(call, cst.Call) and call.func is node and not call.args
        if node.attr.value != _MEMBER or not is_called or module.is_guarded(node):
            continue
        if not _is_tensor_of_keras(module, node.value):
            continue
        if stands_beside_a_tape(module, node) or asks_for_the_backend(module, node):
            continue
        raised = "; ".join(_RAISED[each] for each in BACKEND_NAMES if each in file.facts.backends)
        yield file.finding(
            f"it is a method of tensors of TensorFlow: {raised}",
            at=node,
            symbol=f"Tensor.{_MEMBER}",
            help=f"Write `{_CONVERTS}(…)`.",
            fix=_fix(file, node),
        )


def _is_tensor_of_keras(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether a model, a layer, a loss, a metric or ``keras.ops`` gives a value."""
    made = value_of(module, node)
    while isinstance(made, cst.Subscript):
        made = value_of(module, made.value)
    if not isinstance(made, cst.Call):
        return False
    called = module.type_of(made.func)
    if called is not None:
        return called.kind in _GIVE_TENSORS
    if isinstance(made.func, cst.Attribute) and made.func.attr.value == "result":
        owner = module.type_of(made.func.value)
        return owner is not None and owner.kind is Kind.METRIC
    split = split_root(module.qualified(made.func) or "")
    return (
        split is not None
        and split[1].startswith(_OPS)
        and split[1].rpartition(".")[2] not in _NO_TENSORS
    )


def _fix(file: File, node: cst.Attribute) -> Fix | NoFix:
    module, call = file.module, file.module.parent(node)
    assert isinstance(call, cst.Call)
    span, inner = module.span(call), module.outer_span(node.value)
    if "#" in module.text[inner.end : span.end]:
        return NoFix("there is a comment inside the expression")
    spelled, need = speller_at(module, node).spell(_CONVERTS)
    hole = Hole(inner, Precedence.ANY, precedence_of(node.value))
    required = required_precedence(module.parent(call), call)
    edit = Edit(span, (f"{spelled}(", hole, ")"), Precedence.PRIMARY, required)
    return file.fix(f"Write `{_CONVERTS}`", edit, imports=(need,), unsafe_because=_NO_AXES)
