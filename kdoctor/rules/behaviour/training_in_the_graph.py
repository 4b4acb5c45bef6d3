"""`layer(x, training=True)` in a functional model: `fit` and `predict` override it."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import argument, is_keras_3, speller_at
from kdoctor.analysis.models.user_classes import kind_of_class
from kdoctor.analysis.queries import Argument, applications, calls
from kdoctor.analysis.queries.forms import is_bool
from kdoctor.analysis.tensors.symbolic import SYMBOLIC, holds_symbolic
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Finding, Hole, ImportNeed, NoFix, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.behaviour._may_be_trained import may_be_trained
from kdoctor.rules.rule import rule
from kdoctor.syntax import MemberStore, Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Context, Kind, Type

DIFFER_IN_TRAINING = frozenset({
    "AlphaDropout", "BatchNormalization", "Bidirectional", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D",
    "Dropout", "GRU", "GaussianDropout", "GaussianNoise", "LSTM", "MultiHeadAttention", "RNN",
    "SimpleRNN", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "TimeDistributed",
})  # fmt: skip
"""Layers of Keras that do something else in training; random ones (`RandomFlip`) are others."""
_HELP = {
    True: "Call the model, `model(x)`, instead of `model.predict(x)`; or subclass the layer and "
    "pass `training=True` to `super().call` in its `call`.",
    False: "Wrap it in a `keras.layers.Wrapper` whose `call` returns `self.layer(inputs, "
    "training=False)`; or freeze it with `layer.trainable = False`.",
}
_NO_FIX = {
    True: "there is no `predict` call of this model in the same function",
    False: "the value that `fit` passes has to be overridden inside a layer",
}
_UNSAFE = "`predict` works batch by batch, and accepts datasets and generators too"
_INSIDE = (Context.CALL, Context.LOSS_OR_METRIC, Context.TRAIN_LOOP, Context.EAGER)


@rule(
    "KD423",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=applications(on=(Kind.LAYER, Kind.MODEL))
    .even(hidden=True)
    .argument("training", where=is_bool)
    .beside(SYMBOLIC),
)
def check(given: Argument) -> Finding | None:
    """Report each phase that is given where a model is built."""
    module, call, owner = given.module, given.call, given.owner
    phase = literal(given.node)
    if not isinstance(phase, bool) or not _builds(module, call):
        return None
    if owner is None or not _differs(owner) or not is_keras_3(given.facts, owner.qualified):
        return None
    # Whatever does not come to `fit` infers anyway.
    if not phase and (_is_frozen(module, call.func) or not may_be_trained(module, call)):
        return None
    return _finding(given, owner.cls or "the layer", phase=phase)


def _builds(module: Module, call: cst.Call) -> bool:
    return (
        bool(call.args)
        and holds_symbolic(module, call.args[0].value)
        and module.context_of(call) not in _INSIDE
        and not _stands_in_a_method(module, call)
    )


def _stands_in_a_method(module: Module, call: cst.Call) -> bool:
    """Say whether a layer or model makes the call when it runs: then no model is built.

    What its methods take is often annotated as `keras.KerasTensor`, also where it holds values.
    """
    function: cst.FunctionDef | None = None
    for each in module.ancestors(call):
        if isinstance(each, cst.FunctionDef):
            function = each
        elif isinstance(each, cst.ClassDef):
            is_made = function is None or function.name.value == "__init__"
            return not is_made and kind_of_class(module, each) in {Kind.LAYER, Kind.MODEL}
    return False


def _differs(owner: Type) -> bool:
    """Say whether an object does something else in training; of the user's own nobody knows."""
    if owner.kind is Kind.MODEL:
        return True
    if owner.kind is not Kind.LAYER or owner.cls is None:
        return False
    is_own = split_root(owner.qualified or "") is None or not owner.is_of_imported_class
    return is_own or owner.cls in DIFFER_IN_TRAINING or owner.cls.startswith("Random")


def _is_frozen(module: Module, layer: cst.BaseExpression) -> bool:
    """Say whether this file freezes it, and never thaws it: then it infers anyway."""
    values = [
        literal(store.value)
        for store in module.member_stores
        if store.member == "trainable"
        and module.source(layer) in {module.source(store.node.value), _looped_over(module, store)}
    ]
    return bool(values) and all(value is False for value in values)


def _looped_over(module: Module, store: MemberStore) -> str:
    """Return the ``base`` of ``for layer in base.layers: layer.trainable = …``."""
    for each in module.ancestors(store.node):
        if isinstance(each, cst.For) and each.target.deep_equals(store.node.value):
            source = module.source(each.iter)
            return source.removesuffix(".layers") if source.endswith(".layers") else ""
    return ""


def _finding(given: Argument, name: str, *, phase: bool) -> Finding:
    edits, needs = _predictions(given) if phase else ([], [])
    ignored_by = "`predict` and `evaluate` pass" if phase else "`fit` passes"
    return given.finding(
        f"`training={phase}` is overridden: {ignored_by} another value to `{name}`",
        symbol=f"{name}.__call__(training)",
        at=given.arg,
        help=_HELP[phase],
        fix=given.fix(
            "Call the model instead of `predict`", *edits, imports=needs, unsafe_because=_UNSAFE
        )
        if edits
        else NoFix(_NO_FIX[phase]),
    )


def _predictions(given: Argument) -> tuple[list[Edit], list[ImportNeed]]:
    """Return the edits that call the models which the same function predicts with."""
    module = given.module
    scope, start = module.scope_of(given.call), module.span(given.call).start
    edits: list[Edit] = []
    needs: list[ImportNeed] = []
    for call in given.find(calls("predict", on=Kind.MODEL).even(hidden=True)):
        data = _only_data(call.node)
        if data is None or module.scope_of(call.node) is not scope:
            continue
        if module.span(call.node).start < start:
            continue
        each, need = _called(module, call.node, data)
        edits += [each]
        needs += need
    return edits, needs


def _only_data(call: cst.Call) -> cst.BaseExpression | None:
    """Return what is predicted from, None where more is said of how."""
    first = argument(call, "x", 0)
    others = [each for each in call.args if each is not first]
    if first is None or first.star:
        return None
    silent = all(each.keyword is not None and each.keyword.value == "verbose" for each in others)
    return first.value if silent else None


def _called(
    module: Module, call: cst.Call, data: cst.BaseExpression
) -> tuple[Edit, list[ImportNeed]]:
    speller = speller_at(module, call)
    apply, one = speller.spell("keras.tree.map_structure")
    convert, other = speller.spell("keras.ops.convert_to_numpy")
    assert isinstance(call.func, cst.Attribute)
    model = call.func.value
    return (
        Edit(
            module.span(call),
            (
                f"{apply}({convert}, ",
                Hole(module.outer_span(model)),
                "(",
                Hole(module.outer_span(data), own=precedence_of(data)),
                "))",
            ),
        ),
        [each for each in (one, other) if each is not None],
    )
