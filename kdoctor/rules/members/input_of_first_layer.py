"""``model.layers[0].input``: the first layer of a functional model is its `InputLayer`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import member, member_of
from kdoctor.model import Applicability, Edit, Finding, Fix, Hole, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.value_types import Kind


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such read."""
    for use in module.members:
        if use.member != "input" or use.owner.kind is not Kind.LAYER or use.owner_defines:
            continue
        model = _model_of_first_layer(use)
        of = None if model is None else module.type_of(model)
        if model is None or of is None or of.kind is not Kind.MODEL or of.cls == "Sequential":
            continue
        if is_keras_3(facts, of.qualified) and not module.is_guarded(use.node):
            yield _finding(module, use, model)


def _model_of_first_layer(use: MemberUse) -> cst.BaseExpression | None:
    match use.node.value:
        case cst.Subscript(
            value=cst.Attribute(value=model, attr=cst.Name(value="layers")),
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))],
        ):
            return model
    return None


def _finding(module: Module, use: MemberUse, model: cst.BaseExpression) -> Finding:
    span = module.outer_span(model)
    kept = Hole(span, Precedence.PRIMARY, precedence_of(model))
    edit = Edit(module.span(use.node), (kept, ".inputs[0]"), Precedence.PRIMARY)
    return rule.finding(
        module.place(use.node),
        "the first layer of a functional model is its `InputLayer`, whose `input` is an empty list",
        symbol="InputLayer.input",
        confidence=use.confidence,
        help="Write `model.inputs[0]`.",
        fix=Fix(
            "Read the model's first input instead",
            (edit,),
            Applicability.UNSAFE,
            unsafe_because="the first input of a model with several inputs may not belong to the "
            "first layer",
        ),
    )


rule = Rule(
    code="KD229",
    name="input-of-first-layer",
    family="members",
    severity=Severity.CHANGE,
    check=check,
    triggers=member("layers") & member_of({Kind.LAYER}, "input"),
    since="3.0",
)
