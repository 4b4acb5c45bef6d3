"""A tensor that is given as `training`: held against the layers of Keras and TensorFlow itself."""

from __future__ import annotations

import numpy as np
import pytest

from kdoctor.engine import scan
from kdoctor.rules.idioms.training_is_a_tensor import ASK_FOR_IT
from tests.frameworks import keras, tf

pytestmark = pytest.mark.filterwarnings("ignore:Layer .* looks like it has unbuilt state")

ARGUMENTS = {
    **dict.fromkeys(("GRU", "LSTM", "SimpleRNN"), (2,)),
    **dict.fromkeys(("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"), (2, 1)),
    "BatchNormalization": (),
}

RANKS = {
    "SpatialDropout2D": 4,
    "SpatialDropout3D": 5,
    "ConvLSTM1D": 4,
    "ConvLSTM2D": 5,
    "ConvLSTM3D": 6,
}
CLASS = """
import tensorflow as tf
from tensorflow import keras

class Mine(keras.layers.BatchNormalization):
    def call(self, x, training=False):
{}
        return super().call(x, training)
"""


def predicts(layer, shape, phase):
    class Passing(keras.layers.Layer):
        """Passes a tensor on."""

        def __init__(self, layer, phase):
            super().__init__()
            self.layer = layer
            self.phase = phase

        def call(self, x):
            return self.layer(x, training=self.phase())

    model = keras.Sequential([Passing(layer, phase)])
    return model.predict(np.ones(shape, "float32"), verbose=0)


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(ASK_FOR_IT))
def test_keras_asks_for_the_value_of_the_tensor(name: str) -> None:
    layer = getattr(keras.layers, name)(*ARGUMENTS.get(name, (0.5,)))
    shape = (2,) * RANKS.get(name, 3)
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="as a Python `bool`"):
        predicts(layer, shape, lambda: tf.constant(True))


def reported(lines: str) -> list[str]:
    body = "\n".join(f"        {each}" for each in lines.splitlines())
    given = scan(["-"], stdin=CLASS.format(body).encode(), select=["KD513"])
    return [str(each.fix and each.fix.applicability) for each in given.findings]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("training = tf.logical_and(training, self.trainable)", ["safe"]),
        ("training = tf.cast(tf.logical_not(training), 'bool')", ["safe"]),
        # What becomes a bool is a tensor's for somebody else.
        ("training = tf.cast(training, tf.bool)\nx = x * tf.cast(training, x.dtype)", ["None"]),
        # A comment has no place in it, a keyword no counterpart, a flag may be anything.
        ("training = tf.logical_and(  # both\n    training, self.trainable)", ["None"]),
        ("training = tf.constant(True, name='phase')", ["None"]),
        ("training = tf.logical_and(training, self.flag)", ["None"]),
        ("training = tf.cast(unknown, tf.bool)", ["None"]),
        # A bool of Python gets there, too.
        ("if self.flag:\n    training = tf.constant(True)", []),
        ("training = True if self.flag else tf.constant(True)", []),
        ("training, x = tf.constant(True), x", []),
        ("for training in tf.constant([True]):\n    pass", []),
    ],
)
def test_what_is_surely_a_tensor_is_found_and_made_a_bool_where_it_can_be(lines, expected):
    assert reported(lines) == expected
