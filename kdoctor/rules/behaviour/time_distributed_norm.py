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

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden
from kdoctor.analysis.models.wrappers import applications_of
from kdoctor.analysis.queries import Argument, Instance, constructs
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind


@rule(
    "KD445",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=constructs(Instance(Kind.LAYER, "TimeDistributed"))
    .even(hidden=True)
    .argument("layer", 0)
    .beside(constructs(Instance(Kind.LAYER, "BatchNormalization"))),
)
def check(wrapped: Argument) -> Finding | None:
    """Report each such layer that is trained."""
    module, inner = wrapped.module, wrapped.value_node
    name = module.qualified(inner.func) if isinstance(inner, cst.Call) else None
    found = module.oracle.class_type(name) if name else None
    if not isinstance(inner, cst.Call) or found is None or found.cls != "BatchNormalization":
        return None
    if is_hidden(inner) or _is_fixed(inner, "trainable"):
        return None
    if any(_is_fixed(each, "training") for each in applications_of(module, wrapped.call)):
        return None
    return wrapped.finding(
        "each time step is normalized separately: Keras 2 normalized all steps together",
        at=wrapped.call,
        symbol=wrapped.name,
        help="Use `BatchNormalization` without `TimeDistributed`.",
        fix=NoFix("saved weights depend on the present layers"),
    )


def _is_fixed(call: cst.Call, keyword: str) -> bool:
    given = argument(call, keyword)
    return given is not None and literal(given.value) is not True


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
