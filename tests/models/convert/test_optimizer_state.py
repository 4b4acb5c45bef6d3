"""Training goes on from the state of the optimizer: the next steps are those of Keras 2."""

import numpy as np
import pytest

from kdoctor.models.convert import convert
from tests.frameworks import keras, tf_keras
from tests.models.convert.made import TARGET, metadata_in

RNG = np.random.default_rng(0)
X = RNG.normal(size=(8, 3)).astype("float32")
Y = RNG.normal(size=(8, 2)).astype("float32")
SGD = ({}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True})
RMSPROP = ({}, {"momentum": 0.9}, {"centered": True, "momentum": 0.5})
OPTIMIZERS = [
    *(("SGD", each) for each in SGD),
    *(("RMSprop", each) for each in RMSPROP),
    *(("Adam", each) for each in ({}, {"amsgrad": True}, {"learning_rate": "schedule"})),
    *((name, {}) for name in ("AdamW", "Adamax", "Adagrad", "Adadelta", "Ftrl", "Lion")),
]
OF_OLD = ("SGD", "RMSprop", "Adam", "Adamax", "Adagrad", "Adadelta", "Ftrl")


def trained(optimizer, tmp_path, ending, steps=3):
    """Train a model of Keras 2 whose layers stand otherwise in Keras 3, and save it."""
    tf_keras.utils.set_random_seed(1)
    layers = tf_keras.layers
    start = tf_keras.Input((3,))
    left, right = layers.Dense(4, name="left"), layers.Dense(4, name="right")
    deep = layers.Dense(4, name="deep")(right(start))
    both = layers.Add()([left(layers.BatchNormalization()(start)), deep])
    frozen = layers.Dense(4, trainable=False)(both)
    model = tf_keras.Model(start, layers.Dense(2)(frozen))
    model.compile(optimizer, "mse")
    for _ in range(steps):
        model.train_on_batch(X, Y)
    path = tmp_path / f"old{ending}"
    model.save(path)
    return path


def made(holder, name, given):
    if given.get("learning_rate") == "schedule":
        schedule = tf_keras.optimizers.schedules.ExponentialDecay(0.05, 2, 0.5)
        given = {**given, "learning_rate": schedule}
    return getattr(holder, name)(**{"learning_rate": 0.02, **given})


def after_two_steps(framework, path):
    model = framework.models.load_model(path)
    for _ in range(2):
        model.train_on_batch(X, Y)
    return {each.name: each.get_weights() for each in model.layers if each.get_weights()}


def assert_goes_on(path, tmp_path):
    new = tmp_path / "new.keras"
    told = convert(path, new, TARGET)
    assert any("optimizer goes along" in each.text for each in told.changes)
    assert "the state of the optimizer goes along" in metadata_in(new)["kdoctor"]["changes"]
    before, after = after_two_steps(tf_keras, path), after_two_steps(keras, new)
    for name, weights in before.items():
        for one, other in zip(weights, after[name], strict=True):
            assert np.allclose(one, other, atol=1e-6), name


@pytest.mark.frameworks
@pytest.mark.sampled(16)
@pytest.mark.parametrize("ending", [".h5", ".keras"])
@pytest.mark.parametrize(("name", "given"), OPTIMIZERS, ids=str)
def test_training_goes_on_as_on_keras_2(name, given, ending, tmp_path):
    path = trained(made(tf_keras.optimizers, name, given), tmp_path, ending)
    assert_goes_on(path, tmp_path)


@pytest.mark.frameworks
@pytest.mark.sampled(12)
@pytest.mark.parametrize(
    ("name", "given"),
    [each for each in OPTIMIZERS if each[0] in OF_OLD and "schedule" not in str(each)],
    ids=str,
)
def test_training_goes_on_from_a_state_of_before_2_11(name, given, tmp_path):
    path = trained(made(tf_keras.optimizers.legacy, name, given), tmp_path, ".h5")
    if (name, given) == ("SGD", {}):
        assert convert(path, tmp_path / "new.keras", TARGET).is_written  # it has none
        return
    if (name, given) == ("RMSprop", {}):
        told = convert(path, tmp_path / "new.keras", TARGET)
        assert any("where gradients are tiny" in each.text for each in told.changes)
        state = keras.models.load_model(tmp_path / "new.keras").optimizer.variables[2:]
        old = tf_keras.models.load_model(path).optimizer.get_weights()[1:]
        shapes = sorted(each.shape for each in old)
        assert shapes == sorted(tuple(each.shape) for each in state)
        assert np.isclose(sum(map(np.sum, old)), sum(map(np.sum, state)))
        return
    assert_goes_on(path, tmp_path)


@pytest.mark.frameworks
@pytest.mark.parametrize("name", ["Nadam", "Adafactor"])
def test_a_state_that_keras_3_keeps_otherwise_is_said_to_be_left_out(name, tmp_path):
    path = trained(getattr(tf_keras.optimizers, name)(), tmp_path, ".h5")
    told = convert(path, tmp_path / "new.keras", TARGET)
    assert any("left out" in each.text and f"`{name}`" in each.text for each in told.changes)
    assert keras.models.load_model(tmp_path / "new.keras").optimizer.iterations == 0


@pytest.mark.frameworks
def test_hdf5_of_keras_3_takes_no_state_and_that_is_said(tmp_path):
    path = trained("adam", tmp_path, ".keras")
    told = convert(path, tmp_path / "new.h5", TARGET)
    assert any("convert to .keras to keep it" in each.text for each in told.changes)
    assert keras.models.load_model(tmp_path / "new.h5").compiled
