"""A `Dropout` created in `call` is new for every batch, which Keras 3 cannot trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import instances, is_hidden, passed
from kdoctor.analysis.class_glimpses import method_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import kind_of_class
from kdoctor.analysis.triggers import Trigger, calls_that_make
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import UNKNOWN, literal
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

RANDOM_LAYERS: Final = frozenset({
    *("AlphaDropout", "Dropout", "GaussianDropout", "GaussianNoise"),
    *("SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"),
})  # fmt: skip
"""Layers whose random numbers have a state in Keras 3, unless their rate is 0."""
_EAGER: Final = frozenset({"run_eagerly", "run_functions_eagerly"})


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such layer."""
    if not _EAGER.isdisjoint(module.words):
        return
    for _, call, made in instances(module, Kind.LAYER, facts):
        if made.cls not in RANDOM_LAYERS or not _is_for_once(module, call):
            continue
        owner = _class_of_call(module, call)
        if owner is not None and _is_random(call) and not module.is_guarded(call):
            yield _finding(module, owner, call, made.cls)


def _is_for_once(module: Module, call: cst.Call) -> bool:
    """Say whether what is made is called, and kept nowhere."""
    above = module.parent(call)
    return isinstance(above, cst.Call) and above.func is call


def _class_of_call(module: Module, call: cst.Call) -> cst.ClassDef | None:
    """Return the layer or model in whose own ``call`` this stands."""
    method = module.scope_of(call).node
    if not isinstance(method, cst.FunctionDef) or method.name.value != "call":
        return None
    block = module.parent(method)
    node = module.parent(block) if block is not None else None
    if not isinstance(node, cst.ClassDef) or method.decorators:
        return None
    return node if kind_of_class(module, node) in {Kind.LAYER, Kind.MODEL} else None


def _is_random(call: cst.Call) -> bool:
    """Say whether it surely has random numbers of its own: a rate of 0 has none."""
    if is_hidden(call):
        return False
    if literal(passed(call, "seed"), absent=None) is UNKNOWN:
        return False
    rate = passed(call, "rate", 0) or passed(call, "stddev", 0)
    return literal(rate, absent=None) not in (0, None)


def _finding(module: Module, owner: cst.ClassDef, call: cst.Call, cls: str) -> Finding:
    return rule.finding(
        module.place(call),
        f"`{cls}` holds a variable in Keras 3, and `call` creates a new one whenever it is "
        "traced: ValueError: tf.function only supports singleton tf.Variables created on the "
        "first call.",
        symbol=f"{owner.name.value}.call",
        confidence=Confidence.LIKELY,
        help=f"Create it once, in `__init__`: `self.{_attribute(cls)} = {module.source(call)}`, "
        f"and call `self.{_attribute(cls)}` here.",
        fix=NoFix("you have to decide where it is created, and with which arguments"),
    )


def _attribute(cls: str) -> str:
    return "noise" if cls.endswith("Noise") else "dropout"


def _may_make_one(quick: QuickFacts, facts: TargetFacts) -> bool:
    if _EAGER & quick.words:
        return False
    made: set[ast.AST] = {
        called.node
        for type_, called in calls_that_make(quick, facts, Kind.LAYER)
        if type_.cls in RANDOM_LAYERS
    }
    return bool(made) and any(
        isinstance(each, ast.Call) and each.func in made
        for node in quick.nodes.get(ast.ClassDef, ())
        if (method := method_of(node, "call")) is not None
        for each in ast.walk(method)
    )


rule = Rule(
    code="KD520",
    name="random-layer-in-call",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers=Trigger.needing(RANDOM_LAYERS, _may_make_one),
    since="3.0",
)
