"""The name of a custom activation, constraint, regularizer, loss or metric, as a string."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import argument, binding_of, is_keras_3, passed, speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.keras_calls import keras_calls
from kdoctor.analysis.node_values import elements_in
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.bound_calls import Bound, Passed, bound_calls
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.analysis.queries.creations import creates
from kdoctor.analysis.queries.forms import Expression, elements_of
from kdoctor.keras_api import Presence, split_root
from kdoctor.lazy_regex import pattern
from kdoctor.model import (
    Confidence,
    Edit,
    Finding,
    Fix,
    Hole,
    NoFix,
    Precedence,
    Severity,
)
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.arguments._forwarded_keywords import base_that_gets
from kdoctor.rules.arguments._string_identifiers import KERAS_2, is_gone, is_known
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.parametrized import pytest_parameter_values
from kdoctor.value_types import Kind

_KINDS: Final = {
    "activations": "activation function",
    "constraints": "constraint",
    "losses": "loss",
    "metrics": "metric",
    "regularizers": "regularizer",
}
_OF_LAYERS: Final = pattern(r"(?:.+_)?(activation|constraint|regularizer)")
_COMPILED: Final = {"loss": "losses", "metrics": "metrics", "weighted_metrics": "metrics"}
_DEPTH: Final = 8  # losses in lists in dicts
_WITH_WEIGHTS: Final = frozenset({"PReLU"})  # which would come late (KD302)


class _Given(Struct, frozen=True):
    """A name that is passed as text: to what, where it stands, and what texts it may be."""

    node: cst.BaseExpression
    module: str
    texts: tuple[str, ...]
    confidence: Confidence


def _is_refused(facts: TargetFacts, module: str, text: str) -> bool:
    return not is_known(facts, module, text) or is_gone(facts, module, text)


def _is_unknown(facts: TargetFacts, module: str, form: object) -> bool:
    return isinstance(form, str) and _is_refused(facts, module, form)


def _names_an_unknown(facts: TargetFacts, keyword: str, form: object) -> bool:
    kind = _OF_LAYERS.fullmatch(keyword)
    return kind is not None and _is_unknown(facts, f"{kind[1]}s", form)


def _is_activated(facts: TargetFacts, _: Bound, passed: Passed) -> bool:
    return _is_unknown(facts, "activations", passed.form("activation", 0))


def _looks_up(callee: Bound) -> bool:
    """Say whether it is `activations.get` or the like."""
    return callee.leaf == "get" and _parent(callee) in _KINDS


def _parent(callee: Bound) -> str:
    return callee.name.removeprefix("keras.").rpartition(".")[0]


def _is_looked_up(facts: TargetFacts, callee: Bound, passed: Passed) -> bool:
    return _is_unknown(facts, _parent(callee), passed.form("identifier", 0))


def _is_parametrized(_facts: TargetFacts, _callee: Bound, passed: Passed) -> bool:
    """Say whether pytest may pass, one after the other, what is looked up."""
    given = passed.form("identifier", 0)
    return isinstance(given, Expression) and given.kind == "Name"


def _is_compiled(facts: TargetFacts, _: Bound, passed: Passed) -> bool:
    return any(
        _is_unknown(facts, module, each)
        for keyword, module in _COMPILED.items()
        for each in elements_of(passed.form(keyword, 1 if keyword == "loss" else None, _DEPTH))
    )


@rule(
    "KD313",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(
        creates(Kind.LAYER, _OF_LAYERS.fullmatch, _names_an_unknown)
        | bound_calls(lambda each: each.leaf == "Activation", _is_activated).trigger
        | bound_calls(_looks_up, _is_looked_up).trigger
        | bound_calls(lambda each: each.method and each.leaf == "compile", _is_compiled).trigger
        | (attribute("parametrize") & bound_calls(_looks_up, _is_parametrized).trigger)
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such name."""
    module, facts = file.module, file.facts
    given = (
        *_of_layers(module, facts),
        *_of_own(module, facts),
        *_looked_up(module, facts),
        *_compiled(module, facts),
    )
    for each in given:
        refused = [text for text in each.texts if _is_refused(facts, each.module, text)]
        if not refused or module.is_guarded(each.node) or _may_fail(module, each.node):
            continue
        unknown = [text for text in refused if not is_known(facts, each.module, text)]
        if unknown:
            # Beside them, what no Keras 2 has was looked for among custom objects, too.
            is_all = not any(is_known(facts, each.module, text, KERAS_2) for text in each.texts)
            yield _finding(file, each, unknown[0], is_all=is_all)
        else:
            yield _of_keras_2(file, each, refused[0])


def _of_layers(module: Module, facts: TargetFacts) -> Iterator[_Given]:
    for call in keras_calls(module, facts):
        if call.kind is not Kind.LAYER:
            continue
        given = {each.keyword.value: each for each in call.args if each.keyword is not None}
        if call.leaf == "Activation" and (first := argument(call.call, "activation", 0)):
            given["activation"] = first
        for keyword, each in given.items():
            kind = _OF_LAYERS.fullmatch(keyword)
            text = _text(each.value)
            if kind is not None and text is not None:
                yield _Given(each.value, f"{kind[1]}s", (text,), call.confidence)


