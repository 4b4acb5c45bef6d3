"""`Dense(10, activation=tf.nn.softmax)`: a saved model with it cannot be loaded again.

## What it does
Reports `tf.nn.softmax`, `tf.nn.swish` and `tf.nn.silu` as an activation of a Keras layer, in a file
that saves, loads or copies models. `tf.nn.relu`, `tf.nn.sigmoid` and similar functions are found by
their names.

## Why it breaks
The config of a layer stores the name of the function, and the name of `tf.nn.softmax` is
`softmax_v2`. Keras 2 knew this name. Keras 3 does not, in `load_model`, `model_from_json` and
`clone_model`: `TypeError: <class 'keras.src.layers.core.dense.Dense'> could not be deserialized
properly. […] Could not locate function 'softmax_v2'.`

## What to write instead
Use Keras' own activation by name: `activation="softmax"`.

## How we know
Every function of `tf.nn`, `tf.math` and `tf` that can be an activation was saved and loaded on
Keras 3.15.1 and tf_keras 2.21: these are the ones that Keras 2 loads and Keras 3 does not.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import replace_expression
from kdoctor.analysis.queries import Call, constructs
from kdoctor.analysis.queries.conditions import named, word
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Confidence, Finding, Severity
from kdoctor.rules.rule import Example, rule
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


@rule(
    "KD618",
    severity=Severity.ERROR,
    look_for=constructs(Kind.LAYER)
    .even(hidden=True)
    .beside(named(*_NEW), word(*_METHODS, *_FUNCTIONS)),
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
    return any(each.name.rpartition(".")[2] in _FUNCTIONS for each in module.references) or any(
        method_uses(module, *_METHODS)
    )


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


_MODEL = (
    "import keras\nimport numpy as np\nimport tensorflow as tf\n\n"
    "model = keras.Sequential([\n    keras.Input((3,)),\n"
    "    keras.layers.Dense(4, activation=tf.nn.relu, kernel_initializer='ones'),\n"
    "    keras.layers.Dense(2, activation={}, kernel_initializer='ones'),\n])\n"
)
_SAVED = "model.save('net.keras')\nagain = keras.models.load_model('net.keras')\n"
_SAME = "float(again.predict(np.arange(3.0)[None], verbose=0).sum().round(3))"

VALID = [
    _MODEL.format("'softmax'") + _SAVED,
    _MODEL.format("tf.nn.relu") + _SAVED,
    # Weights alone are saved, or nothing.
    _MODEL.format("tf.nn.softmax") + "model.fit(x, y)\n",
    _MODEL.format("tf.nn.softmax") + "model.save_weights('net.weights.h5')\n",
    _MODEL.format("tf.nn.softmax") + "image.save('net.png')\n",
    # It is called, or what else is named so.
    _MODEL.format("None") + "p = tf.nn.softmax(model.output)\n" + _SAVED,
    _MODEL.format("tf.nn.softmax").replace("import tensorflow as", "from mine import") + _SAVED,
    (_MODEL.format("tf.nn.softmax") + _SAVED).replace("import keras", "import tf_keras as keras"),
    _MODEL.format("None") + "soft = keras.layers.Lambda(tf.nn.softmax)\n" + _SAVED,
]  # fmt: skip


def _example(
    old: str, new: str, text: str = _MODEL + _SAVED, raises: str = "TypeError: <class 'keras.src."
) -> Example:
    return Example(
        before=text.format(old),
        after=text.format(new),
        raises=raises,
        on_keras_2=True,
        same=_SAME,
    )


INVALID = [
    _example("tf.nn.softmax", '"softmax"'),
    _example("tf.nn.swish", '"swish"'),
    _example("tf.nn.silu", '"swish"'),
    _example("tf.math.softmax", '"softmax"'),
    # Made again from its configuration; by position; a layer of its own.
    _example(
        "tf.nn.softmax", '"softmax"',
        _MODEL + "again = keras.models.model_from_json(model.to_json())\n"
        "again.set_weights(model.get_weights())\n",
    ),
    _example(
        "tf.nn.softmax", '"softmax"',
        _MODEL.replace("activation={}", "{}")
        + "again = keras.models.clone_model(model)\nagain.set_weights(model.get_weights())\n",
        "TypeError: ",
    ),
    _example(
        "tf.nn.softmax", '"softmax"',
        _MODEL.replace(
            "2, activation={}, kernel_initializer='ones'),",
            "2, kernel_initializer='ones'),\n    keras.layers.Activation({}),",
        ) + _SAVED,
    ),
]  # fmt: skip
