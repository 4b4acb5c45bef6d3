"""`layer(x, training=True)` in a functional model: `fit` and `predict` override it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, is_keras_3, literal, speller_at
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import kind_of_class
from kdoctor.analysis.tensors.symbolic import SYMBOLIC, holds_symbolic
from kdoctor.analysis.tensors.tensorflow_calls import may_get_a_tensor
from kdoctor.analysis.triggers import Trigger, keyword
from kdoctor.keras_api import split_root
from kdoctor.model import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    Hole,
    ImportNeed,
    NoFix,
    Severity,
)
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.behaviour._may_be_trained import may_be_trained
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberStore, MemberUse, Module
from kdoctor.syntax.quick_facts import QuickFacts
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


def _may_give_a_phase(quick: QuickFacts, facts: TargetFacts) -> bool:
    return any(
        _is_phase(called.argument("training")) and may_get_a_tensor(quick, facts, called)
        for called in quick.calls_with("training")
    )


def _is_phase(given: ast.expr | None) -> bool:
    return isinstance(given, ast.Constant) and isinstance(given.value, bool)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each phase that is given where a model is built."""
    for call in module.nodes(cst.Call):
        given = argument(call, "training")
        phase = None if given is None else literal(given.value)
        if given is None or not isinstance(phase, bool) or not _builds(module, call):
            continue
        owner = module.type_of(call.func)
        if owner is None or not _differs(owner) or not is_keras_3(facts, owner.qualified):
            continue
        if module.is_guarded(call):
            continue
        # Whatever does not come to `fit` infers anyway.
        if not phase and (_is_frozen(module, call.func) or not may_be_trained(module, call)):
            continue
        yield _finding(module, given, call, owner, phase=phase)


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


def _finding(
    module: Module, given: cst.Arg, call: cst.Call, owner: Type, *, phase: bool
) -> Finding:
    edits, needs = _predictions(module, call) if phase else ([], [])
    name = owner.cls or "the layer"
    ignored_by = "`predict` and `evaluate` pass" if phase else "`fit` passes"
    return rule.finding(
        module.place(given),
        f"`training={phase}` is overridden: {ignored_by} another value to `{name}`",
        symbol=f"{name}.__call__(training)",
        confidence=Confidence.LIKELY,
        help=_HELP[phase],
        fix=Fix(
            "Call the model instead of `predict`",
            tuple(edits),
            Applicability.UNSAFE,
            tuple(needs),
            unsafe_because=_UNSAFE,
        )
        if edits
        else NoFix(_NO_FIX[phase]),
    )


def _predictions(module: Module, call: cst.Call) -> tuple[list[Edit], list[ImportNeed]]:
    """Return the edits that call the models which the same function predicts with."""
    scope, start = module.scope_of(call), module.span(call).start
    edits: list[Edit] = []
    needs: list[ImportNeed] = []
    for use in module.members:
        if use.member != "predict" or use.owner.kind is not Kind.MODEL or use.owner_defines:
            continue
        data = None if use.called is None else _only_data(use.called)
        if use.called is None or data is None or module.is_guarded(use.called):
            continue
        if module.scope_of(use.called) is not scope or module.span(use.called).start < start:
            continue
        each, need = _called(module, use, use.called, data)
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
    module: Module, use: MemberUse, call: cst.Call, data: cst.BaseExpression
) -> tuple[Edit, list[ImportNeed]]:
    speller = speller_at(module, call)
    apply, one = speller.spell("keras.tree.map_structure")
    convert, other = speller.spell("keras.ops.convert_to_numpy")
    model = use.node.value
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


rule = Rule(
    code="KD423",
    name="training-in-the-graph",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=keyword("training") & SYMBOLIC & Trigger(_may_give_a_phase),
    since="3.0",
)
