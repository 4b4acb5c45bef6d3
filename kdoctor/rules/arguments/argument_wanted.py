"""`AveragePooling2D()`: arguments that had a default in Keras 2 and are now required."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from kdoctor.analysis.calls import add_keyword, argument, is_hidden
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger
from kdoctor.model import Finding, Fix, Severity
from kdoctor.rules.arguments._keras_1_rewrites import renamed
from kdoctor.rules.arguments._keras_calls import RELEASES, KerasCall, keras_calls, required
from kdoctor.rules.arguments._may_be_called import callee_of
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each call without an argument that is wanted now."""
    for call in keras_calls(module, facts):
        if call.reference is None or is_hidden(call.call) or module.is_guarded(call.call):
            continue
        for name, position in required(call.new):
            if argument(call.call, name, position) is not None or _has_its_old_name(call, name):
                continue
            default = _last_default(facts, call.name, name)
            if default is not None:
                yield _finding(module, facts, call, name, default)


def _has_its_old_name(call: KerasCall, parameter: str) -> bool:
    """Say whether it is passed by its name of Keras 1: KD310 renames it, none is to be written."""
    return any(
        new == parameter and argument(call.call, old) is not None
        for old, new in renamed(call).items()
    )


@lru_cache(maxsize=1024)
def _last_default(facts: TargetFacts, name: str, parameter: str) -> str | None:
    for release in RELEASES:
        old = facts.at_release(release).signature(name)
        found = None if old is None else old.parameter(parameter)
        if found is not None and found.default is not None:
            return found.default
    return None


def _may_be_left_out(quick: QuickFacts, facts: TargetFacts) -> bool:
    return any(
        name not in called.keywords
        and called.places <= position
        and _last_default(facts, callee.name, name) is not None
        for path, calls in quick.calls_by_meaning.items()
        if (callee := callee_of(path, facts)) is not None
        for name, position in callee.required
        for called in calls
    )


def _finding(
    module: Module, facts: TargetFacts, call: KerasCall, name: str, default: str
) -> Finding:
    return rule.finding(
        module.place(call.call),
        f"`{call.leaf}` no longer has a default for `{name}`: TypeError: {call.written} missing "
        f"1 required positional argument: '{name}'",
        symbol=f"{call.name}({name})",
        confidence=call.confidence,
        help=f"The default in Keras 2 was `{name}={default}`.",
        fix=Fix(
            f"Write `{name}={default}`, the old default",
            (add_keyword(module, call.call, f"{name}={default}"),),
            facts.applicability(*rule.invalid),
        ),
    )


rule = Rule(
    code="KD308",
    name="argument-wanted",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=Trigger(_may_be_left_out),
    since="3.0",
)
