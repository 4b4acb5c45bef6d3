"""`metric.update_state(y, p, sample_weight=w)` with `w` of shape (n, 1) and targets of (n,)."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.queries import Argument, applications, calls
from kdoctor.analysis.tensors.known_shapes import shape_of
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_OF_CONFUSION: Final = frozenset({
    "AUC", "FalseNegatives", "FalsePositives", "Precision", "PrecisionAtRecall", "Recall",
    "RecallAtPrecision", "SensitivityAtSpecificity", "SpecificityAtSensitivity", "TrueNegatives",
    "TruePositives",
})  # fmt: skip
"""Keras 2 made one axis of such weights."""
_OF_MEANS: Final = frozenset({
    "BinaryCrossentropy", "CategoricalAccuracy", "CategoricalCrossentropy", "CategoricalHinge",
    "CosineSimilarity", "Hinge", "KLDivergence", "LogCoshError", "MeanAbsoluteError",
    "MeanAbsolutePercentageError", "MeanSquaredError", "MeanSquaredLogarithmicError", "Poisson",
    "SquaredHinge",
})  # fmt: skip
"""Of targets of one axis they make a single number: on Keras 2 such weights changed nothing."""


@rule(
    "KD328",
    severity=Severity.ERROR,
    since="3.0",
    look_for=calls("update_state", on=Kind.METRIC).argument("sample_weight", 2)
    | applications(Kind.METRIC).argument("sample_weight", 2),
)
def check(weights: Argument) -> Finding | None:
    """Report such weights where all three shapes are known."""
    module = weights.module
    metric = weights.owner
    if metric is None or not metric.is_of_imported_class:
        return None
    targets, predictions = weights.value("y_true", 0), weights.value("y_pred", 1)
    if targets is None or predictions is None:
        return None
    shape = shape_of(module, weights.node)
    if shape is None or len(shape) != 2 or shape[1] != 1:
        return None
    flat = [shape_of(module, each) for each in (targets, predictions)]
    if any(each is None or len(each) != 1 for each in flat):
        return None
    if metric.cls in _OF_CONFUSION:
        fix = _fix(weights)
    elif metric.cls in _OF_MEANS:
        fix = NoFix("Keras 2 ignored these weights: whether they should count, only you know")
    else:
        return None
    return weights.finding(
        "the weights have shape (n, 1), the targets (n,): InvalidArgumentError: {{function_node "
        "__wrapped__BroadcastTo_device_…: Rank of input must be no greater than rank of output "
        "shape",
        help="Pass weights with one axis, `weights[:, 0]`."
        if metric.cls in _OF_CONFUSION
        else "Give targets and predictions the shape (n, 1), too, for a weighted mean.",
        fix=fix,
    )


def _fix(weights: Argument) -> Fix | NoFix:
    module, node = weights.module, weights.node
    if isinstance(value_of(module, node), cst.List | cst.Tuple | cst.ListComp):
        return NoFix("a list cannot be indexed by axis")
    span = module.outer_span(node)
    hole = Hole(span, Precedence.PRIMARY, precedence_of(node))
    return weights.fix("Take the only column of the weights", Edit(span, (hole, "[:, 0]")))
