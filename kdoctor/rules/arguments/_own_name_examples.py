"""Examples of ``own_name_as_text``: what a model is compiled with, and what Keras 2 had."""

from __future__ import annotations

from kdoctor.rules.rule import Example

_MODEL = (
    "import keras\nimport numpy as np\n\n\ndef mine(y_true, y_pred):\n"
    "    return (y_true - y_pred) ** 2\n\n\n"
    "keras.utils.get_custom_objects()['mine'] = mine\n"
    "model = keras.Sequential([keras.layers.Dense(1, kernel_initializer='ones')])\n"
)
_FIT = "logs = model.fit(np.ones((2, 1)), np.ones((2, 1)) * 3, verbose=0).history\n"
_MINE = "keras.saving.get_custom_objects()['mine']"
_LAYER = (
    "import keras\nimport numpy as np\n\nlayer = keras.layers.Dense(\n"
    "    2, activation={}, kernel_initializer='ones'\n)\n"
    "y = np.array(layer(np.array([[-1.0], [2.0]], 'float32'))).round(5).tolist()\n"
)
IN_COMPILE = [
    Example(
        before=f"{_MODEL}model.compile('sgd', loss='mine')\n{_FIT}",
        after=f"{_MODEL}model.compile('sgd', loss={_MINE})\n{_FIT}",
        raises="ValueError: Could not interpret loss identifier: mine",
        unsafe=True,
        on_keras_2=True,
        same="[round(float(each), 4) for each in logs['loss']]",
    ),
    Example(
        before=f"{_MODEL}model.compile('sgd', 'mse', metrics=['mae', 'mine'])\n{_FIT}",
        after=f"{_MODEL}model.compile('sgd', 'mse', metrics=['mae', {_MINE}])\n{_FIT}",
        raises="ValueError: Could not interpret metric identifier: mine",
        unsafe=True,
        on_keras_2=True,
        same="[round(float(each), 4) for each in logs['mine']]",
    ),
]
OF_KERAS_2 = [
    *(
        Example(
            before=_LAYER.format(f"'{name}'"),
            after=_LAYER.format(f"keras.layers.{name}()"),
            raises=f"ValueError: Could not interpret activation function identifier: {name}",
            on_keras_2=True,
            same="y",
        )
        for name in ("LeakyReLU", "ReLU", "ELU", "Softmax")
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.Dense(2, activation='PReLU')\n",
        raises="ValueError: Could not interpret activation function identifier: PReLU",
    ),
    Example(
        before="import keras\n\n"
        "layer = keras.layers.Conv2D(2, 3, kernel_constraint='radial_constraint')\n",
        raises="ValueError: Could not interpret constraint identifier: radial_constraint",
    ),
]
