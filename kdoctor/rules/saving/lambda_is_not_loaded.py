"""A model with `Lambda(lambda …)` is saved or copied, and Keras refuses to recreate it."""

from __future__ import annotations

from typing import Final

import libcst as cst
from packaging.version import Version

from kdoctor.analysis.calls import (
    add_keyword,
    argument,
    is_hidden,
    keras_version,
    speller_at,
)
from kdoctor.analysis.dataflow.points_to_by_call import PointsToByCall, points_to_by_call_of
from kdoctor.analysis.queries import Call, Instance, constructs, functions
from kdoctor.analysis.queries.forms import Expression
from kdoctor.model import Confidence, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.rules.saving._save_and_load_calls import (
    FileUse,
    PathUse,
    file_uses,
    is_same_path,
    model_of,
    saves,
)
from kdoctor.value_types import Kind

_ERROR = (
    "ValueError: Requested the deserialization of a `Lambda` layer whose `function` is a Python "
    "lambda"
)
_REFUSES_H5 = Version("3.11.3")
_REFUSES_COPIES = Version("3.15")
_COPY = "models.clone_model"
_SWITCH = "enable_unsafe_deserialization"


_LAMBDAS: Final = (
    constructs(Instance(Kind.LAYER, "Lambda"))
    .even(hidden=True, guarded=True)
    .argument("function", 0, where=lambda form: form == Expression("Lambda"))
)


@rule(
    "KD608",
    severity=Severity.ERROR,
    since="3.0",
    look_for=(file_uses("load") | functions(_COPY)).beside(_LAMBDAS),
)
def check(found: FileUse | Call) -> Finding | None:
    """Report each such load."""
    if _SWITCH in found.module.text:
        return None
    lambdas = frozenset(each.call for each in _LAMBDAS.find(found.module, found.facts))
    if isinstance(found, Call):
        return _copy(found, lambdas)
    return _load(found, lambdas)


def _copy(copy: Call, lambdas: frozenset[cst.Call]) -> Finding | None:
    if keras_version(copy.facts) < _REFUSES_COPIES or copy.argument("clone_function", 2):
        return None
    copied = copy.argument("model", 0)
    by_call = points_to_by_call_of(copy.module)
    if copied is None or not _may_have(by_call, copy.call, copied.value, lambdas):
        return None
    is_sure = _has(by_call, copy.call, copied.value, lambdas)
    return copy.finding(
        f"a `Lambda` layer with a Python lambda cannot be copied: {_ERROR}",
        confidence=None if is_sure else Confidence.LIKELY,
        help="Replace the `Lambda` with a custom layer, or pass a `clone_function` that makes the "
        "new layer of the function itself. (`keras.config.enable_unsafe_deserialization()` also "
        "lets a copy through, but its lambda no longer knows the names of the module.)",
        fix=_made_of_functions(copy),
    )


def _made_of_functions(copy: Call) -> Fix | NoFix:
    """Return the fix that copies each `Lambda` with its function, the other layers as before."""
    if copy.is_hidden:
        return NoFix("`**` hides the other arguments")
    speller = speller_at(copy.module, copy.call)
    spelled, need = speller.spell("keras.layers.Lambda")
    function = (
        "lambda layer: "
        f'{spelled}(**{{**layer.get_config(), "function": layer.function}}) '
        f"if isinstance(layer, {spelled}) "
        "else layer.__class__.from_config(layer.get_config())"
    )
    return copy.fix(
        "Pass a `clone_function` that keeps the functions of `Lambda` layers",
        add_keyword(copy.module, copy.call, f"clone_function={function}"),
        imports=() if need is None else (need,),
        unsafe_because="an output shape or a mask that is a lambda itself, and a `Lambda` in an "
        "inner model, are still refused",
    )


def _load(load: FileUse, lambdas: frozenset[cst.Call]) -> Finding | None:
    module, call = load.module, load.call
    if is_hidden(call) or argument(call, "safe_mode", 3):
        return None
    by_call = points_to_by_call_of(module)
    if not any(
        is_same_path(module, each, load.use) and _holds(by_call, each, lambdas)
        for each in saves(module)
    ):
        return None
    is_keras = load.ending is not None and load.ending.text.endswith(".keras")
    if not is_keras and keras_version(load.facts) < _REFUSES_H5:
        return None
    return load.finding(
        f"a `Lambda` layer with a Python lambda cannot be loaded again: {_ERROR}",
        help="Replace the lambda with a custom layer or a named function; for a file that "
        "you trust, pass `safe_mode=False`.",
        fix=load.fix(
            "Load it with `safe_mode=False`",
            add_keyword(module, call, "safe_mode=False"),
            unsafe_because="it runs code stored in the file",
        ),
    )


def _holds(by_call: PointsToByCall, save: PathUse, layers: frozenset[cst.Call]) -> bool:
    """Say whether a model that is saved surely has one of these layers in it."""
    model = model_of(save)
    return model is not None and _has(by_call, save.call, model, layers)


def _may_have(
    by_call: PointsToByCall, at: cst.Call, model: cst.BaseExpression, layers: frozenset[cst.Call]
) -> bool:
    """Say whether one of the models that are copied has such a layer: each copy is an error."""
    return any(
        not layers.isdisjoint(by_call.inside(each))
        for frame in by_call.runs(at)
        for each in by_call.each_made(model, frame)[0]
    )


def _has(
    by_call: PointsToByCall, at: cst.Call, model: cst.BaseExpression, layers: frozenset[cst.Call]
) -> bool:
    made = [by_call.made(model, frame) for frame in by_call.runs(at)]
    return any(each is not None and not layers.isdisjoint(by_call.inside(each)) for each in made)
