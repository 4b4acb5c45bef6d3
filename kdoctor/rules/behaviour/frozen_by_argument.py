"""`Bidirectional(layer, trainable=False)` freezes nothing: the inner layers keep training.

## What it does
Reports the argument `trainable=False` of layers that contain other layers or cells:
`Bidirectional`, `TimeDistributed`, `RNN`, `ConvLSTM1D` to `ConvLSTM3D`, `MultiHeadAttention`.

## Why it breaks
In Keras 2 a layer that is not trainable had no trainable weights at all, its inner layers included.
Keras 3 asks each layer individually, and the inner ones were created without that argument: the
model trains them, with no warning. Only setting `layer.trainable = False` afterwards reaches all of
them.

## What to write instead
The argument where the weights are: `Bidirectional(LSTM(8, trainable=False))`. For a layer that
creates its inner layers itself, as `ConvLSTM2D` does, set `layer.trainable = False` after creating
it.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: a test creates each layer that has inner layers on both.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import add_keyword, argument, is_hidden
from kdoctor.analysis.queries import Argument, Instance, constructs
from kdoctor.analysis.queries.forms import is_false
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite import remove_arguments
from kdoctor.rules.rule import Example, rule
from kdoctor.value_types import Kind

HOLD: Final = {
    "Bidirectional": "layer",
    "TimeDistributed": "layer",
    "RNN": "cell",
    "ConvLSTM1D": None,
    "ConvLSTM2D": None,
    "ConvLSTM3D": None,
    "MultiHeadAttention": None,
}
"""Layers with others inside, and the argument, their first, that takes these."""


@rule(
    "KD467",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=constructs(*(Instance(Kind.LAYER, cls) for cls in HOLD)).argument(
        "trainable", where=is_false
    ),
)
def check(given: Argument) -> Finding:
    """Report each such layer that is to be frozen by an argument."""
    inner = HOLD[given.cls]
    return given.finding(
        f"`trainable=False` does not reach the layers inside `{given.cls}`: Keras 3 keeps training "
        "them",
        at=given.arg,
        help="Pass it to the inner layer."
        if inner
        else "Set `layer.trainable = False` after creating the layer.",
        fix=_passed_on(given, inner)
        if inner
        else NoFix("it creates its inner layers itself: this needs a separate statement"),
    )


def _passed_on(given: Argument, inner: str) -> Fix | NoFix:
    """Return the fix that says it to the layer that is made right there."""
    module, why_not = given.module, NoFix("the inner layer is not created here")
    held = given.argument(inner, 0)
    if held is None or not isinstance(held.value, cst.Call):
        return why_not
    made = module.type_of(held.value)
    # Those that hold others do not hand it on either.
    if made is None or not made.is_of_imported_class or made.cls in HOLD:
        return why_not
    if is_hidden(held.value) or argument(held.value, "trainable"):
        return why_not
    gone = remove_arguments(module, given.call, [given.arg])
    if gone is None:
        return why_not
    added = add_keyword(module, held.value, f"trainable={given.source(given.node)}")
    return given.fix("Pass it to the inner layer", added, *gone)


_HEAD = "import keras\n\nx = keras.Input((5, 4))\n"
_FROZEN = "assert not model.trainable_weights and len(model.weights) > 0"

VALID = [
    "import keras\nkeras.layers.LSTM(3, trainable=False), keras.layers.Dense(3, trainable=False)",
    "import keras\nkeras.layers.Bidirectional(keras.layers.LSTM(3, trainable=False))",
    "import keras\nkeras.layers.TimeDistributed(keras.layers.Dense(3), trainable=True)",
    "import keras\nkeras.layers.RNN(keras.layers.LSTMCell(3), trainable=chosen)",
    "import keras\nlayer = keras.layers.ConvLSTM2D(3, 2)\nlayer.trainable = False",
    "import tf_keras\ntf_keras.layers.ConvLSTM2D(3, 2, trainable=False)",
    "from mine import TimeDistributed\nimport keras\nTimeDistributed(3, trainable=False)",
]
INVALID = [
    Example(
        before=_HEAD + "layer = keras.layers.Bidirectional(\n"
        "    keras.layers.LSTM(3), trainable=False, merge_mode='sum'  # both ways\n)\n"
        "model = keras.Model(x, layer(x))",
        after=_HEAD + "layer = keras.layers.Bidirectional(\n"
        "    keras.layers.LSTM(3, trainable=False), merge_mode='sum'  # both ways\n)\n"
        "model = keras.Model(x, layer(x))",
        on_keras_2=True,
        check=_FROZEN,
    ),
    Example(
        before=_HEAD + "layer = keras.layers.TimeDistributed(trainable=False, "
        "layer=keras.layers.Dense(3, activation='relu'))\nmodel = keras.Model(x, layer(x))",
        after=_HEAD + "layer = keras.layers.TimeDistributed("
        "layer=keras.layers.Dense(3, activation='relu', trainable=False))\n"
        "model = keras.Model(x, layer(x))",
        on_keras_2=True,
        check=_FROZEN,
    ),
    Example(
        before="from tensorflow.keras import Input, Model, layers\n\nx = Input((5, 4))\n"
        "model = Model(x, layers.RNN(layers.GRUCell(3), trainable=False)(x))",
        after="from tensorflow.keras import Input, Model, layers\n\nx = Input((5, 4))\n"
        "model = Model(x, layers.RNN(layers.GRUCell(3, trainable=False))(x))",
        on_keras_2=True,
        check=_FROZEN,
    ),
    Example(
        before="import keras\n\nx = keras.Input((2, 5, 5, 1))\n"
        "model = keras.Model(x, keras.layers.ConvLSTM2D(3, 2, trainable=False)(x))",
        on_keras_2=True,
        check=_FROZEN,
    ),
    # What is inside is made elsewhere, and may stand in another model, too.
    Example(
        before=_HEAD + "dense = keras.layers.Dense(3)\n"
        "model = keras.Model(x, keras.layers.TimeDistributed(dense, trainable=False)(x))",
        on_keras_2=True,
        check=_FROZEN,
    ),
]  # fmt: skip
