"""Examples of ``tf_op_on_symbolic_tensor`` with user-defined losses, methods and partials."""

from __future__ import annotations

from kdoctor.rules.rule import Example

_HEAD = "import keras\nimport tensorflow as tf\n\nx = keras.Input((4,))\n"
_RAISES = "ValueError: A KerasTensor cannot be used as input to a TensorFlow function."
LOSS = (
    "import numpy as np\nimport tensorflow as tf\nfrom tensorflow import keras\n\n"
    "x = keras.Input((4,))\nmean = keras.layers.Dense(2)(x)\n"
    "model = keras.Model(x, keras.layers.Dense(4)(mean))\n\n\ndef loss(y_true, y_pred):\n"
    "    return tf.reduce_mean((y_true - y_pred) ** 2) + {}\n\n\n"
    "model.compile('sgd', loss)\nmodel.fit(np.ones((2, 4)), np.ones((2, 4)))\n"
)
CLOSURES = [
    # A loss is given values, and what it takes of the model around it has none.
    Example(
        before=LOSS.format("tf.reduce_sum(mean)"),
        raises=_RAISES,
    ),
    # A function that is handed on, and may be a loss.
    Example(
        before=_HEAD + "\n\ndef times(factor):\n    return tf.square(x) * factor\n\n\n"
        "y = [each(2.0) for each in [times]]\n",
        after="import keras\n\nx = keras.Input((4,))\n\n\ndef times(factor):\n"
        "    return keras.ops.square(x) * factor\n\n\ny = [each(2.0) for each in [times]]\n",
        raises=_RAISES,
        unsafe=True,
        check="assert y[0].shape == (None, 4)",
    ),
]

_RESIDUAL = (
    "from functools import partial\n\nimport keras\n{1}\n"
    "Wide = partial(keras.layers.Dense, use_bias=False)\n\n\nclass Net:\n"
    "    def __init__(self, units):\n        self.units = units\n\n"
    "    def _unit(self, x):\n        return {0}(x + Wide(self.units)(x))\n\n"
    "    def build(self):\n        x = Wide(self.units)(keras.Input((3,)))\n"
    "        return {0}(self._unit(x))\n\n\ny = Net(4).build()\n"
)
THROUGH_OWN_CODE = [
    # Layers made by a partial, in a method that is only called with symbolic tensors.
    Example(
        before=_RESIDUAL.format("tf.nn.relu", "import tensorflow as tf\n"),
        after=_RESIDUAL.format("keras.ops.relu", ""),
        raises=_RAISES,
        findings=2,
        check="assert y.shape == (None, 4)",
    ),
    # What a model of several outputs gives.
    Example(
        before=_HEAD + "both = keras.Model(x, [x, keras.layers.Dense(2)(x)])\n"
        "one, two = both(x)\ny = tf.reduce_sum(two, axis=-1)\n",
        after="import keras\n\nx = keras.Input((4,))\n"
        "both = keras.Model(x, [x, keras.layers.Dense(2)(x)])\n"
        "one, two = both(x)\ny = keras.ops.sum(two, axis=-1)\n",
        raises=_RAISES,
        check="assert y.shape == (None,)",
    ),
]

_LOOP = (
    "import keras\n{1}\n\ndef build(depth, outputs):\n    inputs = x = keras.Input((4,))\n"
    "    skips = []\n    for each in range(depth):\n        x = keras.layers.Dense(4)(x)\n"
    "        if each:\n            x = keras.layers.LayerNormalization()(x)\n"
    "        skips.append(x)\n        x += {0}relu(x)\n"
    "    x = {0}{2}([x, *skips], axis=-1)\n"
    "    heads = [keras.layers.Dense(1)(x) for _ in range(outputs)]\n"
    "    return keras.Model(inputs, {0}stack(heads, axis=1))\n\n\nmodel = build(2, 3)\n"
)
IN_LOOPS = [
    Example(
        before=_LOOP.format("tf.", "import tensorflow as tf\n", "concat").replace(
            "tf.relu", "tf.nn.relu"
        ),
        after=_LOOP.format("keras.ops.", "", "concatenate"),
        raises=_RAISES,
        findings=3,
        check="assert model.output_shape == (None, 3, 1)",
    ),
    # A function of one's own that is called in a loop.
    Example(
        before="import keras\nimport tensorflow as tf\n\n\ndef act(t):\n"
        "    return tf.nn.relu(t)\n\n\nx = keras.Input((4,))\nfor units in (4, 8):\n"
        "    x = act(keras.layers.Dense(units)(x))\n",
        after="import keras\n\n\ndef act(t):\n    return keras.ops.relu(t)\n\n\n"
        "x = keras.Input((4,))\nfor units in (4, 8):\n    x = act(keras.layers.Dense(units)(x))\n",
        raises=_RAISES,
        check="assert x.shape == (None, 8)",
    ),
]
IN_LOOPS_OF_VALUES = [
    _HEAD + "for _ in range(2):\n    x = keras.layers.Dense(4)(x)\n    x = tf.ones((2, 4))\n"
    "y = tf.reduce_sum(x)",
    _HEAD + "x = tf.ones((2, 4))\nouts = []\nfor _ in range(2):\n"
    "    x = keras.layers.Dense(4)(x)\n    outs.append(x)\ny = tf.concat(outs, axis=-1)",
    _HEAD + "outs = [x]\nouts[0] = tf.ones((2, 4))\ny = tf.stack(outs)",
    _HEAD + "outs = []\nouts.append(x)\nouts.clear()\nouts.append(tf.ones(3))\ny = tf.stack(outs)",
]
