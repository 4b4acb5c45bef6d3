"""`Adam(epsilon=None)` fails at the first training step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, instances, literal, replace_expression
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, calls_that_make
from kdoctor.model import Applicability, Finding, Fix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_EPSILON = "1e-07"
_SET = "set_epsilon"


def _may_give_none(quick: QuickFacts, facts: TargetFacts) -> bool:
    return any(
        isinstance(each, ast.Constant) and each.value is None
        for _, called in calls_that_make(quick, facts, Kind.OPTIMIZER)
        for each in called.values
    )


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each ``epsilon`` that is None."""
    for reference, call, _ in instances(module, Kind.OPTIMIZER, facts):
        signature = facts.signature(reference.name)
        names = [each.name for each in signature.parameters] if signature else []
        if "epsilon" not in names or module.is_guarded(call):
            continue
        given = argument(call, "epsilon", names.index("epsilon"))
        if given is None or literal(given.value) is not None:
            continue
        yield rule.finding(
            module.place(given),
            "the first training step fails: ValueError: None values not supported.",
            symbol=f"{reference.name}(epsilon)",
            confidence=reference.confidence,
            help=f"Remove it, or write `epsilon={_EPSILON}`.",
            fix=_fix(module, facts, given),
        )


def _fix(module: Module, facts: TargetFacts, given: cst.Arg) -> Fix:
    is_set = _SET in module.text
    return Fix(
        f"Write `{_EPSILON}` instead of None",
        (replace_expression(module, given.value, _EPSILON),),
        Applicability.UNSAFE
        if is_set
        else facts.applicability(*(each for each in rule.invalid if each.after)),
        unsafe_because="this file sets a different epsilon" if is_set else "",
    )


rule = Rule(
    code="KD407",
    name="epsilon-none",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=Trigger(_may_give_none),
    since="3.0",
)
