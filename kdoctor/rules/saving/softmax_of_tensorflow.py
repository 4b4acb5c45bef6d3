"""`Dense(10, activation=tf.nn.softmax)`: a saved model with it cannot be loaded again."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import passed, replace_expression, value_of
from kdoctor.analysis.queries import Call, constructs
from kdoctor.analysis.queries.conditions import named, word
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Confidence, Finding, Severity
from kdoctor.rules.rule import rule
from kdoctor.rules.saving._save_and_load_calls import method_uses
from kdoctor.syntax import Module, Reference, ReferenceKind
from kdoctor.syntax.literals import UNKNOWN, literal
from kdoctor.value_types import Kind

_NEW: Final = {
    name: new
    for function, new in (
        ("tensorflow.nn.softmax", "softmax"),
        ("tensorflow.math.softmax", "softmax"),
        ("tensorflow.nn.swish", "swish"),
        ("tensorflow.nn.silu", "swish"),
    )
    for name in ways_also_by_1(function)
}
_GIVEN: Final = (("activation", None), ("recurrent_activation", None))
_BY_PLACE: Final = {"Activation": ("activation", 0), "Dense": ("activation", 1)}
_METHODS: Final = ("get_config", "save", "to_json")
_FUNCTIONS: Final = frozenset({"clone_model", "load_model", "model_from_json", "save_model"})
_CHECKPOINT: Final = "ModelCheckpoint"
_LOST: Final = "TypeError: <class 'keras.src.layers.core.dense.Dense'> could not be deserialized"


@rule(
    "KD618",
    severity=Severity.ERROR,
    look_for=constructs(Kind.LAYER)
    .even(hidden=True)
    .beside(named(*_NEW), word(*_METHODS, *_FUNCTIONS, _CHECKPOINT)),
    since="3.0",
)
def check(layer: Call) -> Finding | None:
    """Report each such activation, where a model may be made from what it was saved as."""
    if not _saves(layer.module):
        return None
    for keyword, place in (*_GIVEN, _BY_PLACE.get(layer.cls, _GIVEN[0])):
        given = layer.argument(keyword, place)
        name = None if given is None else layer.module.qualified(given.value)
        # By position it is looked for last: what a keyword gives was told of already.
        is_told = place is not None and given is not None and given.keyword is not None
        if given is not None and name in _NEW and not is_told:
            return _finding(layer, given.value, name)
    return None


def _saves(module: Module) -> bool:
    """Say whether the file saves, loads or copies models."""
    return any(_saves_by(module, each) for each in module.references) or any(
        method_uses(module, *_METHODS)
    )


def _saves_by(module: Module, use: Reference) -> bool:
    name = use.name.rpartition(".")[2]
    if name != _CHECKPOINT or use.call is None:
        return name in _FUNCTIONS or (name == _CHECKPOINT and use.kind is not ReferenceKind.IMPORT)
    alone = passed(use.call, "save_weights_only", 4)
    found = False if alone is None else literal(value_of(module, alone))
    return found is UNKNOWN or not found


def _finding(layer: Call, given: cst.BaseExpression, name: str) -> Finding:
    new = f'"{_NEW[name]}"'
    return layer.finding(
        f"`{layer.source(given)}` is saved under a name that Keras 3 cannot load or copy: {_LOST}",
        at=given,
        symbol=name,
        confidence=Confidence.CERTAIN,
        help=f"Write `{new}`.",
        fix=layer.fix(f"Use Keras' own `{new}`", replace_expression(layer.module, given, new)),
    )
