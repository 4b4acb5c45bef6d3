"""Layers that Keras 3 does not have are made of those that it has, and compute the same."""

import numpy as np
import pytest

from kdoctor.models.convert import convert, write_code
from tests.frameworks import keras, tf_keras
from tests.models.convert.made import TARGET

RNG = np.random.default_rng(0)


def drawn(shape, dtype="float32"):
    return RNG.uniform(0, 9, size=(2, *shape)).astype(dtype)


def both(layer, shape, tmp_path, dtype="float32", ending=".h5"):
    """Return a model of Keras 2 with drawn weights, what it is converted to, and the conversion."""
    old = tf_keras.Sequential([tf_keras.Input(shape, dtype=dtype), layer])
    old.set_weights([RNG.uniform(-1, 1, size=each.shape) for each in old.get_weights()])
    old.save(tmp_path / f"old{ending}")
    made = convert(tmp_path / f"old{ending}", tmp_path / "new.keras", TARGET)
    assert made.refusals == ()
    return old, keras.models.load_model(tmp_path / "new.keras"), made


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("cls", "shape", "given"),
    [
        ("LocallyConnected1D", (9, 3), {"kernel_size": 3, "strides": 2, "activation": "softmax"}),
        ("LocallyConnected1D", (9, 3), {"kernel_size": 2, "use_bias": False}),
        ("LocallyConnected2D", (7, 5, 3), {"kernel_size": (3, 2), "strides": (2, 1)}),
    ],
)
def test_a_locally_connected_layer_computes_the_same(cls, shape, given, tmp_path):
    old, new, _ = both(getattr(tf_keras.layers, cls)(2, **given), shape, tmp_path)
    x = drawn(shape)
    assert np.allclose(old(x), new(x), atol=1e-5)
    assert new.trainable_weights[0].shape == old.trainable_weights[0].shape


@pytest.mark.frameworks
@pytest.mark.parametrize("ending", [".h5", ".keras"])
def test_rows_without_a_bias_are_those_that_the_layer_was_built_for(ending, tmp_path):
    layer = tf_keras.layers.LocallyConnected2D(2, 2, use_bias=False)
    old = tf_keras.Sequential([tf_keras.Input((7, 5, 3)), layer])
    old.save(tmp_path / f"old{ending}")
    made = convert(tmp_path / f"old{ending}", tmp_path / "new.keras", TARGET)
    if ending == ".h5":
        assert "how many rows" in made.refusals[0].cause
        return
    x = drawn((7, 5, 3))
    assert np.allclose(old(x), keras.models.load_model(tmp_path / "new.keras")(x), atol=1e-5)


@pytest.mark.frameworks
@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("sizes", [(4, 6), (12, 3)])
def test_images_are_cropped_in_training_and_otherwise(sizes, dtype, tmp_path):
    old, new, _ = both(tf_keras.layers.RandomCrop(*sizes), (9, 8, 3), tmp_path, dtype)
    x = drawn((9, 8, 3), dtype)
    assert np.allclose(old(x, training=False), new(x, training=False), atol=1e-4)
    assert new(x, training=True).shape == old(x, training=True).shape == (2, *sizes, 3)
    if sizes == (4, 6):  # it takes a window, and changes nothing in it
        assert np.isin(np.asarray(new(x, training=True)), x).all()


@pytest.mark.frameworks
def test_what_did_something_in_training_only_is_said_to_be_left_out(tmp_path):
    old, new, made = both(tf_keras.layers.RandomWidth(0.5), (9, 8, 3), tmp_path)
    x = drawn((9, 8, 3))
    assert np.array_equal(old(x, training=False), new(x, training=True))
    assert any("in training only is left out" in each.text for each in made.changes)


@pytest.mark.frameworks
@pytest.mark.parametrize("ending", [".h5", ".keras"])
def test_an_activation_with_weights_keeps_its_regularizer_and_its_place(ending, tmp_path):
    layers = tf_keras.layers
    layer = layers.Dense(3, activation=layers.PReLU(), activity_regularizer="l2")
    old, new, _ = both(layer, (4,), tmp_path, ending=ending)
    x = drawn((4,)) - 4
    assert np.allclose(old(x), new(x), atol=1e-5)
    new(x)
    old(x)
    assert np.allclose(sum(old.losses), sum(new.losses), rtol=1e-4)


def recurrent(lstm, gru):
    start = tf_keras.Input((5, 3))
    between = tf_keras.layers.Bidirectional(lstm(4, return_sequences=True))(start)
    between = gru(2, return_sequences=True, go_backwards=True)(between)
    end, *states = lstm(3, return_state=True)(between)
    return tf_keras.Model(start, [end, *states])


@pytest.mark.frameworks
@pytest.mark.sampled(2)
@pytest.mark.parametrize("ending", [".h5", ".keras"])
def test_weights_of_cudnn_layers_are_laid_out_as_keras_2_lays_them_out(ending, tmp_path):
    from tf_keras.src.layers import CuDNNGRU, CuDNNLSTM  # noqa: PLC0415 - not in its API

    old = recurrent(CuDNNLSTM, CuDNNGRU)
    old.set_weights([RNG.uniform(-1, 1, size=each.shape) for each in old.get_weights()])
    old.save(tmp_path / f"old{ending}")
    old.save(tmp_path / "weights.h5")
    loaded = recurrent(tf_keras.layers.LSTM, tf_keras.layers.GRU)
    loaded.load_weights(tmp_path / "weights.h5")  # these run without a GPU
    for to in ("new.keras", "new.h5"):
        assert convert(tmp_path / f"old{ending}", tmp_path / to, TARGET).refusals == ()
        new = keras.models.load_model(tmp_path / to)
        x = drawn((5, 3))
        for before, after in zip(loaded(x), new(x), strict=True):
            assert np.allclose(before, after, atol=1e-6)


@pytest.mark.frameworks
def test_code_for_such_a_layer_takes_the_converted_weights(tmp_path):
    old, _, _ = both(tf_keras.layers.LocallyConnected1D(2, 2), (5, 3), tmp_path)
    write_code(tmp_path / "old.h5", tmp_path / "code.py", TARGET)
    made = {}
    exec((tmp_path / "code.py").read_text(), made)  # noqa: S102 - what was just written
    made["model"].load_weights(tmp_path / "new.keras")
    x = drawn((5, 3))
    assert np.allclose(old(x), made["model"](x), atol=1e-5)
