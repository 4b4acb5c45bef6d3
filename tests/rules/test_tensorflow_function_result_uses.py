"""What is done with the result of a TensorFlow function (KD801)."""

from __future__ import annotations

import inspect

import pytest

from kdoctor.engine import fix
from kdoctor.rules.backends._tensorflow.result_uses import TAKE_SHAPES
from tests.frameworks import keras, tf

HEAD = "import keras\nimport tensorflow as tf\n\n\nclass A(keras.layers.Layer):\n    def call(self, x):\n"


def safely_fixed(*lines: str, backend: str = "all") -> str:
    """Return a layer with this `call` after the safe fixes."""
    source = HEAD + "".join(f"        {each}\n" for each in lines)
    [file] = fix(["-"], stdin=source.encode(), select=["KD801"], backend=backend).files or [None]
    return source if file is None else file.after.decode()


@pytest.mark.parametrize(
    "lines",
    [
        ("return tf.zeros(tf.shape(x))",),
        ("return tf.reshape(x, tf.shape(x)) + tf.ones(shape=tf.shape(x))",),
        ("s = tf.shape(x)", "return tf.fill(s, 1.0) + tf.broadcast_to(x, s)"),
        ("s = tf.shape(x)", "return tf.reshape(x, (s[0], -1)) * tf.zeros(s)"),
        ("s = tf.shape(x)", "n, m = s[0], s[1]", "return tf.reshape(x, (n, m))"),
        ("return keras.ops.zeros(tf.shape(x))",),
    ],
)
def test_a_shape_that_only_tells_sizes_is_a_tuple(lines):
    assert "tf.shape" not in safely_fixed(*lines)


@pytest.mark.parametrize(
    "lines",
    [
        ("return 2 * tf.shape(x)",),
        ("s = tf.shape(x)", "return tf.zeros(s) + tf.reduce_sum(s)"),
        ("s = tf.shape(x)", "return tf.zeros(s), s"),
        ("s = tf.shape(x)", "return tf.zeros(s) * tf.cast(s[0].dtype, 'int32')"),
        ("s = tf.shape(x)", "s = s * 2", "return tf.zeros(s)"),
        ("return tf.zeros(*tf.shape(x))",),
        ("return tf.fill([2], tf.shape(x))",),
        ("return other(tf.shape(x))",),
    ],
)
def test_a_shape_that_is_used_as_a_tensor_stays_one(lines):
    assert "tf.shape" in safely_fixed(*lines)


@pytest.mark.parametrize(
    "lines",
    [
        ("v, i = tf.nn.top_k(x, k=2)", "return v"),
        ("return tf.math.top_k(x)[1]",),
        ("return tf.nn.top_k(x).values",),
        ("found = tf.nn.top_k(x)", "return found.indices, found[0]"),
        ("return [2 * each for each in tf.nn.top_k(x)]",),
        ("return list(tf.nn.top_k(x))",),
    ],
)
def test_what_holds_the_parts_of_a_result_does_not_matter_where_they_are_taken(lines):
    assert "keras.ops.top_k" in safely_fixed(*lines, backend="jax")
    assert "tf.unstack" not in safely_fixed(*lines[:-1], "a, b = tf.unstack(x, 2)", lines[-1])
    # Of equal numbers PyTorch may return another index.
    assert "keras.ops.top_k" not in safely_fixed(*lines, backend="torch")


@pytest.mark.parametrize(
    "lines",
    [
        ("return tf.nn.top_k(x)",),
        ("found = tf.nn.top_k(x)", "return found"),
        ("return tf.nn.top_k(x)._asdict()",),
        ("v, i = tf.nn.top_k(x, sorted=False)", "return v"),  # each backend has an order of its own
    ],
)
def test_a_result_that_is_kept_whole_is_another_object_on_each_backend(lines):
    assert "tf.nn.top_k" in safely_fixed(*lines, backend="jax")


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(TAKE_SHAPES))
def test_shapes_stand_where_the_signatures_have_them(name):
    root, *path = name.split(".")
    function = keras if root == "keras" else tf
    for each in path:
        function = getattr(function, each)
    place, parameter = TAKE_SHAPES[name]
    assert list(inspect.signature(function).parameters)[place] == parameter
