"""`hard_sigmoid` is a different function in Keras 3."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import instances, literal, speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import names, string, word
from kdoctor.keras_api import split_root
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module, ReferenceKind
from kdoctor.value_types import Kind

_NAME = "hard_sigmoid"
_FUNCTION = "activations.hard_sigmoid"
_COMPARISONS = (cst.Comparison, cst.ComparisonTarget, cst.MatchValue)
_ARGUMENTS = ("activation", "recurrent_activation", "inner_activation")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each use."""
    for reference, call, made in instances(module, Kind.LAYER, facts):
        for index, each in enumerate(call.args):
            keyword = each.keyword.value if each.keyword else None
            by_position = made.cls == "Activation" and keyword is None and index == 0
            if (keyword in _ARGUMENTS or by_position) and literal(each.value) == _NAME:
                yield _finding(module, each.value, reference.name, reference.confidence)
    for reference in module.references:
        if (
            reference.kind is ReferenceKind.LOAD
            and _is_it(facts, reference.name)
            and not isinstance(module.parent(reference.node), _COMPARISONS)
        ):
            yield _finding(module, reference.node, reference.name, reference.confidence)


def _is_it(_: TargetFacts, dotted: str) -> bool:
    split = split_root(dotted)
    return split is not None and split[1] == _FUNCTION


def _finding(module: Module, node: cst.CSTNode, symbol: str, confidence: Confidence) -> Finding:
    assert isinstance(node, cst.BaseExpression)
    spelled, need = speller_at(module, node).spell("keras.ops.clip")
    is_argument = isinstance(module.parent(node), cst.Arg)
    function = f"lambda x: {spelled}(0.2 * x + 0.5, 0.0, 1.0)"
    return rule.finding(
        module.place(node),
        "`hard_sigmoid` was `clip(0.2 * x + 0.5, 0, 1)` and is now `relu6(x + 3) / 6`: results "
        "differ by up to 0.067",
        symbol=symbol,
        confidence=confidence,
        help="For weights from Keras 2, use the old formula: `keras.ops.clip(0.2 * x + 0.5, 0.0, "
        "1.0)`.",
        fix=Fix(
            "Use the old formula",
            (Edit(module.span(node), (function,)),),
            Applicability.UNSAFE,
            () if need is None else (need,),
            unsafe_because="a saved lambda can only be loaded with `safe_mode=False`, and a "
            "newly trained model does not need the old formula",
        )
        if is_argument
        else NoFix("the function is not passed on here"),
    )


rule = Rule(
    code="KD404",
    name="hard-sigmoid-changed",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=string(_NAME) | (word(_NAME) & names(_is_it)),
    since="3.0",
)
