"""A malformed kdoctor suppression comment."""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.facts import TargetFacts
from kdoctor.documents import Unit
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.suppression import Directive, Entry
from kdoctor.syntax import Module

_ONLY_YOU_KNOW = "only you know which rule is meant"


def check(_module: Module, _facts: TargetFacts) -> Iterator[Finding]:
    """Report nothing: comments are found without a parse, and asked about once a file."""
    return iter(())


def not_understood(unit: Unit, directive: Directive) -> Finding:
    """Return the finding on a comment that has ``Directive.problem``."""
    return _finding(unit, directive, directive.problem, directive.help)


def unknown_rule(unit: Unit, directive: Directive, entry: Entry, problem: str) -> Finding:
    """Return the finding on an entry that names no rule; ``problem`` may know what was meant."""
    what, _, advice = problem.partition("; ")
    place = Directive(directive.form, entry.span, directive.comment)
    return _finding(unit, place, what, f"{advice[:1].upper()}{advice[1:]}")


def _finding(unit: Unit, directive: Directive, what: str, advice: str) -> Finding:
    return rule.finding(
        unit.place(directive.span),
        f"this comment silences nothing: {what}",
        symbol="kdoctor: ignore",
        confidence=Confidence.CERTAIN,
        help=advice,
        fix=NoFix(_ONLY_YOU_KNOW),
    )


rule = Rule(
    code="KD902",
    name="invalid-ignore",
    family="suppression",
    severity=Severity.LEGACY,
    check=check,
    triggers={"kdoctor"},
)
