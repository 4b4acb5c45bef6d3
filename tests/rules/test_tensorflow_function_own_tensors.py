"""A function of Keras gets no tensor that stays TensorFlow's: its fix is unsafe (KD801)."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix

LAYER = (
    "import keras\nimport tensorflow as tf\n\n\nclass A(keras.layers.Layer):\n"
    "    def __init__(self):\n        super().__init__()\n        self.table = {}\n\n"
    "    def call(self, x):\n        {}\n"
)


def fixed(table: str, body: str, *, unsafe: bool = False) -> str:
    source = LAYER.format(table, body)
    result = fix(["-"], stdin=source.encode(), select=["KD801"], backend="all", unsafe=unsafe)
    return result.files[0].after.decode() if result.files else source


@pytest.mark.parametrize(
    ("table", "body"),
    [
        ("tf.meshgrid(3)", "return tf.square(self.table)"),
        ("tf.meshgrid(3)", "return x + tf.square(self.table[:, :2] * 2)"),
        ("[tf.meshgrid(3), None]", "return tf.square(x + self.table[0])"),
        ("None", "y = tf.unique(x)\n        return tf.square(-y)"),
        # Through another call that stays because of it.
        ("tf.meshgrid(3)", "y = tf.exp(self.table)\n        return tf.square(y)"),
        ("None", "y = tf.unique(x)\n        return tf.square(tf.exp(y))"),
    ],
)
def test_what_works_with_a_tensor_that_stays_is_unsafe(table, body):
    assert "tf.square" in fixed(table, body)
    assert "tf.square" not in fixed(table, body, unsafe=True)


@pytest.mark.parametrize(
    ("table", "body"),
    [
        ("tf.zeros((3,))", "return tf.square(self.table)"),
        ("tf.zeros((3,))", "y = tf.exp(self.table)\n        return tf.square(y)"),
        ("None", "for each in range(3):\n            x = tf.exp(x)\n        return tf.square(x)"),
        ("tf.keras.layers.Dense(3)", "return tf.square(self.table(x))"),
        ("tf.meshgrid(3)", "return tf.square(x)"),
    ],
)
def test_what_works_with_tensors_that_go_is_safe(table, body):
    assert "tf.square" not in fixed(table, body)


def test_what_another_function_calls_too_is_unsafe():
    source = (
        "import keras\nimport tensorflow as tf\n\n\ndef halved(x):\n    return tf.square(x)\n\n\n"
        "def other(x):\n    return halved(x)\n\n\nclass A(keras.layers.Layer):\n"
        "    def call(self, x):\n        return halved(x)\n"
    )
    assert not fix(["-"], stdin=source.encode(), select=["KD801"], backend="all").files
    [file] = fix(["-"], stdin=source.encode(), select=["KD801"], backend="all", unsafe=True).files
    assert "keras.ops.square(x)" in file.after.decode()
