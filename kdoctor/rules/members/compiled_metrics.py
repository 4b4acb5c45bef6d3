"""``model.compiled_metrics.metrics``: `compiled_metrics` now has only `update_state`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import member_of
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.members._error_owner import symbol
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_HELP = {
    "reset_state": "`model.reset_metrics()` resets all of them.",
    "reset_states": "`model.reset_metrics()` resets all of them.",
}
_INSIDE = (
    "The metrics are `[metric for each in model.metrics for metric in "
    "getattr(each, 'metrics', [each])]`, their values `model.get_metrics_result()`."
)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each member that is read from `compiled_metrics` and not there."""
    for use in module.members:
        if use.member != "compiled_metrics" or use.owner.kind is not Kind.MODEL:
            continue
        read = module.parent(use.node)
        if not isinstance(read, cst.Attribute) or read.value is not use.node:
            continue
        member = read.attr.value
        if use.owner_defines or member == "update_state" or module.is_guarded(use.node):
            continue
        yield rule.finding(
            module.place(read),
            f"`compiled_metrics` no longer has `{member}`: AttributeError: "
            f"'DeprecatedCompiledMetric' object has no attribute '{member}'",
            symbol=symbol(use.owner, f"compiled_metrics.{member}"),
            confidence=use.confidence,
            help=_HELP.get(member, _INSIDE),
            fix=NoFix("before the first batch Keras 2 and 3 list different metrics"),
        )


rule = Rule(
    code="KD220",
    name="compiled-metrics",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=member_of({Kind.MODEL}, "compiled_metrics"),
    since="3.0",
)
