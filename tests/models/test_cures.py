"""What is told to do about an obstacle is done here, on a file that has it."""

import json

import h5py
import numpy as np
import pytest

from kdoctor.keras_api import newest_target
from kdoctor.models import Fault, Remedy, Verdict, explained
from tests.frameworks import keras, tf_keras

TARGET = newest_target()
WRITERS = {"keras": keras, "tf_keras": tf_keras}
pytestmark = pytest.mark.frameworks


def sequential(framework, shape, *layers):
    return framework.Sequential([framework.layers.Input(shape), *layers])


def loads(path, **given) -> bool:
    try:
        keras.models.load_model(path, **given)
    except Exception:  # noqa: BLE001 - whatever it is
        return False
    return True


def double(x):
    return x * 2.0


@pytest.mark.parametrize("ending", ["h5", "keras"])
@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("layer", ["Dense", "Activation", "Lambda"])
def test_a_function_of_ones_own(tmp_path, writer, ending, layer):
    layers = WRITERS[writer].layers
    made = {
        "Dense": lambda: layers.Dense(4, activation=double),
        "Activation": lambda: layers.Activation(double),
        "Lambda": lambda: layers.Lambda(double, output_shape=(4,)),
    }
    path = tmp_path / f"own.{ending}"
    sequential(WRITERS[writer], (4,), made[layer]()).save(path)
    assert not loads(path)
    said = [each for each in explained(path, TARGET).obstacles if each.fault is not Fault.ARGUMENT]
    if said[0].fault is Fault.LAMBDA:  # Keras 2 wrote its bytecode
        return
    assert {each.subject for each in said} == {"double"}
    if len(said) == len(explained(path, TARGET).obstacles):
        assert loads(path, custom_objects={"double": double})


@pytest.mark.parametrize("writer", WRITERS)
def test_an_initializer_of_ones_own(tmp_path, writer):
    framework = WRITERS[writer]

    class Ours(framework.initializers.Initializer):
        def __call__(self, shape, dtype=None):
            return (
                framework.backend.ones(shape, dtype)
                if writer == "tf_keras"
                else keras.ops.ones(shape)
            )

        def get_config(self):
            return {}

    class Now(keras.initializers.Initializer):
        def __call__(self, shape, dtype=None):
            return keras.ops.ones(shape, dtype)

    for ending in ("h5", "keras"):
        path = tmp_path / f"own.{ending}"
        sequential(framework, (4,), framework.layers.Dense(2, kernel_initializer=Ours())).save(path)
        found = explained(path, TARGET)
        (said,) = found.obstacles
        assert said.fault is Fault.OWN_CLASS
        assert not loads(path)
        assert loads(path, custom_objects={said.subject: Now})


def test_a_class_that_is_gone_from_keras(tmp_path):
    """`custom_objects` reaches it in HDF5, and no class of Keras' own in a `.keras`."""

    class ThresholdedReLU(keras.layers.Layer):
        def __init__(self, theta=1.0, **kwargs):
            super().__init__(**kwargs)
            self.theta = theta

        def call(self, inputs):
            return inputs * keras.ops.cast(inputs > self.theta, inputs.dtype)

    old = sequential(
        tf_keras, (4,), tf_keras.layers.Dense(3), tf_keras.layers.ThresholdedReLU(theta=0.5)
    )
    x = np.linspace(-2, 2, 8, dtype="float32").reshape(2, 4)
    handed = {"custom_objects": {"ThresholdedReLU": ThresholdedReLU}}
    for ending in ("h5", "keras"):
        path = tmp_path / f"old.{ending}"
        old.save(path)
        (said,) = explained(path, TARGET).obstacles
        assert said.remedy is Remedy.CONVERT
        assert ("custom_objects" in said.cure) is loads(path, **handed)
    assert "load_weights" in said.cure
    model = sequential(keras, (4,), keras.layers.Dense(3), ThresholdedReLU(0.5))
    model.load_weights(path)
    np.testing.assert_allclose(model(x), old(x), atol=1e-6)


def test_a_layer_in_a_wrapper_that_is_named_without_its_module(tmp_path):
    """As Keras wrote it before 2.12."""
    path = tmp_path / "old.h5"
    inside = tf_keras.layers.TimeDistributed(tf_keras.layers.Dense(2))
    sequential(tf_keras, (3, 4), inside).save(path)
    with h5py.File(path, "r+") as file:
        config = json.loads(file.attrs["model_config"])
        layer = config["config"]["layers"][1]["config"]["layer"]
        del layer["module"], layer["registered_name"]
        for name in ("kernel_initializer", "bias_initializer"):
            del layer["config"][name]["module"], layer["config"][name]["registered_name"]
        file.attrs["model_config"] = json.dumps(config)
    found = explained(path, TARGET)
    (said,) = found.obstacles
    assert found.verdict is Verdict.CONVERTS
    assert 'custom_objects={"Dense": keras.layers.Dense}' in said.cure
    assert not loads(path)
    assert loads(path, custom_objects={"Dense": keras.layers.Dense})


@pytest.mark.parametrize("ending", ["h5", "keras"])
@pytest.mark.parametrize("writer", WRITERS)
def test_a_metric_of_ones_own(tmp_path, writer, ending):
    def spread(y_true, y_pred):
        return y_true - y_pred

    path = tmp_path / f"own.{ending}"
    model = sequential(WRITERS[writer], (4,), WRITERS[writer].layers.Dense(2))
    model.compile(loss="mean_squared_error", metrics=[spread])
    model.save(path)
    found = explained(path, TARGET)
    assert (found.verdict is Verdict.LOADS) is loads(path)
    assert loads(path, compile=False)
