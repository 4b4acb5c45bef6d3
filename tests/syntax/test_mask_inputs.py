"""What `compute_mask` gets: a symbolic tensor where the method takes it for one."""

import pytest

from kdoctor.engine.examine import Examiner
from kdoctor.engine.schedule.task import ScanOptions
from kdoctor.keras_api import newest_target
from tests.frameworks import keras, tf

HEAD = """import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.layers import Layer


class Own(Layer):
    def compute_mask(self, inputs, mask=None):
"""


def found(body, head=HEAD, *, gate=True):
    source = head + "".join(f"        {line}\n" for line in body.split("\n"))
    options = ScanOptions(newest_target(), diffs=False, anchors=False, gate=gate)
    findings = Examiner(options).examine("nowhere/f.py", source.encode()).scan.findings
    return [(each.place.line - head.count("\n"), each.code) for each in findings]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return tf.not_equal(inputs, 0)", [(1, "KD503")]),
        (
            "m = tf.not_equal(inputs, 0)\nreturn tf.logical_and(m, mask)",
            [(1, "KD503"), (2, "KD503")],
        ),
        ("return K.any(K.not_equal(inputs, 0), axis=-1)", [(1, "KD121"), (1, "KD121")]),
        ("return tf.ones(inputs.shape.as_list())", [(1, "KD207")]),
        ("n = inputs * 2\nreturn tf.not_equal(n, 0)", [(2, "KD503")]),
        ("return tf.not_equal(inputs[:, 0], 0)", [(1, "KD503")]),
        # It may be a list, or is one.
        ("inputs = inputs[0]\nreturn tf.not_equal(inputs, 0)", []),
        ("x, y = inputs\nreturn tf.not_equal(x, 0)", []),
        ("return [tf.not_equal(each, 0) for each in inputs]", []),
        ("if len(inputs) > 1: tf.abs(inputs)", []),
        ("if isinstance(inputs, list): return None\nreturn tf.not_equal(inputs, 0)", []),
        ("return tf.concat(inputs, -1)", []),
        ("tf.print(inputs)\nreturn tf.abs(mask)", []),
    ],
)
def test_what_compute_mask_gets_is_symbolic_where_it_is_one_tensor(body, expected):
    assert sorted(found(body)) == expected
    assert sorted(found(body, gate=False)) == expected


@pytest.mark.parametrize(
    "head",
    [
        HEAD.replace("compute_mask", "call"),
        HEAD.replace("compute_mask", "compute_masks"),
        HEAD.replace("class Own(Layer)", "class Own"),
        HEAD.replace("    def", "    @staticmethod\n    def"),
        HEAD.replace("inputs, mask=None", "mask, inputs"),
    ],
    ids=["call", "another name", "no layer", "decorated", "another parameter"],
)
def test_nothing_else_is(head):
    assert found("return tf.not_equal(inputs, 0)", head) == []


def test_a_parameter_that_is_assigned_anew_is_not_known():
    assert found("inputs = mine(inputs)\nreturn tf.not_equal(inputs, 0)") == []


@pytest.mark.frameworks
def test_keras_3_runs_compute_mask_on_symbolic_tensors_and_call_on_others():
    class Own(keras.layers.Layer):
        def compute_mask(self, inputs, previous_mask=None):
            assert previous_mask is None
            seen.append(type(inputs))
            return keras.ops.not_equal(inputs, 0)

        def call(self, inputs):
            seen.append(type(inputs))
            return tf.abs(inputs)

    seen = []
    Own()(keras.Input((3,)))
    assert [issubclass(each, keras.KerasTensor) for each in seen] == [False, True]
