"""``model.compiled_metrics.metrics``: `compiled_metrics` now has only `update_state`."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.queries import Read, reads
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.members._error_owner import symbol
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_HELP = {
    "reset_state": "`model.reset_metrics()` resets all of them.",
    "reset_states": "`model.reset_metrics()` resets all of them.",
}
_INSIDE = (
    "The metrics are `[metric for each in model.metrics for metric in "
    "getattr(each, 'metrics', [each])]`, their values `model.get_metrics_result()`."
)


@rule(
    "KD220", severity=Severity.ERROR, since="3.0", look_for=reads("compiled_metrics", on=Kind.MODEL)
)
def check(metrics: Read) -> Finding | None:
    """Report each member that is read from `compiled_metrics` and not there."""
    read = metrics.module.parent(metrics.node)
    if not isinstance(read, cst.Attribute) or read.attr.value == "update_state":
        return None
    member = read.attr.value
    return metrics.finding(
        f"`compiled_metrics` no longer has `{member}`: AttributeError: "
        f"'DeprecatedCompiledMetric' object has no attribute '{member}'",
        at=read,
        symbol=symbol(metrics.owner, f"compiled_metrics.{member}"),
        help=_HELP.get(member, _INSIDE),
        fix=NoFix("before the first batch Keras 2 and 3 list different metrics"),
    )
