"""``model.layers[0].input``: the `InputLayer` of a functional model has no `input`."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_keras_3
from kdoctor.analysis.queries import Instance, Read, reads
from kdoctor.analysis.queries.conditions import member, word
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Finding, Hole, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_INPUT_LAYER: Final = "InputLayer"
_GET_LAYER: Final = "get_layer"


@rule(
    "KD229",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=reads("input", on=Instance(Kind.LAYER, cls="InputLayer"))
    | reads("input", on=Kind.LAYER).beside(member("layers") | word(_GET_LAYER) & word("Input")),
)
def check(read: Read) -> Finding | None:
    """Report each such read."""
    if read.owner.cls == "InputLayer" and read.owner.is_of_imported_class:
        return _of_an_input_layer(read)
    if _is_an_input_by_name(read) and is_keras_3(read.facts, None):
        return _finding_of_input_layer(read)
    module, model = read.module, _model_of_first_layer(read)
    of = None if model is None else module.type_of(model)
    if model is None or of is None or of.kind is not Kind.MODEL or of.cls == "Sequential":
        return None
    if not is_keras_3(read.facts, of.qualified) or _is_asked_for_its_class(read):
        return None
    kept = Hole(module.outer_span(model), Precedence.PRIMARY, precedence_of(model))
    return read.finding(
        "the first layer of a functional model is its `InputLayer`, whose `input` is an empty list",
        symbol="InputLayer.input",
        help="Write `model.inputs[0]`.",
        fix=read.fix(
            "Read the model's first input instead",
            Edit(module.span(read.node), (kept, ".inputs[0]"), Precedence.PRIMARY),
            unsafe_because="the first input of a model with several inputs may not belong to the "
            "first layer",
        ),
    )


def _of_an_input_layer(read: Read) -> Finding | None:
    if not is_keras_3(read.facts, read.owner.qualified):
        return None
    return _finding_of_input_layer(read)


def _finding_of_input_layer(read: Read) -> Finding:
    return read.finding(
        "an `InputLayer` has no input: `input` is an empty list",
        symbol="InputLayer.input",
        help="Write `output`: the tensor that the layer creates.",
        fix=read.fix("Read `output` instead", Edit(read.module.span(read.node.attr), ("output",))),
    )


def _is_an_input_by_name(read: Read) -> bool:
    """Say whether it is ``model.get_layer("x")``, where ``x`` is an `Input` of this file alone."""
    match read.node.value:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=method))) as call if (
            method == _GET_LAYER
        ):
            given = argument(call, "name", 0)
        case _:
            return False
    wanted = None if given is None else literal(given.value)
    if not isinstance(wanted, str):
        return False
    named = [
        each
        for each in read.module.nodes(cst.Call)
        if each is not call
        and (name := argument(each, "name")) is not None
        and literal(name.value) == wanted
    ]
    others = [each for each in named if not _makes_an_input(read.module, each)]
    asking = [each for each in others if _is_get_layer(each)]
    return len(named) > len(others) and len(asking) == len(others)


def _makes_an_input(module: Module, call: cst.Call) -> bool:
    split = split_root(module.qualified(call.func) or "")
    return split is not None and split[1].rpartition(".")[2] == "Input"


def _is_get_layer(call: cst.Call) -> bool:
    return isinstance(call.func, cst.Attribute) and call.func.attr.value == _GET_LAYER


def _is_asked_for_its_class(read: Read) -> bool:
    """Say whether a condition around it asks for an `InputLayer`: ``if not isinstance(…)``."""
    return any(
        isinstance(each, cst.If | cst.IfExp) and _INPUT_LAYER in read.source(each.test)
        for each in read.module.ancestors(read.node)
    )


def _model_of_first_layer(read: Read) -> cst.BaseExpression | None:
    match read.node.value:
        case cst.Subscript(
            value=cst.Attribute(value=model, attr=cst.Name(value="layers")),
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))],
        ):
            return model
    return None
