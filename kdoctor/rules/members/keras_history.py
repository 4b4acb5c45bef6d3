"""``tensor._keras_history``: private, only on symbolic tensors, and without ``.layer`` on Keras 3."""  # noqa: E501 - as on its page

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.queries import Read, reads
from kdoctor.analysis.queries.conditions import word
from kdoctor.model import Edit, Finding, NoFix, Severity
from kdoctor.rules.members._error_owner import attribute_error, owner_in_words, symbol
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_MEMBER = "_keras_history"
_WITHOUT = {Kind.EAGER, Kind.VARIABLE, Kind.LAYER, Kind.MODEL}


@rule(
    "KD203",
    severity=Severity.ERROR,
    since="3.0",
    look_for=reads(_MEMBER, on={*_WITHOUT, Kind.TENSOR})
    | reads("layer", on=Kind.KERAS_HISTORY).beside(word(_MEMBER)),
)
def check(read: Read) -> Finding | None:
    """Report what raises; what is merely private where nothing behind it raises."""
    if read.member == "layer":
        return _renamed(read)
    if read.owner.kind in _WITHOUT:
        return _absent(read)
    parent = read.module.parent(read.node)
    is_followed = isinstance(parent, cst.Attribute) and parent.attr.value == "layer"
    return None if is_followed else _private(read)


def _renamed(read: Read) -> Finding:
    edit = Edit(read.module.span(read.node.attr), ("operation",))
    return read.finding(
        f"a KerasHistory has no `layer`: {attribute_error(read.owner, 'layer')}",
        symbol="KerasHistory.layer",
        help="It is now `operation`.",
        fix=read.fix("Read `.operation` instead of `.layer`", edit),
    )


def _absent(read: Read) -> Finding:
    return read.finding(
        f"{owner_in_words(read.owner)} has no `{_MEMBER}`: {attribute_error(read.owner, _MEMBER)}",
        symbol=symbol(read.owner, _MEMBER),
        help="Only symbolic tensors (`keras.Input(…)`, a layer called on one) record which "
        "operation made them.",
        fix=NoFix("only symbolic tensors of a model record which operation made them"),
    )


def _private(read: Read) -> Finding:
    return read.finding(
        f"`{_MEMBER}` is private to Keras and may change without notice; "
        "it exists on symbolic tensors, before and after `compile`",
        symbol=f"KerasTensor.{_MEMBER}",
        severity=Severity.LEGACY,
        help="Ask the model: `model.layers`, `model.get_layer(name)`, `layer.output`.",
        fix=NoFix("kdoctor cannot tell what it is used for"),
    )
