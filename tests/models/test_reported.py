"""Files of the kind that people reported: what is said of each, and that what is told helps."""

import json

import h5py
import numpy as np
import pytest

from kdoctor.keras_api import newest_target
from kdoctor.models import Fault, Gravity, Remedy, Verdict, explained
from tests.frameworks import keras, tf, tf_keras

TARGET = newest_target()
pytestmark = pytest.mark.frameworks


def sequential(framework, shape, *layers):
    return framework.Sequential([framework.layers.Input(shape), *layers])


def loads(path, **given) -> bool:
    try:
        keras.models.load_model(path, **given)
    except Exception:  # noqa: BLE001 - whatever it is
        return False
    return True


def test_a_gru_before_a_bidirectional_lstm(tmp_path):
    path = tmp_path / "old.h5"
    layers = tf_keras.layers
    inside = layers.Bidirectional(layers.LSTM(3, name="inside"), name="both")
    sequential(tf_keras, (5, 4), layers.GRU(4, return_sequences=True, name="first"), inside).save(
        path
    )
    found = explained(path, TARGET)
    assert found.verdict is Verdict.CONVERTS
    assert not loads(path, compile=False, safe_mode=False)
    places = {each.place.partition("/")[2] for each in found.obstacles}
    assert {"first", "both/inside"} <= places
    assert {each.subject for each in found.obstacles} == {"time_major"}
    assert {each.remedy for each in found.obstacles} == {Remedy.CONVERT}


@pytest.mark.parametrize("ending", ["h5", "keras"])
def test_a_lambda_first_that_needs_tf_from_its_module(tmp_path, ending):
    path = tmp_path / f"old.{ending}"
    first = tf_keras.layers.Lambda(lambda x: tf.abs(x) * 2.0, input_shape=(4,), name="first")
    tf_keras.Sequential([first, tf_keras.layers.Dense(2), tf_keras.layers.Dense(1)]).save(path)
    found = explained(path, TARGET)
    assert found.verdict is Verdict.BY_HAND
    (said,) = [each for each in found.obstacles if each.fault is Fault.LAMBDA]
    assert "it needs `tf`" in said.cause
    assert said.place.endswith("/first")
    assert not loads(path)
    assert not loads(path, safe_mode=False)


@pytest.mark.parametrize("ending", ["h5", "keras"])
def test_a_lambda_that_needs_nothing_loads_where_it_is_trusted(tmp_path, ending):
    path = tmp_path / f"new.{ending}"
    sequential(keras, (4,), keras.layers.Lambda(lambda x: x * 2.0)).save(path)
    found = explained(path, TARGET)
    assert found.verdict is Verdict.LOADS_WITH
    assert found.arguments == {"safe_mode": "False"}
    assert not loads(path)
    assert loads(path, safe_mode=False)


@pytest.mark.parametrize("ending", ["h5", "keras"])
def test_a_loss_that_a_function_made(tmp_path, ending):
    def weighted(weight):
        def loss(y_true, y_pred):
            return keras.ops.mean((y_true - y_pred) ** 2 * weight)

        return loss

    path = tmp_path / f"old.{ending}"
    model = sequential(tf_keras, (4,), tf_keras.layers.Dense(2))
    model.compile(loss=weighted(2.0))
    model.save(path)
    found = explained(path, TARGET)
    assert found.verdict is Verdict.LOADS_WITH
    assert found.arguments == {"compile": "False"}
    assert not loads(path)
    assert loads(path, compile=False)
    (said,) = [each for each in found.obstacles if each.fault is Fault.OWN_FUNCTION]
    assert said.subject == "loss"
    assert 'custom_objects={"loss": …}' in said.cure


def test_the_loss_handed_in_by_its_name(tmp_path):
    path = tmp_path / "old.h5"

    def loss(y_true, y_pred):
        return keras.ops.mean((y_true - y_pred) ** 2)

    model = sequential(keras, (4,), keras.layers.Dense(2))
    model.compile(loss=loss)
    model.save(path)
    (said,) = [e for e in explained(path, TARGET).obstacles if e.fault is Fault.OWN_FUNCTION]
    assert not loads(path)
    assert loads(path, custom_objects={said.subject: loss})


