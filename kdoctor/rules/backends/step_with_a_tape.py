"""A gradient tape in a model or a layer: JAX and PyTorch compute gradients in other ways."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.backends.checks import asks_for_the_backend
from kdoctor.analysis.dataflow.captures import function_around
from kdoctor.analysis.facts import BACKEND_NAMES, TargetFacts
from kdoctor.analysis.models.user_classes import class_around, kind_of_class
from kdoctor.analysis.queries import Name, references
from kdoctor.keras_api.tensorflow_aliases import by_the_short_way
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.backends._training_steps import for_all_backends
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_TAPE: Final = "tensorflow.GradientTape"
_IN_ITS_WAY: Final = "each backend computes gradients in its own way"
_STEPS: Final = frozenset({"train_step", "test_step", "predict_step"})


def _is_tape(facts: TargetFacts, name: str) -> bool:
    return bool(facts.backends) and by_the_short_way(name) == _TAPE


@rule(
    "KD815",
    severity=Severity.ERROR,
    since="3.0",
    look_for=references("GradientTape", where=_is_tape),
)
def check(name: Name) -> Finding | None:
    """Report each such tape."""
    module = name.module
    function = function_around(module, name.node)
    owner = class_around(module, name.node)
    if function is None or owner is None or name.reference.call is None:
        return None
    if kind_of_class(module, owner) not in {Kind.MODEL, Kind.LAYER}:
        return None
    if asks_for_the_backend(module, name.node):
        return None
    others = " and ".join(BACKEND_NAMES[each] for each in name.facts.backends)
    method = getattr(function, "name", None)
    is_step = method is not None and method.value in _STEPS
    return name.finding(
        f"a gradient tape watches tensors of TensorFlow only: this fails on {others}",
        help="Override `compute_loss` where only the loss is another one; else write the step for "
        "each backend: `kdoctor rules KD815` has all three."
        if is_step
        else "`keras.ops` has no gradients: `kdoctor reference gradient_penalty` shows how each "
        "backend is asked for them.",
        fix=_fix(name, owner, function),
    )


def _fix(name: Name, owner: cst.ClassDef, function: cst.CSTNode) -> Fix | NoFix:
    if not isinstance(function, cst.FunctionDef) or function.name.value not in _STEPS:
        return NoFix(_IN_ITS_WAY)
    written = for_all_backends(name.module, owner, function)
    if isinstance(written, NoFix):
        return written
    return name.fix(
        written.title,
        *written.edits,
        imports=written.imports,
        unsafe_because=written.unsafe_because,
    )
