"""``tensor.node.layer``: the layer that made a symbolic tensor."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from kdoctor.analysis.queries import Read
from kdoctor.model import Edit, Fix, NoFix, Span
from kdoctor.rules.example import Example
from kdoctor.value_types import Kind


def operation_behind(read: Read, examples: Iterable[Example]) -> Fix | NoFix | None:
    """Return the fix of a node that is only asked for its layer, None of any other member."""
    if read.owner.kind is not Kind.TENSOR or read.member != "node":
        return None
    parent = read.module.parent(read.node)
    if not (isinstance(parent, cst.Attribute) and parent.attr.value == "layer"):
        return None
    start = read.module.span(read.node.attr).start
    return read.fix(
        "Read the operation that made the tensor",
        Edit(Span(start, read.module.span(parent).end), ("_keras_history.operation",)),
        proven_by=[each for each in examples if ".node.layer" in each.before],
    )
