"""`add_weight(shape=3)`, `add_weight(aggregation=tf.VariableAggregation.MEAN)`: refused values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, keyword, word
from kdoctor.model import Applicability, Edit, Finding, Fix, Hole, Severity
from kdoctor.rules.arguments._keras_calls import KerasCall, keras_calls
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

AGGREGATIONS = {
    "NONE": "none",
    "SUM": "sum",
    "MEAN": "mean",
    "ONLY_FIRST_REPLICA": "only_first_replica",
}
_OWNERS = (Kind.LAYER, Kind.MODEL)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each value that `add_weight` refuses."""
    for call in keras_calls(module, facts):
        if call.leaf != "add_weight" or call.owner is None or call.owner.kind not in _OWNERS:
            continue
        if module.is_guarded(call.call):
            continue
        yield from _shape(module, facts, call)
        yield from _aggregation(module, facts, call)


def _shape(module: Module, facts: TargetFacts, call: KerasCall) -> Iterator[Finding]:
    given = argument(call.call, "shape", 0)
    value = None if given is None else value_of(module, given.value)
    if given is None or not isinstance(value, cst.Integer):
        return
    # `(3)` is an int in parentheses: the comma goes inside them.
    inside, outside = module.span(given.value), module.outer_span(given.value)
    parts = ("(", Hole(inside), ",)") if inside == outside else (Hole(inside), ",")
    yield _finding(
        module,
        call,
        given,
        f"ValueError: Cannot convert '{value.value}' to a shape.",
        "A shape is a tuple.",
        Fix(
            f"Write `({module.source(given.value)},)`",
            (Edit(inside, parts),),
            _proven(facts, "shape=3"),
        ),
    )


def _aggregation(module: Module, facts: TargetFacts, call: KerasCall) -> Iterator[Finding]:
    given = argument(call.call, "aggregation")
    name = (module.qualified(given.value) if given is not None else None) or ""
    owner, _, member = name.rpartition(".")
    is_tensorflow = owner.startswith("tensorflow.") and owner.endswith(".VariableAggregation")
    if given is None or not is_tensorflow or member not in AGGREGATIONS:
        return
    new = f"'{AGGREGATIONS[member]}'"
    yield _finding(
        module,
        call,
        given,
        "ValueError: Invalid value for argument `aggregation`. Expected one of `None`, `'none'`, "
        "`'mean'`, `'sum'`, `'only_first_replica'`.",
        f"It is {new} now.",
        Fix(
            f"Write {new}",
            (Edit(module.outer_span(given.value), (new,)),),
            _proven(facts, "aggregation="),
        ),
    )


def _finding(  # noqa: PLR0913, PLR0917 - what the finding is about
    module: Module, call: KerasCall, given: cst.Arg, error: str, advice: str, fix: Fix
) -> Finding:
    return rule.finding(
        module.place(given),
        f"`add_weight` no longer accepts this value: {error}",
        symbol=call.name,
        confidence=call.confidence,
        help=advice,
        fix=fix,
    )


def _proven(facts: TargetFacts, word: str) -> Applicability:
    return facts.applicability(*(each for each in rule.invalid if word in each.before))


def _may_pass_an_int(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        isinstance(each, ast.Constant)
        for called in quick.calls_by_leaf.get("add_weight", ())
        for each in quick.values_of(called.argument("shape", 0))
    )


rule = Rule(
    code="KD306",
    name="weight-argument",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=word("add_weight") & (keyword("aggregation") | Trigger(_may_pass_an_int)),
    since="3.0",
)
