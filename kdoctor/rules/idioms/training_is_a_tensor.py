"""A tensor is passed as `training` to a Keras layer: it has no value in a compiled model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_call_of_super, is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import class_around, kind_of_class, only_base
from kdoctor.analysis.queries import File, any_calls, called, files
from kdoctor.analysis.queries.conditions import defines, given_result
from kdoctor.analysis.tensors.tensorflow_calls import returns_tensor
from kdoctor.keras_api import Presence
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.idioms._python_bools import PythonBools, is_tensor
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

ASK_FOR_IT: Final = frozenset({
    "AlphaDropout", "BatchNormalization", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "Dropout",
    "GRU", "GaussianDropout", "GaussianNoise", "LSTM", "SimpleRNN", "SpatialDropout1D",
    "SpatialDropout2D", "SpatialDropout3D",
})  # fmt: skip
"""The layers of Keras that ask for the value of ``training``, however they are made."""
_EAGERLY: Final = frozenset({"run_eagerly", "run_functions_eagerly"})
_TRAINING: Final = "training"
_ERROR: Final = "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed."


def _is_one(_: TargetFacts, name: str) -> bool:
    return returns_tensor(name)


@rule(
    "KD513",
    severity=Severity.ERROR,
    since="3.0",
    # Most layers of the user's own pass `training` on: what it may be tells.
    look_for=files(
        defines("call"),
        given_result(any_calls().even(hidden=True), _TRAINING, where=_is_one)
        | given_result(called("call").even(hidden=True), where=_is_one),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such argument."""
    module, facts = file.module, file.facts
    if not module.words.isdisjoint(_EAGERLY):
        return
    for call in module.nodes(cst.Call):
        function = _traced(module, call)
        layer = None if function is None else _layer(module, facts, call)
        if function is None or layer is None:
            continue
        given = argument(call, _TRAINING, _place(facts, call, layer))
        if given is None or not is_tensor(module, function, given.value):
            continue
        if module.is_guarded(call):
            continue
        conversion = PythonBools(module, function)
        is_converted = conversion.converts(given.value) and conversion.covers_all_reads()
        yield file.finding(
            f"`{_TRAINING}` of `{layer}` is a tensor, which has no value in `fit`, `predict` and "
            f"`tf.function`: OperatorNotAllowedInGraphError: {_ERROR}",
            at=given,
            symbol=f"keras.layers.{layer}.call({_TRAINING})",
            help="Pass a Python bool: `training and self.trainable`. If it depends on data: "
            "`keras.ops.where(flag, layer(x, training=True), layer(x, training=False))`.",
            fix=file.fix("Convert it to a Python bool", *conversion.edits)
            if is_converted
            else NoFix("its operands are not Python bools here"),
        )


def _traced(module: Module, call: cst.Call) -> cst.FunctionDef | None:
    """Return the ``call`` of a layer or model that surely makes this call itself."""
    for each in module.ancestors(call):
        match each:
            case cst.Lambda() | cst.ClassDef():
                return None
            case cst.FunctionDef(name=cst.Name(value="call"), decorators=[], asynchronous=None):
                body = module.parent(each)
                owner = None if body is None else module.parent(body)
                is_one = isinstance(owner, cst.ClassDef) and kind_of_class(module, owner) in {
                    Kind.LAYER,
                    Kind.MODEL,
                }
                return each if is_one else None
            case cst.FunctionDef():
                return None
    return None


def _layer(module: Module, facts: TargetFacts, call: cst.Call) -> str | None:
    """Return which of Keras' own layers a call surely runs, None of those that do not ask."""
    if is_call_of_super(call, "call"):
        owner = class_around(module, call)
        base = None if owner is None else only_base(module, owner)
        if base is None:
            return None
        is_own = module.project_class(base) is not None
        return None if is_own else _name_of_layer(facts, module.qualified(base))
    made = module.type_of(call.func)
    if made is None or made.kind is not Kind.LAYER:
        return None
    own = {
        *(each.name.value for each in module.nodes(cst.ClassDef)),
        *(each.own_class.name for each in module.imports if each.own_class is not None),
    }
    if made.cls in own:
        return None  # what a class of the user's does with it is another question
    name = _name_of_layer(facts, made.qualified)
    return name if name == made.cls else None


def _name_of_layer(facts: TargetFacts, name: str | None) -> str | None:
    if name is None or not is_keras_3(facts, name):
        return None
    found = facts.lookup(name)
    parent, _, leaf = found.name.rpartition(".")
    is_there = found.presence is Presence.EXISTS and parent == "layers"
    return leaf if is_there and leaf in ASK_FOR_IT else None


def _place(facts: TargetFacts, call: cst.Call, layer: str) -> int | None:
    """Return at which place `super().call` takes it; layers themselves take it by keyword."""
    is_of_super = is_call_of_super(call, "call")
    signature = facts.signature(f"keras.layers.{layer}.call") if is_of_super else None
    names = [each.name for each in signature.parameters] if signature else []
    return names.index(_TRAINING) if _TRAINING in names else None
