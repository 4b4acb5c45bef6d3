"""``model.compiled_metrics.metrics``: `compiled_metrics` now has only `update_state`."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import has_builtin, hidden_builtin, replace_expression
from kdoctor.analysis.queries import Read, reads
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.members._error_owner import symbol
from kdoctor.rules.rule import rule
from kdoctor.syntax.imports import dotted_name
from kdoctor.value_types import Kind

_PASSED = frozenset({"_metrics", "_user_metrics"})
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
        fix=_fix(metrics, read),
    )


def _fix(metrics: Read, read: cst.Attribute) -> Fix | NoFix:
    """Return the fix where what was passed to `compile` is read, as it was passed."""
    module, owner = metrics.module, dotted_name(metrics.node.value)
    is_stored = isinstance(module.parent(read), cst.AssignTarget | cst.AugAssign | cst.Del)
    if read.attr.value not in _PASSED or is_stored or owner is None:
        return NoFix("before the first batch Keras 2 and 3 list different metrics")
    if not has_builtin(module, read, "getattr"):
        return NoFix(hidden_builtin("getattr"))
    return metrics.fix(
        "Read what was passed to `compile`",
        replace_expression(
            module, read, f"getattr({owner}._compile_metrics, '_user_metrics', None)"
        ),
        unsafe_because="it is private in Keras 3, and after the first batch Keras 2 had metrics "
        "there, where names were passed",
    )
