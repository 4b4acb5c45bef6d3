"""What keeps Keras 3 from making a layer is told with its place; what it makes is not accused."""

from pathlib import Path

import pytest

from kdoctor.keras_api import resolve_target
from kdoctor.models import Fault, FileKind, Remedy
from kdoctor.models.contents import Contents
from kdoctor.models.obstacles import obstacles

TARGET = resolve_target("keras==3.15.1", "--target")


def found(*layers):
    made = [{"class_name": each, "config": config} for each, config in layers]
    model = {"class_name": "Sequential", "config": {"name": "m", "layers": made}}
    return list(obstacles(Contents(Path("m.h5"), FileKind.HDF5, model=model), TARGET))


def told(*layers):
    return [(each.place, each.cause) for each in found(*layers)]


def at(value, path):
    for key in path:
        value = value[key]
    return value


def test_an_obstacle_is_told_with_its_place():
    cell = {"class_name": "LSTM", "module": "keras.layers", "registered_name": None}
    cell["config"] = {"name": "b", "units": 4, "time_major": False}
    inside = ("Bidirectional", {"name": "a", "layer": cell})
    assert told(inside) == [("m/a/b", "`LSTM` takes no `time_major`")]
    (each,) = found(inside)
    layers = [{"class_name": inside[0], "config": inside[1]}]
    model = {"class_name": "Sequential", "config": {"name": "m", "layers": layers}}
    assert at(model, each.path) is cell
    assert (each.fault, each.remedy) == (Fault.ARGUMENT, Remedy.CONVERT)


@pytest.mark.parametrize(
    ("config", "subject"),
    [
        ({"function": "math.add"}, "math.add"),
        ({"function": "__operators__.getitem"}, "__operators__.getitem"),
        ({"node_def": 'name: "x"\nop: "Mul"\n'}, "Mul"),
        ({}, ""),
    ],
)
def test_a_recorded_operation_is_told_with_its_function(config, subject):
    (each,) = found(("TFOpLambda", {"name": "f", **config}))
    assert (each.fault, each.subject, each.place) == (Fault.OPERATION, subject, "m/f")
    assert subject in each.cause


@pytest.mark.parametrize(
    ("layer", "became", "remedy"),
    [
        ("BatchNormalizationV1", "BatchNormalization", Remedy.CONVERT),
        ("BatchNormalizationV2", "BatchNormalization", Remedy.CONVERT),
        ("LocallyConnected1D", "", Remedy.CODE),
        ("Mine", "", Remedy.CUSTOM_OBJECTS),
    ],
)
def test_a_class_is_renamed_gone_or_the_users(layer, became, remedy):
    (each,) = found((layer, {"name": "x"}))
    assert (each.became, each.remedy, each.subject) == (became, remedy, layer)


@pytest.mark.parametrize(("value", "remedy"), [(False, Remedy.CONVERT), (True, Remedy.CODE)])
def test_an_argument_that_did_nothing_is_left_out(value, remedy):
    (each,) = found(("LSTM", {"units": 4, "time_major": value}))
    assert each.remedy is remedy


def test_an_argument_at_the_default_of_keras_2_is_left_out():
    (each,) = found(("DepthwiseConv2D", {"kernel_size": 3, "groups": 1}))
    assert (each.subject, each.remedy) == ("groups", Remedy.CONVERT)


def test_what_a_base_takes_is_no_obstacle():
    assert not found(("LSTM", {"units": 4, "unroll": False, "zero_output_for_mask": False}))
    assert not found(("Dense", {"units": 4, "batch_input_shape": [None, 3]}))
    assert not found(("StringLookup", {"vocabulary_size": 3}))
    assert not found(("MaxPooling2D", {"pool_size": 2, "trainable": True, "name": "p"}))


@pytest.mark.parametrize(
    ("name", "value", "is_known"),
    [
        ("kernel_initializer", {"class_name": "GlorotUniform", "config": {"seed": None}}, True),
        ("kernel_initializer", {"class_name": "Mine", "config": {}}, False),
        ("kernel_regularizer", {"class_name": "L1L2", "config": {"l1": 0.0, "l2": 0.1}}, True),
        ("kernel_regularizer", {"class_name": "L2", "config": {"l": 0.1}}, False),
        ("activation", "relu", True),
        ("activation", "mine", False),
        ("bias_constraint", {"class_name": "MaxNorm", "config": {"max_value": 2}}, True),
    ],
)
def test_what_stands_in_an_argument(name, value, is_known):
    assert bool(found(("Dense", {"units": 1, name: value}))) is not is_known


def test_too_deep_an_object_is_an_error():
    layer = ("Dense", {"units": 1})
    config = {"class_name": layer[0], "config": layer[1]}
    for _ in range(200):
        config = {
            "class_name": "TimeDistributed",
            "module": "keras.layers",
            "config": {"layer": config},
        }
    with pytest.raises(RecursionError):
        found(("TimeDistributed", {"layer": config}))


def test_what_an_own_class_makes_of_a_text_is_not_told():
    config = {
        "activation": "mode of mine",
        "kernel_initializer": {"class_name": "GlorotUniform", "config": {"seed": 1}},
        "inner": {"class_name": "LSTM", "config": {"name": "i", "units": 1, "time_major": False}},
    }
    told = [(each.fault, each.place) for each in found(("Mine", {"name": "x", **config}))]
    assert told == [(Fault.OWN_CLASS, "m/x"), (Fault.ARGUMENT, "m/x/i")]
