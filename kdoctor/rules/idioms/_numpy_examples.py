"""Templates of programs that combine a NumPy value with a weight."""

from __future__ import annotations

LAYER = """import numpy as np
import tensorflow as tf
from tensorflow.keras import Input, Model
from tensorflow.keras.layers import Layer


class Scaled(Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.scale = 1.0 / np.sqrt(4.0)

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(3, self.units), initializer="ones", name="k")
        self.shift = self.add_weight(shape=(self.units,), initializer="ones", name="s")

    def call(self, x):
        return {}


inputs = Input((3,))
model = Model(inputs, Scaled(2)(inputs))
"""

EQUALIZED = """import numpy as np
import tensorflow as tf
from tensorflow import keras


class Equalized(keras.layers.Conv2D):
    def __init__(self, filters, *args, leaky=False, **kwargs):
        super().__init__(filters, *args, kernel_initializer="ones", **kwargs)
        self.scale = 1.0
        self.leaky = leaky

    def build(self, input_shape):
        super().build(input_shape)
        if self.leaky:
            n = np.prod([int(each) for each in input_shape[1:]])
            self.scale = np.sqrt(1.6 / n)
        else:
            n = input_shape[-1]
            self.scale = np.sqrt(2 / n)

    def call(self, x):
        return tf.nn.conv2d(x, {}, strides=1, padding="VALID")


inputs = keras.Input((4, 4, 3))
model = keras.Model(inputs, Equalized(2, 3)(inputs))
out = model.predict(np.ones((1, 4, 4, 3)), verbose=0)
"""

TAPE = """import keras
import numpy as np
import tensorflow as tf

layer = keras.layers.Dense(2, kernel_initializer="ones")
layer.build((None, 3))


def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.matmul(x, {}))
    return tape.gradient(loss, layer.kernel)


gradient = step(tf.ones((1, 3)))
"""
