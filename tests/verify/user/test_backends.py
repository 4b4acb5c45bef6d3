"""Code before its fix, and after it on each backend that is asked for."""

from __future__ import annotations

import importlib.util
import json
import sys

import pytest

from kdoctor.interpreters import Interpreter
from kdoctor.verify.user.definitions import Source
from kdoctor.verify.user.interpreter import Chosen
from kdoctor.verify.user.results import VerdictState
from kdoctor.verify.user.running import Limits
from kdoctor.verify.user.verifying import verify
from tests.verify.user.verify_command import kdoctor_cli

pytestmark = pytest.mark.frameworks

HERE = Interpreter(sys.executable, "the one that runs the tests")

OLD = """
import keras
import tensorflow as tf
from keras import backend as K
from keras.layers import Dense, Dropout, Input, Layer
from keras.models import Model


def squared(y_true, y_pred):
    return K.mean(K.square(y_true - y_pred), axis=-1)


def wrong(y_true, y_pred):
    return K.mean(K.abs(y_true - y_pred), axis=-1)


class Scale(Layer):
    def build(self, input_shape):
        self.scale = self.add_weight(name="scale", shape=(input_shape[-1],), initializer="ones")

    def call(self, inputs):
        return inputs * self.scale


class Share(keras.metrics.Metric):
    def __init__(self, name="share", **kwargs):
        super().__init__(name=name, **kwargs)
        self.total = self.add_weight(name="total", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.total.assign_add(K.sum(y_pred))

    def result(self):
        return self.total * 0.5


def tied(x):
    return K.exp(x)


def decided(y_true, y_pred):
    return K.mean(y_pred - y_true)


def mixed(x):
    return K.dropout(x, 0.5)


def network():
    inputs = Input((4,))
    return Model(inputs, Scale()(Dense(3)(Dropout(0.5)(inputs))))
"""
NEW = """
import keras
import tensorflow as tf
from keras import ops
from keras.layers import Dense, Dropout, Input, Layer
from keras.models import Model


def squared(y_true, y_pred):
    return ops.mean(ops.square(y_true - y_pred), axis=-1)


def wrong(y_true, y_pred):
    return ops.mean(ops.square(y_true - y_pred), axis=-1)


class Scale(Layer):
    def build(self, input_shape):
        self.scale = self.add_weight(name="scale", shape=(input_shape[-1],), initializer="ones")

    def call(self, inputs):
        return inputs * self.scale


class Share(keras.metrics.Metric):
    def __init__(self, name="share", **kwargs):
        super().__init__(name=name, **kwargs)
        self.total = self.add_weight(name="total", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.total.assign_add(ops.sum(y_pred))

    def result(self):
        return self.total * 0.5


def tied(x):
    return tf.exp(x)


def decided(y_true, y_pred):
    error = ops.mean(y_pred - y_true)
    return error if error > 0.0 else ops.mean(y_pred - y_true)


def mixed(x):
    return keras.random.dropout(x, 0.5)


def network():
    inputs = Input((4,))
    return Model(inputs, Scale()(Dense(3)(Dropout(0.5)(inputs))))
"""
# It runs on Keras 3 only, before its fix, too.
NEWER = """
import keras
import tensorflow as tf


class Newer(keras.layers.Layer):
    def call(self, inputs):
        return keras.ops.relu(inputs) + tf.exp(inputs)
"""
LIMITS = Limits(seconds=100.0)


def told(sources, chosen):
    report = verify(sources, lambda _: None, chosen, LIMITS)
    return {(each.name, each.backend): each for each in report.verdicts}


def sources_of(*names):
    """Return a source of its own for each of these definitions."""
    return [
        Source(f"/{name}.py", *(_alone(text, name) for text in (OLD, NEW)))
        for name in names or ("everything",)
    ]


def _alone(text, name):
    head, *rest = text.split("\n\n\n")
    kept = [each for each in rest if f" {name}(" in each or name == "everything"]
    return "\n\n\n".join([head, *kept])


