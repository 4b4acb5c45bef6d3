"""What a definition needs is found in its project or by name, or left out if possible."""

import json
import os
import subprocess
import sys

import pytest

MODULE = """
import not_installed
try:
    import not_there
except ImportError:
    print("This is faster with not_there!")
try:
    import nowhere
except ImportError:
    raise ImportError("please install nowhere")
import keras
import numpy as np
from keras import backend as K
from keras.layers import Conv2D, Input, Layer
from keras.utils.generic_utils import get_from_module, gone_long_before


SIZES = []
for size in (1, 2, 3):
    SIZES.append(size)


def loss(y_true, y_pred, kind=not_installed.KIND):
    return K.mean(K.square(y_true - y_pred)) * SIZES[-1]


def handled(y_true, y_pred):
    return K.mean(y_true - y_pred) + (0 if "not_there" in globals() else 1)


def raised(y_true, y_pred):
    return K.mean(y_true - y_pred) if y_pred is not None else nowhere.mean(y_true)


def used(y_true, y_pred):
    return not_installed.mean(y_true - y_pred)


class Based(not_installed.Base, Layer):
    pass


def older(y_true, y_pred):
    return K.mean(y_true - y_pred) if y_pred is not None else gone_long_before(1)


class Graph(Layer):
    def __init__(self, numbers, mode, **kwargs):
        assert mode == "both" and len(numbers) == 2
        super().__init__(**kwargs)

    def call(self, inputs):
        features, edges = inputs
        return K.batch_dot(K.cast(edges, "float32"), features)


class Abstract(Layer):
    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.units = units


def put_onto(ip, nb_filter):
    return Conv2D(nb_filter, 3, padding="same")(ip)


def gate(below, skipped, n_filters):
    return Conv2D(n_filters, 1)(below) + Conv2D(n_filters, 1)(skipped)


def both(left, right):
    return K.sum(left, axis=-1) * K.sum(right, axis=-1)


def layer(filters, kernel_size, padding):
    return Conv2D(filters, kernel_size, padding=padding)


def named():
    return {"Graph": Graph, "float": K.floatx(), "numbers": [1, np.float32(2)]}


def version():
    return keras.__version__


def inputs():
    return [Input(shape=(None, 4)), Input(shape=(3,), dtype="int32")]


class Objective:
    def __call__(self, y_true, y_pred):
        return K.mean(K.abs(y_true - y_pred))


class Start(keras.initializers.Initializer):
    def __call__(self, shape, dtype=None, **kwargs):
        return K.ones(shape) * 3.0


def placed(nb_filter, kernel_size, inputs, include_bias):
    return K.relu(keras.layers.Conv1D(nb_filter, kernel_size, use_bias=include_bias)(inputs))


def volume(size=2):
    return keras.layers.UpSampling3D(size)


class Minding(Layer):
    def call(self, inputs, mask=None):
        features, other = inputs
        return features * K.expand_dims(K.cast(mask[0], "float32")) + other


def handed_on(below, nb_filter, **settings):
    return K.relu(Conv2D(nb_filter, **settings)(below))


def network(below, width=6):
    settings = {"kernel_size": (3, 3), "padding": "same"}
    return handed_on(below, width, **settings)
"""
TEST = """
import unittest
import keras
from package.module import Graph

COUNT = 5


class TestGraph(unittest.TestCase):
    def test_it(self):
        features = keras.layers.Input(shape=(None, 3))
        edges = keras.layers.Input(shape=(COUNT, None), dtype="int32")
        out = Graph(numbers=[1, 2], mode="both", name="graph")([features, edges])
"""
COMPARED = {
    "loss": "loss or metric",
    "handled": "loss or metric",
    "Graph": "layer",
    "put_onto": "block of layers",
    "gate": "block of layers",
    "both": "function of a tensor",
    "layer": "maker of a layer",
    "named": "function of plain values",
    "inputs": "function of plain values",
    "Objective": "loss",
    "Start": "initializer",
    "placed": "block of layers",
    "volume": "maker of a layer",
    "Minding": "layer",
    "handed_on": "block of layers",
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    pytest.importorskip("tf_keras")
    folder = tmp_path_factory.mktemp("project")
    for name, text in (
        ("package/module.py", MODULE),
        ("package/__init__.py", ""),
        ("tests/test_graph.py", TEST),
        ("setup.py", ""),
    ):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    ran = subprocess.run(
        [sys.executable, "-m", "kdoctor", "verify", "package", "--json", "--unsafe"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"},
    )
    assert ran.returncode == 1, ran.stderr
    return {each["name"]: each for each in json.loads(ran.stdout)["definitions"]}


@pytest.mark.frameworks
@pytest.mark.parametrize("name", COMPARED)
def test_it_is_compared(found, name):
    assert (found[name]["state"], found[name]["kind"]) == ("equal", COMPARED[name]), found[name]


@pytest.mark.frameworks
def test_a_missing_package_is_reported_for_definitions_that_use_it(found):
    assert found["used"]["state"] == found["Based"]["state"] == "not tried"
    assert "it needs not_installed" in found["used"]["why"]
    assert "it needs not_installed" in found["Based"]["why"]
    assert found["raised"]["state"] == "equal", found["raised"]


@pytest.mark.frameworks
def test_names_of_an_older_keras_have_stand_ins_on_keras_2_only(found):
    assert found["older"]["state"] == "cannot be run on Keras 3"
    assert "No module named 'keras.utils.generic_utils'" in found["older"]["why"]


@pytest.mark.frameworks
def test_an_abstract_layer_that_only_keras_2_can_call_is_not_called(found):
    assert found["Abstract"]["state"] == "not tried"
    assert "base class" in found["Abstract"]["why"]


@pytest.mark.frameworks
def test_plain_values_that_differ_are_different(found):
    assert found["version"]["state"] == "different"
    assert "on Keras 2" in found["version"]["told"]
