"""`ReduceLROnPlateau(epsilon=…)` is ignored: the argument is now `min_delta`."""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.calls import argument, instances, is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import calls, word
from kdoctor.model import Edit, Finding, Fix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickCall
from kdoctor.value_types import Kind

_CALLBACK = "ReduceLROnPlateau"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each ``epsilon=``."""
    for reference, call, made in instances(module, Kind.CALLBACK, facts):
        given = argument(call, "epsilon") if made.cls == _CALLBACK else None
        if given is None or given.keyword is None or argument(call, "min_delta"):
            continue
        yield rule.finding(
            module.place(given),
            "`epsilon=` is ignored: the threshold stays at 0.0001",
            symbol=f"{reference.name}(epsilon)",
            confidence=reference.confidence,
            help="Write `min_delta=`.",
            fix=Fix(
                "Write `min_delta=`",
                (Edit(module.span(given.keyword), ("min_delta",)),),
                facts.applicability(*(each for each in rule.invalid if each.after)),
            ),
        )


def _may_be_ignored(facts: TargetFacts, called: QuickCall) -> bool:
    return "epsilon" in called.keywords and any(
        each.endswith(_CALLBACK) and is_keras_3(facts, each) for each in called.names
    )


rule = Rule(
    code="KD417",
    name="plateau-epsilon",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word(_CALLBACK) & calls(_may_be_ignored),
    since="3.0",
)