def _of_own(module: Module, facts: TargetFacts) -> Iterator[_Given]:
    """Yield what layers of the user's own are given and hand on."""
    for call in module.nodes(cst.Call):
        for each in call.args:
            keyword = "" if each.keyword is None else each.keyword.value
            kind, text = _OF_LAYERS.fullmatch(keyword), _text(each.value)
            if kind is None or text is None:
                continue
            base = base_that_gets(module, call.func, keyword)
            made = None if base is None else module.oracle.class_type(base)
            if made is not None and made.kind is Kind.LAYER and is_keras_3(facts, base):
                yield _Given(each.value, f"{kind[1]}s", (text,), Confidence.LIKELY)


def _looked_up(module: Module, facts: TargetFacts) -> Iterator[_Given]:
    for reference in module.references:
        split = split_root(reference.name)
        parent, _, leaf = split[1].rpartition(".") if split is not None else ("", "", "")
        if reference.call is None or leaf != "get" or parent not in _KINDS:
            continue
        given = passed(reference.call, "identifier", 0)
        if given is not None and is_keras_3(facts, reference.name):
            texts = _texts(module, given)
            yield _Given(given, parent, texts, reference.confidence)


def _compiled(module: Module, facts: TargetFacts) -> Iterator[_Given]:
    """Yield the losses and metrics of models."""
    for call in keras_calls(module, facts):
        if call.owner is None or call.owner.kind is not Kind.MODEL or call.leaf != "compile":
            continue
        for keyword, kind in _COMPILED.items():
            given = passed(call.call, keyword, 1 if keyword == "loss" else None)
            for each in () if given is None else elements_in(given):
                text = _text(each)
                if text is not None:
                    yield _Given(each, kind, (text,), call.confidence)


def _may_fail(module: Module, node: cst.CSTNode) -> bool:
    """Say whether the failure is caught, or what a test is about."""
    ancestors = list(module.ancestors(node))
    return any(isinstance(each, cst.Try | cst.TryStar) for each in ancestors) or any(
        isinstance(item.item, cst.Call) and "raises" in module.source(item.item.func).lower()
        for each in ancestors
        if isinstance(each, cst.With)
        for item in each.items
    )


def _texts(module: Module, node: cst.BaseExpression) -> tuple[str, ...]:
    bound = binding_of(module, node)
    passed = (node,) if bound is None else pytest_parameter_values(bound)
    texts = [_text(each) for each in passed]
    return tuple(each for each in texts if each is not None) if None not in texts else ()


def _text(node: cst.BaseExpression) -> str | None:
    return node.raw_value if isinstance(node, cst.SimpleString) and not node.prefix else None


def _finding(file: File, given: _Given, unknown: str, *, is_all: bool) -> Finding:
    span = file.module.outer_span(given.node)
    spelled, need = speller_at(file.module, given.node).spell("keras.saving.get_custom_objects")
    written = Hole(span, Precedence.ANY, precedence_of(given.node))
    edit = Edit(span, (f"{spelled}()[", written, "]"), Precedence.PRIMARY)
    fix = file.fix(
        "Look it up in the custom objects",
        edit,
        imports=(need,),
        unsafe_because="it must be registered by then, and not only in a `custom_object_scope`",
    )
    return file.finding(
        "Keras 3 does not look this name up in the custom objects: ValueError: Could not "
        f"interpret {_KINDS[given.module]} identifier: {unknown}",
        at=given.node,
        symbol=f"keras.{given.module}.{unknown}",
        confidence=given.confidence,
        help=f"Pass the function or class itself; if only its name is known, "
        f"pass `{spelled}()[name]`.",
        fix=fix if is_all else NoFix("some of the possible names are built into Keras"),
    )


def _of_keras_2(file: File, given: _Given, text: str) -> Finding:
    """Tell of a name that Keras 2 had: of a layer that was an activation, or of what is gone."""
    layer = f"keras.layers.{text}"
    known = file.facts.lookup(layer).presence
    is_layer = given.module == "activations" and known is Presence.EXISTS
    fix: Fix | NoFix
    if is_layer and text not in _WITH_WEIGHTS and _text(given.node) == text:
        spelled, need = speller_at(file.module, given.node).spell(layer)
        edit = Edit(file.module.outer_span(given.node), (f"{spelled}()",))
        fix = file.fix(f"Write `{spelled}()`", edit, imports=(need,))
    elif text in _WITH_WEIGHTS:
        fix = NoFix("the layer has weights, which would be created late")
    else:
        fix = NoFix("Keras 3 has nothing by this name")
    kind = _KINDS[given.module]
    return file.finding(
        f"Keras 3 no longer has this name: ValueError: Could not interpret {kind} identifier: "
        f"{text}",
        at=given.node,
        symbol=f"keras.{given.module}.{text}",
        confidence=given.confidence,
        help="Add the layer itself after this one." if is_layer else "Write a custom class.",
        fix=fix,
    )
