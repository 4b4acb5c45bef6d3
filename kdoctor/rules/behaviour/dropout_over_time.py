"""`LSTM(dropout=0.2)` drops the same inputs at every step; Keras 2.4 to 2.15 sampled at each step.

## What it does
Reports `dropout=` of `LSTM` and `GRU` where their other arguments allowed Keras 2 the fast
implementation: no `recurrent_dropout`, no `unroll`, and the default activations.

## Why it breaks
Keras 2.4 to 2.15, and `tf.keras` of TensorFlow 2 up to 2.15, multiplied the whole sequence by a
mask of its own shape: each step lost different features. Keras 3 samples one mask per sequence and
uses it at each step, as Keras did up to 2.3. There is no warning, shapes and weights are the same,
but models of long sequences train differently: a dropped feature is missing from beginning to end.

## What to write instead
For the old noise, a layer in front: `LSTM(64)(Dropout(0.2)(x))`. One mask per sequence is what Gal
and Ghahramani recommend for recurrent layers; a lower rate may be enough with it.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: which inputs have a gradient. Run on Keras 2.3.1 and 2.4.3
too. Issue 19993 of Keras has the figures of a user who lost accuracy because of it.
"""

from __future__ import annotations

from ast import literal_eval
from typing import Final

from kdoctor.analysis.queries import Argument, Instance, constructs
from kdoctor.keras_api.tensorflow_aliases import TURN_EAGER_OFF
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

# With anything but the defaults of these, Keras 2 too ran its cell step by step.
_DECIDE: Final = frozenset({
    *("activation", "recurrent_activation", "recurrent_dropout", "reset_after", "unroll"),
    "use_bias",
})  # fmt: skip
# Among the keywords that no signature of Keras 3 names; with 1, it cannot be trained so (3.15.1).
_IMPLEMENTATION: Final = 2


def _is_rate(form: object) -> bool:
    return isinstance(form, float) and 0 < form < 1


@rule(
    "KD472",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=constructs(Instance(Kind.LAYER, "GRU"), Instance(Kind.LAYER, "LSTM")).argument(
        "dropout", where=_is_rate
    ),
)
def check(dropout: Argument) -> Finding | None:
    """Report each such layer that drops inputs, and nothing else that Keras 2 did step by step."""
    if not _is_fast(dropout):
        return None
    if any(each.name.endswith(TURN_EAGER_OFF) for each in dropout.module.references):
        return None
    return dropout.finding(
        f"`{dropout.cls}` drops the same inputs at every step: Keras 2.4 to 2.15 sampled a new "
        "mask at each step",
        at=dropout.arg,
        help="For the old noise, put a `Dropout` layer in front of it instead.",
        fix=NoFix("which of the two works better depends on the data"),
    )


def _is_fast(dropout: Argument) -> bool:
    signature = dropout.facts.signature(dropout.name)
    usual = [
        (dropout.value(each.name, place), literal_eval(each.default))
        for place, each in enumerate(signature.parameters if signature else ())
        if each.name in _DECIDE and each.default is not None
    ]
    usual.append((dropout.value("implementation"), _IMPLEMENTATION))
    return all(given is None or literal(given) == default for given, default in usual)


_HEAD = (
    "import tensorflow as tf\nfrom tensorflow import keras\nfrom tensorflow.keras import layers\n\n"
)
_TRAINED = (
    "x = tf.ones((1, 8, 16))\nwith tf.GradientTape() as tape:\n    tape.watch(x)\n"
    "    y = layer(x, training=True)\nslopes = tape.gradient(y, x).numpy()\n"
    "dropped = slopes == 0\n"
)
_AT_EACH_STEP = "dropped.any() and (dropped != dropped[:, :1]).any()"

VALID = [
    "import keras\nkeras.layers.LSTM(3), keras.layers.GRU(3, dropout=0.0)",
    "import keras\nkeras.layers.LSTM(3, dropout=0.2, recurrent_dropout=0.2)",
    "import keras\nkeras.layers.LSTM(3, 'relu', dropout=0.2)",
    "import keras\nkeras.layers.GRU(3, dropout=0.2, unroll=True)",
    "import keras\nkeras.layers.GRU(3, dropout=0.2, reset_after=False)",
    "import keras\nkeras.layers.LSTM(3, dropout=0.2, implementation=1)",
    "import keras\nkeras.layers.LSTM(3, dropout=rate), keras.layers.LSTM(3, dropout=0.2, **more)",
    "import keras\nkeras.layers.SimpleRNN(3, dropout=0.2), keras.layers.LSTMCell(3, dropout=0.2)",
    "import keras\nrates = [0.1, 0.2]\nfor rate in rates:\n    keras.layers.LSTM(3, dropout=rate)",
    "import tf_keras\ntf_keras.layers.LSTM(3, dropout=0.2)",
    "import keras\nfrom torch.nn import LSTM\n\nLSTM(3, dropout=0.2)",
    (
        "import tensorflow as tf\n\ntf.compat.v1.disable_eager_execution()\n"
        "tf.keras.layers.LSTM(3, dropout=0.2)"
    ),
]
INVALID = [
    Example(
        before=_HEAD + "layer = layers.LSTM(4, dropout=0.5)\n" + _TRAINED,
        on_keras_2=True,
        check=f"assert {_AT_EACH_STEP}",
    ),
    Example(
        before=_HEAD + "RATE = 0.5\n\nlayer = layers.Bidirectional(\n    keras.layers.GRU(\n"
        "        4, 'tanh', dropout=RATE,  # of the inputs\n        recurrent_dropout=0.0,\n"
        "        return_sequences=True,\n    )\n)\n" + _TRAINED,
        on_keras_2=True,
        check=f"assert {_AT_EACH_STEP}",
    ),
]  # fmt: skip