@pytest.mark.parametrize("ending", ["h5", "keras"])
@pytest.mark.parametrize("is_registered", [False, True])
def test_an_own_class_handed_in_under_the_name_that_is_told(tmp_path, ending, is_registered):
    class Mine(keras.layers.Layer):
        def call(self, inputs):
            return inputs * 2.0

    if is_registered:
        keras.saving.register_keras_serializable(package="of_a_test")(Mine)
    path = tmp_path / f"new.{ending}"
    inside = keras.layers.TimeDistributed(Mine())
    sequential(keras, (3, 4), inside, Mine(), keras.layers.Dense(2)).save(path)
    keras.saving.get_custom_objects().clear()
    found = explained(path, TARGET)
    assert found.verdict is Verdict.LOADS_WITH
    assert {each.fault for each in found.obstacles} == {Fault.OWN_CLASS}
    assert not loads(path)
    assert loads(path, custom_objects={each.subject: Mine for each in found.obstacles})
    if is_registered:
        assert '(package="of_a_test")' in found.obstacles[0].cure
        keras.saving.register_keras_serializable(package="of_a_test")(Mine)
    else:
        assert '`keras.saving.get_custom_objects()["Mine"] = Mine`' in found.obstacles[0].cure
        keras.saving.get_custom_objects()["Mine"] = Mine
    assert loads(path)
    keras.saving.get_custom_objects().clear()


def test_a_saved_model_of_a_classifier_is_no_file_for_load_model(tmp_path):
    path = tmp_path / "classifier"
    layers = tf_keras.layers
    sequential(tf_keras, (4,), layers.Dense(3, activation="softmax")).save(path, save_format="tf")
    found = explained(path, TARGET)
    assert found.is_refused
    assert found.verdict in {Verdict.BY_HAND, Verdict.NOT_FOR_KERAS}
    assert not loads(path)


def test_a_sequential_whose_input_no_layer_says(tmp_path):
    """As keras before 2.4 wrote it: what is told to do instead is tried."""
    path = tmp_path / "old.h5"
    sequential(tf_keras, (4,), tf_keras.layers.Dense(3), tf_keras.layers.Dense(2)).save(path)
    old = tf_keras.models.load_model(path)
    with h5py.File(path, "r+") as file:
        config = json.loads(file.attrs["model_config"])
        config["config"]["layers"] = config["config"]["layers"][1:]
        config["config"]["layers"][0]["config"].pop("batch_input_shape", None)
        file.attrs["model_config"] = json.dumps(config)
    found = explained(path, TARGET)
    assert found.verdict is Verdict.BY_HAND
    assert "0 layers with weights, and the file 2" in found.obstacles[0].cause
    assert not loads(path)
    model = keras.Sequential.from_config(config["config"])
    model.build((None, 4))
    model.load_weights(path)
    x = np.ones((1, 4), "float32")
    np.testing.assert_allclose(model(x), old(x), atol=1e-6)


@pytest.mark.parametrize("is_named", [False, True])
def test_a_layer_that_was_called_otherwise_than_on_its_inputs(tmp_path, is_named):
    path = tmp_path / "old.h5"
    one, two = tf_keras.layers.Input((5, 4)), tf_keras.layers.Input((5, 4))
    if is_named:
        made = tf_keras.layers.MultiHeadAttention(2, 3, name="asked")(one, two)
    else:
        _, *state = tf_keras.layers.SimpleRNN(3, return_state=True)(one)
        made = tf_keras.layers.SimpleRNN(3, name="asked")(two, initial_state=state)
    tf_keras.Model([one, two], made).save(path)
    said = [e for e in explained(path, TARGET).obstacles if e.fault is Fault.STRUCTURE]
    assert [each.place.partition("/")[2] for each in said] == ["asked"]
    assert ("`value`" in said[0].cause) is is_named
    assert not loads(path, compile=False)


@pytest.mark.parametrize("ending", ["h5", "keras"])
@pytest.mark.parametrize("given", ["hard_sigmoid", "function"])
def test_an_activation_that_became_another_function(tmp_path, ending, given):
    """It loads, and computes other values: unless Keras 3 wrote it."""
    x = np.linspace(-3, 3, 8, dtype="float32").reshape(2, 4)
    for framework, is_told in ((tf_keras, True), (keras, False)):
        path = tmp_path / f"{'old' if is_told else 'new'}.{ending}"
        function = given if given == "hard_sigmoid" else framework.activations.hard_sigmoid
        old = sequential(framework, (4,), framework.layers.Dense(2, activation=function))
        old.save(path)
        found = explained(path, TARGET)
        assert found.verdict is Verdict.LOADS
        assert [each.gravity for each in found.obstacles] == [Gravity.DIFFERS] * is_told
        new = keras.models.load_model(path)
        assert np.allclose(new(x), old(x), atol=1e-6) is not is_told
