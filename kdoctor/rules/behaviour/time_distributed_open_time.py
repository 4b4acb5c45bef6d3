"""`TimeDistributed` processes too few steps if the time axis has no fixed length."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, speller_at, value_of
from kdoctor.analysis.queries import Call, Instance, constructs
from kdoctor.analysis.training.sequence_lengths import gets_several_lengths
from kdoctor.keras_api import split_root
from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.fixes.helper_definition import helper_edits, top_statement
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_KEEP_TIME = frozenset({
    "Activation", "BatchNormalization", "Bidirectional", "Dense", "Dropout", "Embedding", "GRU",
    "LSTM", "LayerNormalization", "Masking", "SimpleRNN", "SpatialDropout1D", "TimeDistributed",
})  # fmt: skip
_ON_THE_LAST_AXIS = frozenset({"Activation", "Dense", "Dropout", "LayerNormalization", "ReLU"})
_SHAPES = {"input_shape": 0, "batch_input_shape": 1, "shape": 0, "batch_shape": 1}
_MAX_DEPTH = 40


HELPER: Final = '''\
@{register}()
class StepsInBatch({layer}):
    """`TimeDistributed` with all steps in the batch, as Keras 2 had them."""

    def call(self, inputs, training=None, mask=None):
        batch, steps, *sizes = {shape}(inputs)
        given = {{}}
        if mask is not None and "mask" in {signature}(self.layer.call).parameters:
            given["mask"] = {reshape}(mask, (-1, *{shape}(mask)[2:]))
        outputs = self.layer({reshape}(inputs, (-1, *sizes)), training=training, **given)
        return {reshape}(outputs, (batch, steps, *{shape}(outputs)[1:]))'''
_NAME: Final = "StepsInBatch"
_NAMES: Final = {
    "register": "keras.saving.register_keras_serializable",
    "layer": "keras.layers.TimeDistributed",
    "shape": "keras.ops.shape",
    "reshape": "keras.ops.reshape",
    "signature": "inspect.signature",
}
_SEEN: Final = ("/loop_body/", "slice index", "out of bounds")
"""What the error that it raises is told by, as a part of its text."""


@rule(
    "KD424",
    severity=Severity.CHANGE,
    since="3.14.0",
    look_for=constructs(Instance(Kind.LAYER, "TimeDistributed")).even(hidden=True),
)
def check(made: Call) -> Finding | None:
    """Report each such layer."""
    if not made.node.args or not (
        _is_open(made.module, made.node) or _was_seen(made.module, made.node)
    ):
        return None
    assert made.reference is not None
    return made.finding(
        "the time axis has no fixed length: after two batches of different lengths, this "
        "Keras processes only as many steps as a batch has samples, and drops the rest",
        at=made.reference.node,
        confidence=Confidence.LIKELY,
        help="Use the layer without the wrapper if it works on the last axis, as `Dense` does; "
        "give the input a fixed length; or fold time into the batch in a custom layer.",
        fix=_fix(made),
    )


def _is_open(module: Module, layer: cst.Call) -> bool:
    """Say whether it is applied to a tensor, or added to a model, with an open time axis."""
    parent = module.parent(layer)
    if isinstance(parent, cst.Call) and parent.func is layer and parent.args:
        return _comes_with_open_time(module, parent.args[0].value)
    if isinstance(parent, cst.Arg):
        call = module.parent(parent)
        if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute):
            return _is_added_behind_open_time(module, call)
    if isinstance(parent, cst.Element) and isinstance(module.parent(parent), cst.List):
        before = module.parent(parent)
        assert isinstance(before, cst.List)
        layers = [each.value for each in before.elements]
        model = _model_of(module, before)
        return _first_leaves_it_open(module, layers[: layers.index(layer)], model)
    return False


def _comes_with_open_time(module: Module, tensor: cst.BaseExpression, depth: int = 0) -> bool:
    made = value_of(module, tensor)
    if not isinstance(made, cst.Call) or depth > _MAX_DEPTH:
        return False
    if _leaf(module, made) == "Input":
        return _leaves_time_open(made)
    layer = value_of(module, made.func)
    if not isinstance(layer, cst.Call) or not made.args:
        return False
    return _leaf(module, layer) in _KEEP_TIME and _comes_with_open_time(
        module, made.args[0].value, depth + 1
    )


def _is_added_behind_open_time(module: Module, call: cst.Call) -> bool:
    """Say whether ``model.add`` puts it behind layers of which the first leaves time open."""
    assert isinstance(call.func, cst.Attribute)
    name, scope = module.source(call.func.value), module.scope_of(call)
    owner = module.type_of(call.func.value)
    if call.func.attr.value != "add" or owner is None or owner.kind is not Kind.MODEL:
        return False
    added = [
        use.called.args[0].value
        for use in module.members_named("add")
        if use.called is not None
        and use.called.args
        and module.source(use.node.value) == name
        and module.scope_of(use.node) is scope
        and module.span(use.called) < module.span(call)
    ]
    made = value_of(module, call.func.value)
    is_empty = isinstance(made, cst.Call) and not made.args
    return is_empty and _first_leaves_it_open(module, added, call.func.value)


def _model_of(module: Module, layers: cst.List) -> cst.BaseExpression | None:
    """Return the name that ``Sequential([…])`` is assigned to."""
    passed = module.parent(layers)
    made = None if passed is None else module.parent(passed)
    assign = None if made is None else module.parent(made)
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return None
    return assign.targets[0].target


def _first_leaves_it_open(
    module: Module, layers: list[cst.BaseExpression], model: cst.BaseExpression | None
) -> bool:
    calls = [each for each in layers if isinstance(each, cst.Call)]
    if not calls or len(calls) < len(layers):
        return False
    if not all(_leaf(module, each) in _KEEP_TIME | {"Input", "InputLayer"} for each in calls):
        return False
    return _leaves_time_open(calls[0]) or (
        isinstance(model, cst.Name)
        and not _is_told_a_shape(module, calls[0])
        and gets_several_lengths(module, model.value, model)
    )


def _is_told_a_shape(module: Module, made: cst.Call) -> bool:
    """Say whether a first layer is an input, or may be told the shape of its input."""
    told = {*_SHAPES, "input_dim"} if _leaf(module, made) != "Embedding" else {*_SHAPES}
    given = {each.keyword.value for each in made.args if each.keyword is not None}
    return is_hidden(made) or bool(told & given) or _leaf(module, made).startswith("Input")


def _leaves_time_open(made: cst.Call) -> bool:
    """Say whether an input (or a first layer) is told a shape whose time is None."""
    for name, index in _SHAPES.items():
        given = argument(made, name, 0 if name == "shape" else None)
        if given is None or not isinstance(given.value, cst.Tuple | cst.List):
            continue
        sizes = [each.value for each in given.value.elements]
        return (
            len(sizes) > index
            and isinstance(size := sizes[index], cst.Name)
            and size.value == "None"
        )
    return False


def _leaf(module: Module, call: cst.BaseExpression) -> str:
    split = split_root((isinstance(call, cst.Call) and module.qualified(call.func)) or "")
    return "" if split is None else split[1].rpartition(".")[2]


def _fix(made: Call) -> Fix | NoFix:
    module, layer, inner = made.module, made.node, made.node.args[0]
    is_alone = len(layer.args) == 1 and not inner.star and isinstance(inner.value, cst.Call)
    if not is_alone or _leaf(module, inner.value) not in _ON_THE_LAST_AXIS:
        return _in_batch(made)
    place = module.outer_span(inner.value)
    return made.fix(
        "Remove the wrapper: the layer works on the last axis",
        Edit(module.span(layer), (Hole(place, own=precedence_of(inner.value)),)),
        unsafe_because="weights saved with the wrapper are not found under the layer's name",
    )


def _in_batch(made: Call) -> Fix | NoFix:
    """Return the fix that makes a subclass of the layer, which folds time into the batch."""
    module = made.module
    before = top_statement(module, min(_wrappers(module), key=module.span, default=made.node))
    speller = speller_at(module, before)
    written = {key: speller.spell(name) for key, name in _NAMES.items()}
    text = HELPER.format(**{key: spelled for key, (spelled, _) in written.items()})
    helper = helper_edits(module, before, _NAME, text)
    if helper is None:
        return NoFix(f"`{_NAME}` cannot be added to this file: the name is taken, or Keras is not")
    return made.fix(
        "Fold time into the batch, as Keras 2 did, in a subclass of the layer",
        *helper,
        Edit(module.span(made.node.func), (_NAME,)),
        imports=dict.fromkeys(need for _, need in written.values() if need is not None),
        unsafe_because="the layer has another class when the model is saved",
    )


def _wrappers(module: Module) -> list[cst.Call]:
    """Return the calls that make such layers: all fixes of a file put the class in one place."""
    names = (each for each in module.references if each.call is not None)
    return [
        each.call
        for each in names
        if each.call is not None and each.name.endswith(".TimeDistributed")
    ]


def _was_seen(module: Module, layer: cst.Call) -> bool:
    """Say whether its error came out of the function that makes the layer."""
    seen = module.inference.errors_in(module.scope_of(layer))
    return any(all(part in each for part in _SEEN) for each in seen)
