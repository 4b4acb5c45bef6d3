"""`add_weight(shape=3)`, `add_weight(aggregation=tf.VariableAggregation.MEAN)`: refused values."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.queries import Argument, calls
from kdoctor.analysis.queries.forms import Expression, is_plain_int
from kdoctor.analysis.tensors.shapes import is_shape_parameter
from kdoctor.model import Edit, Finding, Hole, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

AGGREGATIONS = {
    "NONE": "none",
    "SUM": "sum",
    "MEAN": "mean",
    "ONLY_FIRST_REPLICA": "only_first_replica",
}
_OWNERS = {Kind.LAYER: "keras.layers.Layer", Kind.MODEL: "keras.Model"}


def _may_be_a_number(form: object) -> bool:
    is_element = isinstance(form, Expression) and form.kind == "Subscript"
    return is_element or is_plain_int(form)


_ADD_WEIGHT = calls("add_weight", on=_OWNERS).even(hidden=True)


@rule(
    "KD306",
    severity=Severity.ERROR,
    since="3.0",
    look_for=_ADD_WEIGHT.argument("shape", 0, where=_may_be_a_number)
    | _ADD_WEIGHT.argument("aggregation"),
)
def check(given: Argument) -> Finding | None:
    """Report each value that `add_weight` refuses."""
    if given.keyword != "shape":
        return _aggregation(given)
    if isinstance(given.value_node, cst.Subscript):
        return _element_in_brackets(given)
    return _shape(given)


def _element_in_brackets(given: Argument) -> Finding | None:
    """``shape=(input_shape[-1])``: the brackets say that a tuple was meant, and the comma lacks."""
    module, node = given.module, given.node
    inside = module.span(node)
    if not isinstance(node, cst.Subscript) or inside == module.outer_span(node):
        return None
    match node:
        case cst.Subscript(
            value=cst.Name() as shape,
            slice=[cst.SubscriptElement(slice=cst.Index())],
        ) if is_shape_parameter(module, shape):
            pass
        case _:
            return None
    source = given.source(node)
    return _finding(
        given,
        "ValueError: Cannot convert '…' to a shape.",
        "A shape is a tuple.",
        f"Write `({source},)`",
        Edit(inside, (Hole(inside), ",")),
        unsafe_because="of a layer with several inputs it is the shape of one of them",
    )


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


def aggregation_of(module: Module, node: cst.BaseExpression) -> str | None:
    """Return what Keras 3 calls an aggregation of TensorFlow; None for what is no such one."""
    owner, _, member = (module.qualified(node) or "").rpartition(".")
    is_tensorflow = owner.startswith("tensorflow.") and owner.endswith(".VariableAggregation")
    return AGGREGATIONS.get(member) if is_tensorflow else None


def _aggregation(given: Argument) -> Finding | None:
    aggregation = aggregation_of(given.module, given.node)
    if aggregation is None:
        return None
    new = f"'{aggregation}'"
    return _finding(
        given,
        "ValueError: Invalid value for argument `aggregation`. Expected one of `None`, `'none'`, "
        "`'mean'`, `'sum'`, `'only_first_replica'`.",
        f"It is {new} now.",
        f"Write {new}",
        Edit(given.module.outer_span(given.node), (new,)),
    )


def _finding(  # noqa: PLR0913 - what a finding is made of
    given: Argument, error: str, advice: str, title: str, edit: Edit, *, unsafe_because: str = ""
) -> Finding:
    assert given.owner is not None
    return given.finding(
        f"`add_weight` no longer accepts this value: {error}",
        at=given.arg,
        symbol=f"{_OWNERS[given.owner.kind]}.add_weight",
        help=advice,
        fix=given.fix(title, edit, unsafe_because=unsafe_because),
    )
