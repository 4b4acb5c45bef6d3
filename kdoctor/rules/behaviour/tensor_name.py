"""`tensor.name` is `keras_tensor_3`, no longer made of the name of the layer."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.queries import Read, reads
from kdoctor.analysis.queries.conditions import word
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_PARTING: Final = frozenset({"split", "rsplit", "partition", "rpartition"})
_SIGNS: Final = frozenset({"/", ":", ":0"})
_OUTPUTS: Final = frozenset({"output", "outputs"})


@rule(
    "KD494",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=reads("name", on=Kind.TENSOR).beside(word(*_PARTING)),
)
def check(name: Read) -> Finding | None:
    """Report each name of a layer's output that is taken apart."""
    parted = _parted(name.module, name.node)
    if parted is None or not _is_of_a_layer(name.module, name.node.value):
        return None
    call, sign = parted
    return name.finding(
        f"the name of a symbolic tensor no longer contains `{sign}`: it is `keras_tensor_3`, not "
        "`dense/Relu:0`",
        symbol="KerasTensor.name",
        help="Ask for the layer: `tensor._keras_history.operation.name`.",
        fix=_fix(name, call, sign),
    )


def _parted(module: Module, node: cst.Attribute) -> tuple[cst.Call, str] | None:
    """Return the call that takes the name apart, and at what."""
    method = module.parent(node)
    call = None if method is None else module.parent(method)
    match call:
        case cst.Call(
            func=cst.Attribute(value=owner, attr=cst.Name(value=leaf)),
            args=[cst.Arg(value=sign, keyword=None, star=""), *_],
        ) if owner is node and leaf in _PARTING:
            text = literal(sign)
            return (call, text) if isinstance(text, str) and text in _SIGNS else None
    return None


def _is_of_a_layer(module: Module, tensor: cst.BaseExpression) -> bool:
    """Say whether a layer or a model gave it: what `Input` makes has its own name still."""
    match value_of(module, tensor):
        case cst.Call(func=func):
            made = module.type_of(func)
            return made is not None and made.kind in {Kind.LAYER, Kind.MODEL}
        case cst.Attribute(attr=cst.Name(value=member)):
            return member in _OUTPUTS
        case cst.Subscript(value=cst.Attribute(attr=cst.Name(value=member))):
            return member in _OUTPUTS
    return False


def _fix(name: Read, call: cst.Call, sign: str) -> Fix | NoFix:
    """Ask for the layer's name, which stood before the first slash."""
    module = name.module
    part = module.parent(call)
    match part:
        case cst.Subscript(
            value=cst.Call(func=cst.Attribute(attr=cst.Name(value="split"))),
            slice=[cst.SubscriptElement(slice=cst.Index(cst.Integer(value="0"), star=None))],
        ) if part.value is call and sign == "/":
            start, end = module.span(name.node.attr).start, module.span(part).end
            return name.fix(
                "Read the name of the layer",
                Edit(Span(start, end), ("_keras_history.operation.name",)),
                unsafe_because="in a name scope, or in a model in a model, another name came first",
            )
    return NoFix("what stood there was a name of TensorFlow, which Keras 3 does not give")
