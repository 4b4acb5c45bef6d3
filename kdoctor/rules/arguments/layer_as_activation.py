"""A layer with weights as ``activation=``: Keras 3 creates its weights late."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import kind_of_class
from kdoctor.analysis.queries import Argument, constructs
from kdoctor.analysis.queries.forms import is_any_call
from kdoctor.keras_api import ClassFamily, EntryKind
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_LAYERS = constructs(Kind.LAYER).even(hidden=True, guarded=True)


@rule(
    "KD302",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=_LAYERS.argument("activation", where=is_any_call)
    | _LAYERS.argument("recurrent_activation", where=is_any_call),
)
def check(given: Argument) -> Finding | None:
    """Report each activation that is an instance of a layer with weights."""
    cls = _class_with_weights(given.module, given.facts, given.value_node)
    if cls is None:
        return None
    return given.finding(
        f"`{cls}` has weights, and as `{given.keyword}=` it creates them only at the first call: "
        "until then the model lacks them, and `load_weights` into a fresh model raises ValueError",
        at=given.arg,
        confidence=Confidence.LIKELY,
        help=f"Add it as a separate layer after the `{given.leaf}`.",
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
    """Return the class of a layer with weights that ``value`` makes."""
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