def test_code_of_either_keras_has_a_verdict_for_each_backend_that_is_installed(tmp_path):
    (tmp_path / "squared.py").write_text(_alone(OLD, "squared"))
    (tmp_path / "newer.py").write_text(NEWER)
    ran = kdoctor_cli("verify", ".", "--backend", "all", "--json", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    document = json.loads(ran.stdout)
    missing = {each["backend"] for each in document["missing"]}
    assert {*document["backends"]} | missing == {"tensorflow", "jax", "torch"}
    assert "tensorflow" not in missing
    found = {(each["name"], each["backend"]): each for each in document["definitions"]}
    assert len(found) == 2 * len(document["backends"])
    assert {each["state"] for each in found.values()} == {"equal"}
    assert found["squared", "tensorflow"]["before"] == "Keras 2"
    assert found["Newer", "tensorflow"]["before"] == "Keras 3"


def test_a_backend_that_is_not_installed_is_one_sentence(tmp_path):
    (tmp_path / "a.py").write_text(OLD)
    if importlib.util.find_spec("jax") is None:
        ran = kdoctor_cli("verify", "a.py", "--backend", "jax", folder=tmp_path)
        assert ran.returncode == 2
        assert ran.stdout == ""
        assert "has no JAX: run " in ran.stderr
        assert ran.stderr.count("\n") == 1
    ran = kdoctor_cli("verify", "a.py", "--backend", "jx", folder=tmp_path)
    assert ran.returncode == 2
    assert ran.stderr == (
        "kdoctor: there is no backend 'jx'; choose tensorflow, jax, torch or all\n"
    )


@pytest.fixture(scope="module")
def everywhere():
    """The verdicts on all definitions with JAX and PyTorch."""
    pytest.importorskip("jax")
    pytest.importorskip("torch")
    newer = Source("/newer.py", NEWER, NEWER.replace("tf.exp", "keras.ops.exp"))
    return told([*sources_of(), newer], Chosen(HERE, ("jax", "torch")))


@pytest.mark.parametrize("backend", ["jax", "torch"])
@pytest.mark.parametrize("name", ["squared", "Scale", "Share", "network", "mixed", "Newer"])
def test_what_computes_the_same_on_another_backend_is_equal(everywhere, name, backend):
    found = everywhere[name, backend]
    assert found.state is VerdictState.EQUAL, found


@pytest.mark.parametrize(("backend", "title"), [("jax", "JAX"), ("torch", "PyTorch")])
def test_what_computes_something_else_on_another_backend_is_told_with_its_name(
    everywhere, backend, title
):
    found = everywhere["wrong", backend]
    assert found.state is VerdictState.DIFFERENT
    assert found.where == "value"
    assert found.told.endswith(f" on Keras 3 with {title}")


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_functions_of_tensorflow_that_are_left_do_not_train_on_another_backend(everywhere, backend):
    found = everywhere["tied", backend]
    assert found.state is VerdictState.NOT_ON_KERAS_3
    assert any(note.startswith("it still calls TensorFlow") for note in found.notes)


def test_control_flow_on_tensors_is_refused_by_jax_alone(everywhere):
    assert everywhere["decided", "torch"].state is VerdictState.EQUAL
    found = everywhere["decided", "jax"]
    assert found.state is VerdictState.NOT_ON_KERAS_3
    assert found.why.startswith("TracerBoolConversionError: ")


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_what_a_backend_does_not_have_is_named(everywhere, backend):
    assert everywhere["squared", backend].uncompared == ("value in a graph",)
    assert everywhere["Scale", backend].uncompared == ()


def test_only_what_is_equal_with_each_backend_is_written(tmp_path):
    pytest.importorskip("jax")
    pytest.importorskip("torch")
    tied = "import keras\nimport tensorflow as tf\n\n\n"
    fine = "def fine(y_true, y_pred):\n    return tf.reduce_mean(tf.abs(y_true - y_pred))\n"
    half = "def half(y_true, y_pred):\n    return tf.abs(tf.math.bessel_i0(y_pred) - y_true)\n"
    (tmp_path / "a.py").write_text(tied + fine + "\n\n" + half)
    asked = ("fix", "a.py", "--backend", "all", "--apply", "--verify")
    ran = kdoctor_cli(*asked, folder=tmp_path)
    after = (tmp_path / "a.py").read_text()
    assert "tf.abs(tf.math.bessel_i0(y_pred) - y_true)" in after, ran.stderr
    assert "half" in ran.stdout + ran.stderr
