"""Examples of ``tf_op_on_symbolic_tensor``: losses, methods and partials of one's own."""

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
