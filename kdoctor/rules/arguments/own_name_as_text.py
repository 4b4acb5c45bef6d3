"""The name of a custom activation, constraint, regularizer, loss or metric, as a string."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import argument, is_keras_3, speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, attribute
from kdoctor.keras_api import Presence, split_root
from kdoctor.lazy_regex import pattern
from kdoctor.model import (
    Applicability,
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
from kdoctor.rules.arguments._keras_calls import keras_calls
from kdoctor.rules.arguments._may_be_called import Callee, may_make_a_layer, passes
from kdoctor.rules.arguments._string_identifiers import KERAS_2, is_gone, is_known
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import nodes_in
from kdoctor.syntax.parametrized import pytest_parameter_values
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts
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
_WITH_WEIGHTS: Final = frozenset({"PReLU"})  # which would come late (KD302)


class _Given(Struct, frozen=True):
    """A name that is passed as text: to what, where it stands, and what texts it may be."""

    node: cst.BaseExpression
    module: str
    texts: tuple[str, ...]
    confidence: Confidence


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such name."""
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
            yield _finding(module, each, unknown[0], is_all=is_all)
        else:
            yield _of_keras_2(module, facts, each, refused[0])


def _is_refused(facts: TargetFacts, module: str, text: str) -> bool:
    return not is_known(facts, module, text) or is_gone(facts, module, text)


def _may_be_unknown(facts: TargetFacts, callee: Callee, called: QuickCall) -> bool:
    if _looks_up(callee):
        return _is_unknown(facts, _parent(callee), called.argument("identifier", 0))
    return _is_unknown(facts, "activations", called.argument("activation", 0))


def _may_be_parametrized(_facts: TargetFacts, _callee: Callee, called: QuickCall) -> bool:
    """Say whether pytest may pass, one after the other, what is looked up."""
    return isinstance(called.argument("identifier", 0), ast.Name)


def _looks_up(callee: Callee) -> bool:
    """Say whether it is `activations.get` or the like."""
    return callee.leaf == "get" and _parent(callee) in _KINDS


def _parent(callee: Callee) -> str:
    return callee.name.removeprefix("keras.").rpartition(".")[0]


def _may_name_an_unknown(quick: QuickFacts, facts: TargetFacts) -> bool:
    return any(
        _is_unknown(facts, f"{kind[1]}s", called.argument(keyword))
        and may_make_a_layer(quick, facts, called)
        for keyword in quick.keywords
        if (kind := _OF_LAYERS.fullmatch(keyword)) is not None
        for called in quick.calls_with(keyword)
    )


def _is_unknown(facts: TargetFacts, module: str, given: ast.expr | None) -> bool:
    text = given.value if isinstance(given, ast.Constant) else None
    return isinstance(text, str) and _is_refused(facts, module, text)


def _may_be_compiled(facts: TargetFacts, _callee: Callee, called: QuickCall) -> bool:
    return any(
        _is_unknown(facts, module, each)
        for keyword, module in _COMPILED.items()
        if (given := called.argument(keyword, 1 if keyword == "loss" else None)) is not None
        for each in nodes_in(given)
        if isinstance(each, ast.Constant)
    )


def _of_layers(module: Module, facts: TargetFacts) -> Iterator[_Given]:
    for call in keras_calls(module, facts):
        if call.kind is not Kind.LAYER:
            continue
        given = {each.keyword.value: each for each in call.call.args if each.keyword is not None}
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
        given = argument(reference.call, "identifier", 0)
        if given is not None and is_keras_3(facts, reference.name):
            texts = _texts(module, given.value)
            yield _Given(given.value, parent, texts, reference.confidence)


def _compiled(module: Module, facts: TargetFacts) -> Iterator[_Given]:
    """Yield the losses and metrics of models."""
    for call in keras_calls(module, facts):
        if call.owner is None or call.owner.kind is not Kind.MODEL or call.leaf != "compile":
            continue
        for keyword, kind in _COMPILED.items():
            given = argument(call.call, keyword, 1 if keyword == "loss" else None)
            for each in () if given is None else _elements(given.value):
                text = _text(each)
                if text is not None:
                    yield _Given(each, kind, (text,), call.confidence)


def _elements(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    match node:
        case cst.List() | cst.Tuple():
            for each in node.elements:
                yield from _elements(each.value)
        case cst.Dict():
            for one in node.elements:
                yield from _elements(one.value)
        case _:
            yield node


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
    bound = module.bindings_at(node) if isinstance(node, cst.Name) else ()
    passed = pytest_parameter_values(bound[0]) if len(bound) == 1 else (node,)
    texts = [_text(each) for each in passed]
    return tuple(each for each in texts if each is not None) if None not in texts else ()


def _text(node: cst.BaseExpression) -> str | None:
    return node.raw_value if isinstance(node, cst.SimpleString) and not node.prefix else None


def _finding(module: Module, given: _Given, unknown: str, *, is_all: bool) -> Finding:
    span = module.outer_span(given.node)
    spelled, need = speller_at(module, given.node).spell("keras.saving.get_custom_objects")
    written = Hole(span, Precedence.ANY, precedence_of(given.node))
    edit = Edit(span, (f"{spelled}()[", written, "]"), Precedence.PRIMARY)
    fix = Fix(
        "Look it up in the custom objects",
        (edit,),
        Applicability.UNSAFE,
        () if need is None else (need,),
        unsafe_because="it must be registered by then, and not only in a `custom_object_scope`",
    )
    return rule.finding(
        module.place(given.node),
        "Keras 3 does not look this name up in the custom objects: ValueError: Could not "
        f"interpret {_KINDS[given.module]} identifier: {unknown}",
        symbol=f"keras.{given.module}.{unknown}",
        confidence=given.confidence,
        help=f"Pass the function or class itself; if only its name is known, "
        f"pass `{spelled}()[name]`.",
        fix=fix if is_all else NoFix("some of the possible names are built into Keras"),
    )


def _of_keras_2(module: Module, facts: TargetFacts, given: _Given, text: str) -> Finding:
    """Tell of a name that Keras 2 had: of a layer that was an activation, or of what is gone."""
    layer = f"keras.layers.{text}"
    is_layer = given.module == "activations" and facts.lookup(layer).presence is Presence.EXISTS
    fix = None
    if is_layer and text not in _WITH_WEIGHTS and _text(given.node) == text:
        spelled, need = speller_at(module, given.node).spell(layer)
        fix = Fix(
            f"Write `{spelled}()`",
            (Edit(module.outer_span(given.node), (f"{spelled}()",)),),
            facts.applicability(*(each for each in rule.group("of-keras-2") if each.after)),
            () if need is None else (need,),
        )
    kind = _KINDS[given.module]
    return rule.finding(
        module.place(given.node),
        f"Keras 3 no longer has this name: ValueError: Could not interpret {kind} identifier: "
        f"{text}",
        symbol=f"keras.{given.module}.{text}",
        confidence=given.confidence,
        help="Add the layer itself after this one." if is_layer else "Write a custom class.",
        fix=fix
        or NoFix(
            "the layer has weights, which would be created late"
            if text in _WITH_WEIGHTS
            else "Keras 3 has nothing by this name"
        ),
    )


rule = Rule(
    code="KD313",
    name="own-name-as-text",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=Trigger(_may_name_an_unknown)
    | passes(_may_be_unknown, of=lambda each: each.leaf == "Activation" or _looks_up(each))
    | passes(_may_be_compiled, of=lambda each: each.method and each.leaf == "compile")
    | (attribute("parametrize") & passes(_may_be_parametrized, of=_looks_up)),
    since="3.0",
)
