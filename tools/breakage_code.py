"""What the programs of breakages are made of."""

PRELUDE = """\
import keras
import numpy as np
import tensorflow as tf
from keras import backend as K
from keras import layers

x, y = np.ones((4, 4), "float32"), np.ones((4, 3), "float32")
inputs = keras.Input((4,))
dense = layers.Dense(3)
outputs = dense(inputs)
model = keras.Model(inputs, outputs)
model.compile("sgd", "mse", metrics=["mae"])


def batches():
    while True:
        yield x, y
"""


LAYER = "class Mine(layers.Layer):\n"


CALL = "    def call(self, x):\n"


USE = "\n\nMine()(x)\n"


OPTIMIZER = "class Mine(keras.optimizers.Optimizer):\n"


IMAGES = "image = keras.Input((8, 8, 3))\n"


SAVED = "model.save_weights('a.weights.h5')\n"


def in_layer(*lines: str) -> str:
    """Return a layer that does this when it is called, and a call of it."""
    return LAYER + CALL + "".join(f"        {each}\n" for each in lines) + USE


def built(*lines: str) -> str:
    """Return a layer that does this when it is built, and a call of it."""
    body = "".join(f"        {each}\n" for each in lines)
    return (
        f"{LAYER}    def build(self, input_shape):\n{body}        self.built = True\n\n"
        f"{CALL}        return x * self.w{USE}"
    )


def with_optimizer(method: str) -> str:
    """Return an optimizer of the old kind with a method, and a model that it trains."""
    return (
        "class Mine(keras.optimizers.Optimizer):\n"
        "    def __init__(self, learning_rate=0.01, **kwargs):\n"
        "        super().__init__(name='Mine', **kwargs)\n"
        "        self._set_hyper('learning_rate', learning_rate)\n\n"
        f"    def {method}\n\n\nmodel.compile(Mine(), 'mse')\nmodel.fit(x, y, verbose=0)"
    )


DENSE_UPDATE = (
    "_resource_apply_dense(self, grad, var, apply_state=None):\n"
    "        var.assign_sub(grad * self._get_hyper('learning_rate'))"
)


GET_UPDATES = (
    f"{OPTIMIZER}    def __init__(self, lr=0.01, **kwargs):\n        super().__init__(**kwargs)\n"
    "        self.lr = K.variable(lr)\n\n    def get_updates(self, loss, params):\n"
    "        grads = self.get_gradients(loss, params)\n"
    "        return [K.update(p, p - self.lr * g) for p, g in zip(params, grads)]\n\n\n"
    "model.compile(Mine(), 'mse')\nmodel.fit(x, y, verbose=0)"
)


CHECKPOINT = "\nmodel.fit(x, y, validation_data=(x, y), verbose=0, callbacks=[checkpoint])"
