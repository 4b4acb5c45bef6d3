"""A layer with weights as ``activation=``: Keras 3 creates its weights late."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import class_named, kind_of_class
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.keras_api import ClassFamily, EntryKind
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_ARGUMENTS = ("activation", "recurrent_activation")


def _may_get_a_layer(quick: QuickFacts, facts: TargetFacts) -> bool:
    return any(
        _may_have_weights(quick, facts, value)
        for keyword in _ARGUMENTS
        for called in quick.calls_with(keyword)
        if any(_is_layer(facts, each) for each in called.names)
        for value in quick.values_of(called.argument(keyword))
    )


def _may_have_weights(quick: QuickFacts, facts: TargetFacts, value: ast.expr) -> bool:
    """Say whether it makes a layer of Keras with weights, or something of the user's own."""
    if not isinstance(value, ast.Call):
        return False
    if quick.is_rebound(value.func):
        return True
    return any(_keras_layer_has_weights(facts, each) for each in quick.meant_by(value.func))


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each activation that is an instance of a layer with weights."""
    for reference in module.references:
        if reference.call is None or not _is_layer(facts, reference.name):
            continue
        for argument in reference.call.args:
            if argument.keyword is None or argument.keyword.value not in _ARGUMENTS:
                continue
            cls = _class_with_weights(module, facts, argument.value)
            if cls is None:
                continue
            leaf = reference.name.rpartition(".")[2]
            yield rule.finding(
                module.place(argument),
                f"`{cls}` has weights, and as `{argument.keyword.value}=` it creates them only "
                "at the first call: until then the model lacks them, and `load_weights` into a "
                "fresh model raises ValueError",
                symbol=f"{reference.name}({argument.keyword.value})",
                confidence=Confidence.LIKELY,
                help=f"Add it as a separate layer after the `{leaf}`.",
                fix=NoFix("weights saved in the old form would no longer be found"),
            )


def _is_layer(facts: TargetFacts, name: str) -> bool:
    found = facts.lookup(name)
    if found.moved_to:
        found = facts.lookup(found.moved_to[0])
    return found.kind is EntryKind.CLASS and found.family is ClassFamily.LAYER


def _class_with_weights(
    module: Module, facts: TargetFacts, value: cst.BaseExpression
) -> str | None:
    """Return the class of a layer with weights that ``value`` makes, or that it was bound to."""
    if isinstance(value, cst.Name):
        bindings = module.scope_of(value).bindings.get(value.value, [])
        if len(bindings) != 1 or bindings[0].value is None or bindings[0].path:
            return None
        value = bindings[0].value
    if not isinstance(value, cst.Call):
        return None
    name = module.qualified(value.func)
    if name is not None:
        return name.rpartition(".")[2] if _keras_layer_has_weights(facts, name) else None
    cls = class_named(module, value.func)
    return cls.name.value if cls is not None and _surely_makes_weights(module, cls) else None


def _keras_layer_has_weights(facts: TargetFacts, name: str) -> bool:
    """A layer that takes an initializer has something to initialize."""
    if not _is_layer(facts, name):
        return False
    signature = facts.signature(name)
    return signature is not None and any(
        parameter.name.endswith("initializer") for parameter in signature.parameters
    )


def _surely_makes_weights(module: Module, cls: cst.ClassDef) -> bool:
    return kind_of_class(module, cls) is Kind.LAYER and any(
        _adds_a_weight(each) for each in descendants(cls.body)
    )


def _adds_a_weight(node: cst.CSTNode) -> bool:
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value == "add_weight"
        and isinstance(node.func.value, cst.Name)
        and node.func.value.value == "self"
    )


rule = Rule(
    code="KD302",
    name="layer-as-activation",
    family="arguments",
    severity=Severity.CHANGE,
    check=check,
    triggers=word(*_ARGUMENTS) & Trigger(_may_get_a_layer),
    since="3.0",
)
