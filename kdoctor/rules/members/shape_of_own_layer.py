"""`layer.compute_output_shape(s)` of a custom layer that does not define it."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import is_call_of_super, is_keras_3, speller_at, value_of
from kdoctor.analysis.models.unbuilt_weights import is_plain_model, passes_tensors_to_init
from kdoctor.analysis.models.user_classes import class_around, class_of
from kdoctor.analysis.queries import Call, calls
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.members._output_specs import SHAPE, OwnLayer, own_layer
from kdoctor.rules.rule import rule
from kdoctor.syntax.displays import elements_of
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_BASES = frozenset({"Layer", "Model"})


@rule(
    "KD243",
    severity=Severity.ERROR,
    since="3.0",
    look_for=calls(SHAPE, on=(Kind.LAYER, Kind.MODEL)),
)
def check(call: Call) -> Finding | None:
    """Report each such call, and what asks the base class of all layers."""
    around = class_around(call.module, call.node)
    if around is not None and _asks_base(call):
        return call.finding(
            "the base class does not know the shape: NotImplementedError: Layer "
            f"{around.name.value} does not have a `compute_output_shape` method implemented.",
            symbol=f"keras.layers.Layer.{SHAPE}",
            help="Return the shape itself. Where the method does nothing else, remove it: Keras 3 "
            "runs `call` to find the shape.",
            fix=NoFix("kdoctor does not know the shape of what `call` returns"),
        )
    asked = _asked(call)
    if asked is None:
        return None
    name = asked.name
    return call.finding(
        f"Keras 3 does not run `call` to find the shape: NotImplementedError: Layer {name} does "
        "not have a `compute_output_shape` method implemented.",
        symbol=f"{asked.symbol}.{SHAPE}",
        help=f"Define `{SHAPE}(self, input_shape)` in `{name}`, or call the layer with a "
        "`keras.KerasTensor` of that shape and read the shape of what it returns.",
        fix=_fix(call),
    )


def _asks_base(call: Call) -> bool:
    """Say whether it is ``super().compute_output_shape(…)`` of a direct subclass of ``Layer``."""
    owner = call.owner
    if not is_call_of_super(call.node, SHAPE) or owner is None or owner.qualified is None:
        return False
    return owner.cls == "Layer" and is_keras_3(call.facts, owner.qualified)


def _asked(call: Call) -> OwnLayer | None:
    """Return the layer of this file that is asked, if its shape is left to Keras."""
    node = None if call.owner is None else class_of(call.module, call.owner)
    if node is None:
        return None
    layer = own_layer(call.module, call.facts, node)
    if layer is None or layer.base not in _BASES or SHAPE in layer.methods:
        return None
    if layer.base == "Model" and (
        not is_plain_model(call.module, node) or _may_be_functional(layer)
    ):
        return None
    return layer


def _may_be_functional(model: OwnLayer) -> bool:
    """Say whether Keras may construct it of inputs and outputs: then it knows the shape."""
    init = model.methods.get("__init__")
    return "call" not in model.methods or (init is not None and passes_tensors_to_init(init))


def _fix(call: Call) -> Fix | NoFix:
    """Return the fix that calls the layer with a symbolic tensor of that shape."""
    module = call.module
    match call.node:
        case cst.Call(
            func=cst.Attribute(value=layer), args=[cst.Arg(keyword=None, star="") as only]
        ):
            sizes = elements_of(value_of(module, only.value))
        case _:
            return NoFix("it is not called with one shape")
    if not sizes or not all(literal(each) is None or type(literal(each)) is int for each in sizes):
        return NoFix("it may be one shape or a list of shapes")
    shape, whole = module.outer_span(only.value), module.span(call.node)
    before = Span(module.outer_span(layer).end, shape.start)
    after = Span(shape.end, whole.end)
    if any("#" in module.text[each.start : each.end] for each in (before, after)):
        return NoFix("there is a comment inside the expression")
    spelled, need = speller_at(module, call.node).spell("keras.Input")
    return call.fix(
        "Call the layer with a symbolic tensor",
        Edit(before, (f"({spelled}(batch_shape=",)),
        Edit(after, (")).shape",)),
        imports=(need,),
    )
