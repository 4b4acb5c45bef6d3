"""`Dense(10, activation=tf.nn.softmax)`: a saved model with it cannot be loaded again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, instances, replace_expression
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import names, word
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Confidence, Finding, Fix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.rules.saving._save_and_load_calls import method_uses
from kdoctor.syntax import Module
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
_FUNCTIONS: Final = frozenset(
    {"ModelCheckpoint", "clone_model", "load_model", "model_from_json", "save_model"}
)
_LOST: Final = "TypeError: <class 'keras.src.layers.core.dense.Dense'> could not be deserialized"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such activation, where a model may be made from what it was saved as."""
    if not _saves(module):
        return
    for _, call, made in instances(module, Kind.LAYER, facts):
        for keyword, place in (*_GIVEN, _BY_PLACE.get(made.cls or "", _GIVEN[0])):
            given = argument(call, keyword, place)
            name = None if given is None else module.qualified(given.value)
            # By position it is looked for last: what a keyword gives was told of already.
            is_told = place is not None and given is not None and given.keyword is not None
            if given is None or name not in _NEW or is_told or module.is_guarded(call):
                continue
            yield _finding(module, facts, given.value, name)
            break


def _saves(module: Module) -> bool:
    """Say whether the file saves, loads or copies models."""
    return any(each.name.rpartition(".")[2] in _FUNCTIONS for each in module.references) or any(
        method_uses(module, *_METHODS)
    )


def _finding(module: Module, facts: TargetFacts, given: cst.BaseExpression, name: str) -> Finding:
    new = f'"{_NEW[name]}"'
    return rule.finding(
        module.place(given),
        f"`{module.source(given)}` is saved under a name that Keras 3 cannot load or copy: "
            f"{_LOST}",
        symbol=name,
        confidence=Confidence.CERTAIN,
        help=f"Write `{new}`.",
        fix=Fix(
            f"Use Keras' own `{new}`", (replace_expression(module, given, new),),
            facts.applicability(*rule.invalid),
        ),
    )  # fmt: skip


rule = Rule(
    code="KD618",
    name="softmax-of-tensorflow",
    family="saving",
    severity=Severity.ERROR,
    check=check,
    triggers=names(lambda _, name: name in _NEW) & word(*_METHODS, *_FUNCTIONS),
    since="3.0",
)
