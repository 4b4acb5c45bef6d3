"""A model with `Lambda(lambda …)` is saved or copied, and Keras refuses to recreate it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst
from packaging.version import Version

from kdoctor.analysis.calls import (
    add_keyword,
    argument,
    instances,
    is_hidden,
    is_keras_3,
    keras_version,
    value_of,
)
from kdoctor.analysis.dataflow.points_to_by_call import PointsToByCall, points_to_by_call_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.model import Applicability, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.rules.saving._save_and_load_calls import PathUse, is_same_path, loads, model_of, saves
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_ERROR = (
    "ValueError: Requested the deserialization of a `Lambda` layer whose `function` is a Python "
    "lambda"
)
_REFUSES_H5 = Version("3.11.3")
_REFUSES_COPIES = Version("3.15")
_COPY = "models.clone_model"
_SWITCH = "enable_unsafe_deserialization"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such load."""
    if _SWITCH in module.text:
        return
    lambdas = frozenset(_lambdas(module, facts))
    if not lambdas:
        return
    yield from _loads(module, facts, lambdas)
    if keras_version(facts) >= _REFUSES_COPIES:
        yield from _copies(module, facts, lambdas)


def _copies(module: Module, facts: TargetFacts, lambdas: frozenset[cst.Call]) -> Iterator[Finding]:
    by_call = points_to_by_call_of(module)
    for each in module.references:
        call = each.call
        if call is None or not each.name.endswith(_COPY) or not is_keras_3(facts, each.name):
            continue
        if is_hidden(call) or argument(call, "clone_function", 2) or module.is_guarded(call):
            continue
        copied = argument(call, "model", 0)
        if copied is not None and _has(by_call, call, copied.value, lambdas):
            yield rule.finding(
                module.place(call),
                f"a `Lambda` layer with a Python lambda cannot be copied: {_ERROR}",
                symbol=each.name,
                confidence=each.confidence,
                help="Replace the `Lambda` with a custom layer, or allow it with "
                "`keras.config.enable_unsafe_deserialization()`.",
                fix=NoFix("the replacement for the lambda is your choice"),
            )


def _loads(module: Module, facts: TargetFacts, lambdas: frozenset[cst.Call]) -> Iterator[Finding]:
    by_call = points_to_by_call_of(module)
    written = [*saves(module)]
    for use in loads(module):
        if is_hidden(use.call) or argument(use.call, "safe_mode", 3):
            continue
        if not any(
            is_same_path(module, each, use) and _holds(by_call, each, lambdas) for each in written
        ):
            continue
        if module.is_guarded(use.call):
            continue
        is_keras = use.ending is not None and use.ending.text.endswith(".keras")
        if not is_keras and keras_version(facts) < _REFUSES_H5:
            continue
        yield rule.finding(
            module.place(use.call),
            f"a `Lambda` layer with a Python lambda cannot be loaded again: {_ERROR}",
            symbol=use.symbol,
            confidence=use.confidence,
            help="Replace the lambda with a custom layer or a named function; for a file that "
            "you trust, pass `safe_mode=False`.",
            fix=Fix(
                "Load it with `safe_mode=False`",
                (add_keyword(module, use.call, "safe_mode=False"),),
                Applicability.UNSAFE,
                unsafe_because="it runs code stored in the file",
            ),
        )


def _holds(by_call: PointsToByCall, save: PathUse, layers: frozenset[cst.Call]) -> bool:
    """Say whether a model that is saved surely has one of these layers in it."""
    model = model_of(save)
    return model is not None and _has(by_call, save.call, model, layers)


def _has(
    by_call: PointsToByCall, at: cst.Call, model: cst.BaseExpression, layers: frozenset[cst.Call]
) -> bool:
    made = [by_call.made(model, frame) for frame in by_call.runs(at)]
    return any(each is not None and not layers.isdisjoint(by_call.inside(each)) for each in made)


def _lambdas(module: Module, facts: TargetFacts) -> Iterator[cst.Call]:
    for _, call, made in instances(module, Kind.LAYER, facts):
        given = argument(call, "function", 0) if made.cls == "Lambda" else None
        if given is not None and isinstance(value_of(module, given.value), cst.Lambda):
            yield call


rule = Rule(
    code="KD608",
    name="lambda-is-not-loaded",
    family="saving",
    severity=Severity.ERROR,
    check=check,
    triggers=word("load_model", "clone_model")
    & word("Lambda")
    & Trigger(lambda quick, _: ast.Lambda in quick.nodes),
    since="3.0",
)
