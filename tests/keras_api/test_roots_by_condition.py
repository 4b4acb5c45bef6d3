"""A module of Keras that a condition takes from one root of TensorFlow or the other."""

import pytest

from kdoctor.engine import scan

OLD, NEW = "tf.compat.v1.keras.backend", "tf.keras.backend"
USE = "\n\n\ndef f(x):\n    return K.square(x)\n"


def codes(source, target="tensorflow==2.21", *, gate=True):
    found = scan(["-"], stdin=source.encode(), target=target, gate=gate, select=["KD1"])
    return [each.code for each in found.findings]


@pytest.mark.parametrize("gate", [True, False])
@pytest.mark.parametrize(
    "taken",
    [
        f"K = {OLD} if tf.__version__ >= '2' else {NEW}",
        f"K = {OLD} if tf.executing_eagerly() else {NEW}",
        f"K, name = {OLD} if graph else {NEW}, 3",
        f"if tf.executing_eagerly():\n    K = {OLD}\nelse:\n    K = {NEW}",
        f"K = {NEW}\nif old:\n    K = {OLD}",
        f"if old:\n    K = {OLD}\nelse:\n    from tensorflow.keras import backend as K",
    ],
)
def test_it_is_one_module_with_keras_3(taken, gate):
    assert codes(f"import tensorflow as tf\n\n{taken}{USE}", gate=gate) == ["KD121"]


@pytest.mark.parametrize(
    "taken",
    [
        f"K = {OLD} if old else None",
        f"K = {NEW} if old else tf.math",
        "K = tf.math if old else torch",
        f"K = {NEW} if old else mine",
        f"K = mine({NEW}) if old else {NEW}",
    ],
)
def test_what_may_be_something_else_is_not_known(taken):
    assert not codes(f"import torch\nimport tensorflow as tf\n\n{taken}{USE}")


def test_with_keras_2_they_are_two():
    source = f"import tensorflow as tf\n\nK = {OLD} if old else {NEW}\nK.get_session()\n"
    assert not codes(source, "tensorflow==2.15")
