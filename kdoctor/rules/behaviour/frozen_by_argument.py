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

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import add_keyword, argument, instances, is_hidden, literal, literal_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import calls, keyword
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite import remove_arguments
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickCall
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
_TO_THE_INNER: Final = "Pass it to the inner layer."
_AFTERWARDS: Final = "Set `layer.trainable = False` after creating the layer."
_NOT_MADE_HERE: Final = "the inner layer is not created here"
_MADE_BY_ITSELF: Final = "it creates its inner layers itself: this needs a separate statement"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such layer that is to be frozen by an argument."""
    made = [*instances(module, Kind.LAYER, facts)]
    classes: dict[cst.CSTNode, str] = {call: kind.cls or "" for _, call, kind in made}
    for reference, call, _ in made:
        cls, given = classes[call], argument(call, "trainable")
        if cls not in HOLD or given is None or literal(given.value) is not False:
            continue
        if is_hidden(call) or module.is_guarded(call):
            continue
        inside = HOLD[cls]
        held = argument(call, inside, 0) if inside else None
        # Those that hold others do not hand it on either.
        is_last = held is not None and classes.get(held.value, cls) not in HOLD
        fix = _moved(module, call, given, held.value) if held and is_last else None
        yield rule.finding(
            module.place(given),
            f"`trainable=False` does not reach the layers inside `{cls}`: Keras 3 keeps training "
            "them",
            symbol=f"{reference.name}(trainable)",
            confidence=reference.confidence,
            help=_TO_THE_INNER if inside else _AFTERWARDS,
            fix=fix or NoFix(_NOT_MADE_HERE if inside else _MADE_BY_ITSELF),
        )


def _moved(module: Module, call: cst.Call, given: cst.Arg, inner: cst.BaseExpression) -> Fix | None:
    """Return the fix that says it to the layer that is made right there."""
    if not isinstance(inner, cst.Call) or is_hidden(inner) or argument(inner, "trainable"):
        return None
    gone = remove_arguments(module, call, [given])
    if gone is None:
        return None
    return rule.fix(
        "Pass it to the inner layer",
        add_keyword(module, inner, f"trainable={module.source(given.value)}"),
        *gone,
    )


def _may_freeze(_facts: TargetFacts, called: QuickCall) -> bool:
    given = called.argument("trainable")
    return given is not None and literal_of(given) is False


rule = Rule(
    code="KD467",
    name="frozen-by-argument",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=calls(_may_freeze, *HOLD) & keyword("trainable"),
    since="3.0",
)

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
