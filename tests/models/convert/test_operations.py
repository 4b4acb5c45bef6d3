"""Each operation of TensorFlow that is rewritten computes on Keras 3 what it did on Keras 2."""

import numpy as np
import pytest

from kdoctor.models.convert import convert
from kdoctor.models.operations import _TABLE, ops_layer_of
from tests.frameworks import keras, tf, tf_keras
from tests.models.convert.made import TARGET

_UNARY = [
    *("math.negative", "math.abs", "math.exp", "math.square", "math.sin", "math.cos", "math.tanh"),
    *("math.sign", "math.floor", "math.ceil", "math.sigmoid", "nn.relu", "nn.relu6", "nn.elu"),
    *("nn.softplus",),
]
_POSITIVE = ["math.log", "math.log1p", "math.sqrt"]
_BINARY = [
    *("math.subtract", "math.multiply", "math.divide", "math.maximum", "math.minimum"),
    *("math.greater", "math.less_equal", "math.floordiv"),
]


def reached(function):
    found = tf
    for part in function.split("."):
        found = getattr(found, part)
    return found


CASES = {
    **{name: lambda x, _, name=name: reached(name)(x) for name in _UNARY},
    **{name: lambda x, _, name=name: reached(name)(abs(x) + 0.5) for name in _POSITIVE},
    **{name: lambda x, y, name=name: reached(name)(x, y) for name in _BINARY},
    "operators": lambda x, y: (2 * x + 1 - y) / (y * y + 1.0) - x,
    "powers": lambda x, y: abs(x) ** 2.0 + tf.math.pow(abs(y), 1.5),
    "comparisons": lambda x, y: tf.cast(x > y, "float32") + tf.cast(x >= 0.0, "float32"),
    "comparisons, the other way": lambda x, y: tf.cast(x < y, "float32"),
    "softmax": lambda x, y: tf.nn.softmax(x) + tf.nn.softmax(y, axis=1),
    "reductions": lambda x, y: tf.reduce_mean(x, axis=1) + tf.reduce_sum(y, axis=1),
    "kept axes": lambda x, y: tf.reduce_max(x, axis=[1, 2], keepdims=True) + y,
    "all axes": lambda x, y: tf.reduce_min(x) + tf.reduce_prod(y, axis=-1),
    "shapes": lambda x, y: tf.squeeze(tf.expand_dims(x, 1), axis=[1]) + y,
    "transpose": lambda x, _: tf.transpose(x, perm=[0, 2, 1]),
    "reshape": lambda x, _: tf.reshape(x, (-1, 12)),
    "concat": lambda x, y: tf.concat([x, y], axis=-1),
    "stack": lambda x, y: tf.stack([x, y], axis=1),
    "matmul": lambda x, y: tf.matmul(x, tf.transpose(y, [0, 2, 1])),
    "tile": lambda x, _: tf.tile(x, [1, 2, 1]),
    "clip": lambda x, _: tf.clip_by_value(x, -0.5, 0.5),
    "items": lambda x, y: x[:, 0] + y[:, 1, :] + x[..., -1, :],
    "slices": lambda x, y: x[:, ::2] + y[:, 1:],
}


@pytest.mark.frameworks
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_an_operation_computes_the_same(name, tmp_path):
    x, y = (tf_keras.Input((3, 4)) for _ in range(2))
    old = tf_keras.Model([x, y], CASES[name](x, y))
    old.save(tmp_path / "old.h5")
    made = convert(tmp_path / "old.h5", tmp_path / "new.keras", TARGET)
    assert made.refusals == ()
    new = keras.models.load_model(tmp_path / "new.keras")
    given = [np.random.default_rng(seed).normal(size=(2, 3, 4)).astype("f") for seed in (0, 1)]
    np.testing.assert_allclose(old(given), new(given), atol=1e-5, rtol=1e-5)


@pytest.mark.frameworks
@pytest.mark.parametrize("function", _TABLE)
def test_each_operation_is_one_of_both(function):
    assert callable(reached(function.replace("__operators__.add", "math.add")))
    found = ops_layer_of(function)
    assert callable(getattr(keras.ops, found.removeprefix("keras.ops.")))


def test_what_keras_has_not_is_not_named():
    assert ops_layer_of("math.reduce_std") is None
    assert ops_layer_of("math.multiply") == "keras.ops.multiply"
    assert ops_layer_of("__operators__.getitem") == "keras.ops.get_item"


@pytest.mark.frameworks
def test_an_argument_that_keras_does_not_take_is_refused(tmp_path):
    x = tf_keras.Input((3, 3))
    tf_keras.Model(x, tf.matmul(x, x, transpose_b=True)).save(tmp_path / "old.h5")
    made = convert(tmp_path / "old.h5", tmp_path / "new.keras", TARGET)
    assert [each.subject for each in made.refusals] == ["linalg.matmul"]
