"""Which values surely are no `tf.Variable`."""

from __future__ import annotations

import libcst as cst
import pytest

from kdoctor.analysis.backends.raw_variables import is_no_raw_variable
from kdoctor.documents import Document
from kdoctor.keras_api import newest_target, oracle
from kdoctor.syntax import Module

LAYER = """\
import keras
import tensorflow as tf

def own(v):
    return {own}

class Mine(keras.layers.Layer):
    def __init__(self, units=3, given=None):
        super().__init__()
        self.dense = keras.layers.Dense(units)
        self.w = self.add_weight(shape=(units,))
        self.v = tf.Variable(1.0)
        {init}

    def call(self, inputs, mask=None, scale=tf.Variable(1.0)):
        one, *others = inputs
        {call}
"""


def answers(own="1", init="pass", call="pass"):
    """Say it of the argument of each ``ask``."""
    text = LAYER.format(own=own, init=init, call=call)
    unit = Document.parse(text.encode(), "code.py").units[0]
    module = Module.parse(unit, oracle(newest_target()))
    return [
        is_no_raw_variable(module, each.args[0].value)
        for each in module.nodes(cst.Call)
        if isinstance(each.func, cst.Name) and each.func.value == "ask"
    ]


@pytest.mark.parametrize(
    "value",
    [
        *("inputs", "mask", "one", "inputs[0]", "others", "self.dense(one)", "one > 0", "-self.v"),
        *("self.v + 1", "tf.abs(self.v)", "tf.shape(one)[0]", "one.shape[-1]", "3", "tf.cast(one, 'int32')"),
        *("keras.ops.abs(self.w)", "one if mask is None else others", "(one, 2)", "len(inputs)"),
    ],
)  # fmt: skip
def test_what_keras_passes_and_what_is_calculated_is_none(value):
    assert answers(call=f"ask({value})") == [True]


@pytest.mark.parametrize(
    "value",
    [
        *("self", "self.w", "self.v", "scale", "tf.Variable(1.0)", "tf.cast(self.v, 'float32')"),
        *("(one, self.v)", "one if mask is None else self.v", "unknown", "unknown(one)"),
        *("tf.nest.flatten(self.v)", "tf.keras.backend.variable(1.0)", "self.weights[0]"),
    ],
)
def test_a_weight_and_what_is_unknown_may_be_one(value):
    assert answers(call=f"ask({value})") == [False]


def test_what_is_given_to_the_constructor_may_be_one():
    assert answers(init="ask(given)") == [False]


def test_a_function_is_asked_for_all_it_is_given():
    assert answers(own="ask(v)", call="own(one)") == [True]
    assert answers(own="ask(v)", call="own(one), own(self.v)") == [False]
    assert answers(own="ask(v)") == [False]


@pytest.mark.parametrize(
    "head",
    [
        "class L(keras.losses.Loss):\n    def call(self, y_true, y_pred):\n        ",
        "class M(keras.metrics.Metric):\n    def update_state(self, y_true, y_pred):\n        ",
        "def loss(y_true, y_pred):\n    ",
    ],
)
def test_losses_and_metrics_are_given_none(head):
    text = f"import keras\n{head}ask(y_true)\n"
    unit = Document.parse(text.encode(), "code.py").units[0]
    module = Module.parse(unit, oracle(newest_target()))
    asked = module.nodes(cst.Call)[-1]
    assert is_no_raw_variable(module, asked.args[0].value)
