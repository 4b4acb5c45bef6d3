"""KD402 writes no `keras.Variable` where Python asks whether the variable is true."""

import pytest

from kdoctor.engine import scan

SOURCE = """\
import tensorflow as tf
from tensorflow import keras


class Gate(keras.layers.Layer):
    def build(self, shape):
        self.on = tf.Variable(False, trainable=False)

    def call(self, x, y):
        {}
        return x
"""


@pytest.mark.parametrize(
    ("asks", "is_fixed"),
    [
        ("if self.on: x = y", False),
        ("while self.on: x = y", False),
        ("x = y if self.on else x", False),
        ("assert self.on", False),
        ("x = tf.logical_and(x, not self.on)", False),
        ("x = y and self.on", False),
        ("x = tf.cond(self.on, f, g)", True),
        ("x = tf.logical_and(x, self.on)", True),
        ("if self.on is None: x = y", True),
        ("x = self.on if y else x", True),
    ],
)
def test_a_variable_whose_truth_is_asked_for_stays(asks, is_fixed):
    (found,) = scan(["-"], stdin=SOURCE.format(asks).encode(), select=["KD402"]).findings
    assert (found.fix is not None) is is_fixed
