"""`add_weight(shape=3)`, `add_weight(aggregation=tf.VariableAggregation.MEAN)`: refused values."""

from __future__ import annotations

from kdoctor.analysis.queries import Argument, calls
from kdoctor.analysis.queries.forms import is_plain_int
from kdoctor.model import Edit, Finding, Hole, Severity
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

AGGREGATIONS = {
    "NONE": "none",
    "SUM": "sum",
    "MEAN": "mean",
    "ONLY_FIRST_REPLICA": "only_first_replica",
}
_OWNERS = {Kind.LAYER: "keras.layers.Layer", Kind.MODEL: "keras.Model"}
_ADD_WEIGHT = calls("add_weight", on=_OWNERS).even(hidden=True)


@rule(
    "KD306",
    severity=Severity.ERROR,
    since="3.0",
    look_for=_ADD_WEIGHT.argument("shape", 0, where=is_plain_int)
    | _ADD_WEIGHT.argument("aggregation"),
)
def check(given: Argument) -> Finding | None:
    """Report each value that `add_weight` refuses."""
    return _shape(given) if given.keyword == "shape" else _aggregation(given)


def _shape(given: Argument) -> Finding:
    # `(3)` is an int in parentheses: the comma goes inside them.
    inside, outside = given.module.span(given.node), given.module.outer_span(given.node)
    parts = ("(", Hole(inside), ",)") if inside == outside else (Hole(inside), ",")
    return _finding(
        given,
        f"ValueError: Cannot convert '{given.source(given.value_node)}' to a shape.",
        "A shape is a tuple.",
        f"Write `({given.source(given.node)},)`",
        Edit(inside, parts),
    )


def _aggregation(given: Argument) -> Finding | None:
    owner, _, member = (given.module.qualified(given.node) or "").rpartition(".")
    is_tensorflow = owner.startswith("tensorflow.") and owner.endswith(".VariableAggregation")
    if not is_tensorflow or member not in AGGREGATIONS:
        return None
    new = f"'{AGGREGATIONS[member]}'"
    return _finding(
        given,
        "ValueError: Invalid value for argument `aggregation`. Expected one of `None`, `'none'`, "
        "`'mean'`, `'sum'`, `'only_first_replica'`.",
        f"It is {new} now.",
        f"Write {new}",
        Edit(given.module.outer_span(given.node), (new,)),
    )


def _finding(given: Argument, error: str, advice: str, title: str, edit: Edit) -> Finding:
    assert given.owner is not None
    return given.finding(
        f"`add_weight` no longer accepts this value: {error}",
        at=given.arg,
        symbol=f"{_OWNERS[given.owner.kind]}.add_weight",
        help=advice,
        fix=given.fix(title, edit),
    )
