"""`history.history["lr"]`: the learning rate is now logged as `learning_rate`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import instances
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.logs import is_written, keys_of_logs, renamed
from kdoctor.analysis.triggers import string, word
from kdoctor.model import Confidence, Finding, Fix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_OLD, _NEW = "lr", "learning_rate"
_WRITERS = ("LearningRateScheduler", "ReduceLROnPlateau")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such key where only Keras can have written it."""
    asked = [each for each in keys_of_logs(module) if each[0].raw_value == _OLD]
    if not asked or not _is_written_by_keras(module, facts) or _is_own(module):
        return
    for node, what in asked:
        if not module.is_guarded(node):
            yield _finding(module, facts, node, what)


def _is_written_by_keras(module: Module, facts: TargetFacts) -> bool:
    return any(made.cls in _WRITERS for _, _, made in instances(module, Kind.CALLBACK, facts))


def _is_own(module: Module) -> bool:
    """Say whether the file may write that key itself, by a callback or a metric so called."""
    return is_written(module, _OLD) or any(
        each.name.value == _OLD for each in module.nodes(cst.FunctionDef)
    )


def _finding(module: Module, facts: TargetFacts, node: cst.SimpleString, what: str) -> Finding:
    return rule.finding(
        module.place(node),
        f"the learning rate is logged as `{_NEW}`: {what}",
        symbol=f"History.history[{_OLD}]",
        confidence=Confidence.LIKELY,
        help=f"Use `{_NEW}`.",
        fix=Fix(
            f"Write `{_NEW}` instead of `{_OLD}`",
            (renamed(module, node, _OLD, _NEW),),
            facts.applicability(*rule.invalid),
        ),
    )


rule = Rule(
    code="KD441",
    name="rate-in-logs",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=string(_OLD) & word(*_WRITERS),
    since="3.0",
)
