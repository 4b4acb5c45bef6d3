"""`[m.name for m in model.metrics]`: one entry stands for all metrics of `compile`."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import has_builtin, hidden_builtin, replace_expression
from kdoctor.analysis.queries import Read, reads
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.members._error_owner import symbol
from kdoctor.rules.members._own_metrics import has_metrics_of_its_own
from kdoctor.rules.rule import rule
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_OF_KERAS_3: Final = "_compile_metrics"
"""What only code that knows of this says: an attribute of the models of Keras 3."""


@rule("KD249", severity=Severity.CHANGE, since="3.0", look_for=reads("metrics", on=Kind.MODEL))
def check(read: Read) -> Finding | None:
    """Report where the names of all metrics are collected, or one is taken by its place."""
    if not (_is_asked_for_names(read) or _is_asked_for_one(read)) or has_metrics_of_its_own(read):
        return None
    if _OF_KERAS_3 in read.module.text:
        return None
    return read.finding(
        "`metrics` has a single entry, `compile_metrics`, for all metrics of `compile`",
        symbol=symbol(read.owner, read.member),
        help="Their names and values are `model.get_metrics_result()`; `compile_metrics` has them "
        "as `metrics`.",
        fix=_fix(read),
    )


def _is_asked_for_names(read: Read) -> bool:
    """Say whether the names of all are collected: ``[m.name for m in model.metrics]``."""
    module = read.module
    loop = module.parent(read.node)
    if not isinstance(loop, cst.CompFor) or loop.iter is not read.node:
        return False
    whole = module.parent(loop)
    if not isinstance(whole, cst.ListComp | cst.SetComp | cst.GeneratorExp):
        return False
    asked = (part for each in (whole.elt, *loop.ifs) for part in (each, *descendants(each)))
    return any(
        isinstance(each, cst.Attribute)
        and each.attr.value == "name"
        and each.value.deep_equals(loop.target)
        for each in asked
    )


def _is_asked_for_one(read: Read) -> bool:
    """Say whether one behind the loss is taken: ``model.metrics[1]``."""
    match read.module.parent(read.node):
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=place))]) as taken:
            number = literal(place)
            return taken.value is read.node and isinstance(number, int) and number != 0
    return False


def _fix(read: Read) -> Fix | NoFix:
    module = read.module
    if not has_builtin(module, read.node, "getattr"):
        return NoFix(hidden_builtin("getattr"))
    written = module.source(read.node)
    return read.fix(
        "Look into `compile_metrics`",
        replace_expression(
            module,
            read.node,
            f"[metric for each in {written} for metric in getattr(each, 'metrics', [each])]",
        ),
        unsafe_because="before the first batch Keras 2 listed none, and Keras 3 lists `loss`",
    )
