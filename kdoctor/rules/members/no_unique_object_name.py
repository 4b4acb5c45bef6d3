"""``.unique_object_name``: not an attribute of tensors, weights, layers or models."""

from __future__ import annotations

from kdoctor.analysis.queries import Read, reads
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.members._error_owner import attribute_error, owner_in_words, symbol
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_NAMED = {
    Kind.TENSOR: "name",
    Kind.LAYER: "name",
    Kind.MODEL: "name",
    Kind.OPTIMIZER: "name",
    Kind.METRIC: "name",
    Kind.LOSS: "name",
    Kind.VARIABLE: "path",
}


@rule(
    "KD202",
    severity=Severity.ERROR,
    look_for=reads("unique_object_name", on={*_NAMED, Kind.EAGER}),
)
def check(read: Read) -> Finding:
    """Report each use that the user's own class does not define."""
    name = "name" if read.owner.is_tf_variable else _NAMED.get(read.owner.kind)
    return read.finding(
        f"{owner_in_words(read.owner)} has no `{read.member}`: "
        f"{attribute_error(read.owner, read.member)}",
        symbol=symbol(read.owner, read.member),
        help=f"Read `.{name}`." if name else "A tensor with values has no name.",
        fix=_read_the_name(read, name),
    )


def _read_the_name(read: Read, name: str | None) -> Fix | NoFix:
    if name is None:
        return NoFix("a tensor with values has no name to read instead")
    if read.called:
        return NoFix("a name is not callable")
    return read.fix(
        f"Read `.{name}` instead",
        Edit(read.module.span(read.node.attr), (name,)),
        unsafe_because="no Keras release defines what this name should be",
    )
