"""A cell whose `state_size` or `output_size` is a `tf.TensorShape`: Keras 3 wants integers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import replace_expression
from kdoctor.analysis.models.user_classes import receiver
from kdoctor.analysis.queries import Class, classes
from kdoctor.analysis.queries.conditions import word
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.libcst_walk import own_nodes, returned_in
from kdoctor.syntax.node_predicates import is_property
from kdoctor.value_types import Kind

_SHAPES: Final = frozenset(ways_also_by_1("tensorflow.TensorShape"))
_STATE, _OUTPUT = "state_size", "output_size"
_ERRORS: Final = {
    _STATE: "ValueError: state_size must be an integer, or a list/tuple of integers (one for each "
    "state tensor).",
    _OUTPUT: "ValueError: output_size must be an integer.",
}
_INSIDE: Final = "ValueError: Can't convert Python sequence with mixed types to Tensor."


@rule(
    "KD248",
    severity=Severity.ERROR,
    since="3.0",
    look_for=classes(Kind.LAYER, defining=("call",)).beside(word("TensorShape") & word(_STATE)),
)
def check(cell: Class) -> Iterator[Finding]:
    """Report each such size of a class that is a cell: its ``call`` takes states."""
    sizes = list(_sizes(cell))
    takes_states = len(cell.methods["call"].params.params) > 2
    if not takes_states or not any(member == _STATE for member, _ in sizes):
        return
    for member, size in sizes:
        several = isinstance(size, cst.List | cst.Tuple)
        parts = size.elements if isinstance(size, cst.List | cst.Tuple) else ()
        for part in [each.value for each in parts] or [size]:
            if isinstance(part, cst.Call) and cell.module.qualified(part.func) in _SHAPES:
                yield cell.finding(
                    f"`{member}` is a `tf.TensorShape`: {_INSIDE if several else _ERRORS[member]}",
                    at=part,
                    symbol=f"{cell.symbol}.{member}",
                    help="Give the number of units as an integer.",
                    fix=_fix(cell, part),
                )


def _sizes(cell: Class) -> Iterator[tuple[str, cst.BaseExpression]]:
    """Yield what the class gives or keeps as sizes."""
    for name, method in cell.methods.items():
        if name in _ERRORS and is_property(method):
            yield from ((name, each) for each in returned_in(method) if each is not None)
        own = receiver(method)
        for node in own_nodes(method.body):
            match node:
                case cst.Assign(
                    targets=[
                        cst.AssignTarget(
                            target=cst.Attribute(
                                value=cst.Name(value=owner), attr=cst.Name(value=member)
                            )
                        )
                    ],
                    value=value,
                ) if owner == own and member in _ERRORS:
                    yield member, value


def _fix(cell: Class, shape: cst.Call) -> Fix | NoFix:
    """Write the only size of a shape; a matrix is no state of a cell of Keras 3."""
    match shape.args:
        case [cst.Arg(value=cst.List() | cst.Tuple() as sizes, keyword=None, star="")]:
            elements = sizes.elements
        case _:
            return NoFix("kdoctor cannot tell how many axes the shape has")
    if len(elements) != 1 or not isinstance(elements[0], cst.Element):
        return NoFix("a state of a cell has one axis in Keras 3: flatten it, or write the loop")
    written = cell.module.source(elements[0].value)
    edit = replace_expression(cell.module, shape, written)
    return cell.fix("Write the size alone", edit)
