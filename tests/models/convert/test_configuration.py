"""Configurations of Keras 2 become those of Keras 3, and what has no meaning there is refused."""

import pytest

from kdoctor.models import Fault
from kdoctor.models.convert.configuration import Rewriter
from kdoctor.models.convert.record import Record
from kdoctor.models.convert.training import converted_training
from tests.models.convert.made import (
    TARGET,
    dense,
    functional,
    input_layer,
    layer,
    sequential,
)


def rewritten(model):
    record = Record(TARGET)
    return Rewriter(record).model(model), record


def trained(config):
    record = Record(TARGET)
    return converted_training(config, record), record


def refused(model):
    return [(each.fault, each.subject) for each in rewritten(model)[1].refusals]


@pytest.mark.parametrize("is_major", [False, True])
def test_an_argument_is_dropped_only_with_a_value_that_does_nothing(is_major):
    cell = layer("LSTM", "l", units=2, time_major=is_major)
    cell |= {"module": "keras.layers", "registered_name": None}
    model = sequential(input_layer(shape=(None, 4, 3)), layer("Bidirectional", "b", layer=cell))
    made, record = rewritten(model)
    if is_major:
        assert [each.subject for each in record.refusals] == ["time_major"]
    else:
        inner = made["config"]["layers"][1]["config"]["layer"]["config"]
        assert inner == {"name": "l", "units": 2}


def test_the_shape_of_a_first_layer_is_an_input_before_it():
    made, _ = rewritten(sequential(dense("d", batch_input_shape=[None, 3], dtype="float16")))
    first, second = made["config"]["layers"]
    assert first["config"] == {"batch_shape": [None, 3], "dtype": "float16", "name": "d_input"}
    assert second["config"] == {"name": "d", "units": 2, "dtype": "float16"}


def test_slashes_in_names_are_replaced_wherever_they_are_named():
    model = functional(
        (input_layer("a/x"), []),
        (dense("a_x"), [[["a/x", 0, 0, {}]]]),
        inputs=[["a/x", 0, 0]],
        outputs=[["a_x", 0, 0]],
    )
    config = rewritten(model)[0]["config"]
    assert [each["name"] for each in config["layers"]] == ["a_x_", "a_x"]
    assert config["layers"][0]["config"]["name"] == "a_x_"
    assert config["input_layers"] == ["a_x_", 0, 0]
    (node,) = config["layers"][1]["inbound_nodes"]
    assert node["args"][0]["config"]["keras_history"] == ["a_x_", 0, 0]


def test_a_tensor_that_is_passed_by_name_is_a_tensor():
    model = functional(
        (input_layer("q"), []),
        (input_layer("v"), []),
        (layer("Attention", "a"), [[["q", 0, 0, {"value": ["v", 0, 0], "mask": None}]]]),
        inputs=[["q", 0, 0], ["v", 0, 0]],
        outputs=[["a", 0, 0]],
    )
    (node,) = rewritten(model)[0]["config"]["layers"][2]["inbound_nodes"]
    assert node["kwargs"].keys() == {"value"}
    assert node["kwargs"]["value"]["config"]["keras_history"] == ["v", 0, 0]


@pytest.mark.parametrize(
    ("each", "fault", "subject"),
    [
        (layer("Lambda", "f", function=["x", None, None]), Fault.LAMBDA, "f"),
        (
            layer("LocallyConnected1D", "l", kernel_size=[2], implementation=2),
            Fault.CLASS,
            "LocallyConnected1D",
        ),
        (
            layer(
                "CuDNNLSTM", "l", units=2, bias_constraint={"class_name": "NonNeg", "config": {}}
            ),
            Fault.CLASS,
            "CuDNNLSTM",
        ),
        (layer("TFOpLambda", "t", function="math.reduce_std"), Fault.OPERATION, "math.reduce_std"),
    ],
)
def test_what_is_no_data_is_refused(each, fault, subject):
    model = functional(
        (input_layer(shape=(None, 3, 3)), []),
        (each, [["x", 0, 0, {}]]),
        inputs=[["x", 0, 0]],
        outputs=[[each["config"]["name"], 0, 0]],
    )
    assert refused(model) == [(fault, subject)]


def test_a_short_learning_rate_and_its_decay_are_a_schedule():
    optimizer = {"class_name": "SGD", "config": {"lr": 0.1, "decay": 0.5, "momentum": 0.0}}
    made, _ = trained({"optimizer_config": optimizer, "loss": "mse", "metrics": ["acc"]})
    schedule = made["optimizer"]["config"]["learning_rate"]
    assert schedule["class_name"] == "InverseTimeDecay"
    assert schedule["config"] == {"initial_learning_rate": 0.1, "decay_steps": 1, "decay_rate": 0.5}
    assert (made["loss"], made["metrics"]) == ("mean_squared_error", ["acc"])


def test_a_loss_of_the_users_leaves_out_what_it_was_compiled_with():
    made, record = trained({"optimizer_config": "sgd", "loss": "my_loss", "metrics": None})
    assert made is None
    assert "`my_loss` is no function" in record.changes[0].text
    assert not record.refusals
