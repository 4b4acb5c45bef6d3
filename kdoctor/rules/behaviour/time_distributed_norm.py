"""`TimeDistributed(BatchNormalization())` normalizes each time step separately.

## What it does
Reports a trainable `BatchNormalization` inside `TimeDistributed`.

## Why it breaks
Keras 2 merged all steps into one batch, so mean and variance were computed over all steps, and the
moving averages were updated once per batch. Keras 3 calls the layer for one step after the other:
each step is normalized separately, differences between steps are lost, and the moving mean and
variance are updated once per step. There is no warning.

## What to write instead
`BatchNormalization()` alone: it normalizes its axis, the last, over batch and steps. An axis
counted from the front increases by one: `axis=4` for `axis=3`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: the losses of a training step and the moving means differ.
Without `TimeDistributed` they are those of Keras 2. With `training=False` and with
`trainable=False` nothing differs.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import is_hidden, passed
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.wrappers import applications_of, wrapped_layers
from kdoctor.analysis.triggers import word
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such layer that is trained."""
    for reference, call, inner in wrapped_layers(module, facts, "TimeDistributed"):
        name = module.qualified(inner.func)
        found = module.oracle.class_type(name) if name else None
        if found is None or found.cls != "BatchNormalization" or is_hidden(inner):
            continue
        if not _is_fixed(inner, "trainable") and not _is_called_fixed(module, call):
            yield rule.finding(
                module.place(call),
                "each time step is normalized separately: Keras 2 normalized all steps together",
                symbol=reference.name,
                confidence=reference.confidence,
                help="Use `BatchNormalization` without `TimeDistributed`.",
                fix=NoFix("saved weights depend on the present layers"),
            )


def _is_fixed(call: cst.Call, keyword: str) -> bool:
    return literal(passed(call, keyword), absent=True) is not True


def _is_called_fixed(module: Module, made: cst.Call) -> bool:
    """Say whether the layer is called with ``training=``."""
    return any(_is_fixed(each, "training") for each in applications_of(module, made))


rule = Rule(
    code="KD445",
    name="time-distributed-norm",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word("TimeDistributed") & word("BatchNormalization"),
    since="3.0",
)

_HEAD = "import keras\nimport numpy as np\nfrom keras.layers import BatchNormalization\n\n"
_MODEL = (
    "x = np.arange(24.0).reshape(4, 2, 3)\n"
    "model = keras.Sequential([keras.Input((2, 3)), {}])\n"
    "model.compile('sgd', 'mse')\nmodel.train_on_batch(x, x)\n"
)

VALID = [
    _HEAD + _MODEL.format("BatchNormalization()"),
    _HEAD + "keras.layers.TimeDistributed(keras.layers.LayerNormalization())",
    _HEAD + "keras.layers.TimeDistributed(BatchNormalization(trainable=False))",
    _HEAD + "y = keras.layers.TimeDistributed(BatchNormalization())(x, training=False)",
    (
        "import keras\n\n\nclass BatchNormalization(keras.layers.Layer):\n    pass\n\n\n"
        "keras.layers.TimeDistributed(BatchNormalization())"
    ),
    "import tf_keras\ntf_keras.layers.TimeDistributed(tf_keras.layers.BatchNormalization())",
]
INVALID = [
    Example(
        before=_HEAD + _MODEL.format("keras.layers.TimeDistributed(BatchNormalization())"),
        on_keras_2=True,
        same="[round(float(each), 3) for each in model.get_weights()[2]]",
    ),
    Example(
        before=_HEAD
        + "norm = BatchNormalization(name='norm')\n"
        + _MODEL.format("keras.layers.TimeDistributed(norm, name='each')"),
        on_keras_2=True,
        same="round(float(model.evaluate(x, x, verbose=0)), 3)",
    ),
]
