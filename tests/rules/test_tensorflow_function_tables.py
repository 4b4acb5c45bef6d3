"""The tables of KD801 and KD802 speak of functions that TensorFlow has, and of all in Keras' guide."""

from __future__ import annotations

import inspect

import pytest

from kdoctor.rules.backends import _tensorflow, tensorflow_activation
from kdoctor.rules.backends._tensorflow import BY_HAND, REWRITES, UNPROVEN, canonical, is_told
from kdoctor.rules.idioms._tensorflow import REWRITES as KD503
from tests.frameworks import keras, tf
from tests.rules.test_tf_op_on_symbolic_tensor_tables import function, same_default
from tools.guide_table import GUIDE, table

SHARED = {row.left for row in KD503}
OWN = {
    row.left: row
    for row in (*REWRITES, *UNPROVEN, *tensorflow_activation.REWRITES)
    if row.left not in SHARED
}
ROOT = "tensorflow."
# Such arguments nobody passes: they say on which device, or how bad indices are met.
UNUSED = {"layout", "bad_indices_policy"}


@pytest.mark.frameworks
@pytest.mark.parametrize("left", OWN)
def test_the_left_side_is_the_signature_of_tensorflow(left):
    pattern = OWN[left].pattern
    real = inspect.signature(function(pattern.name)).parameters
    assert list(pattern.parameters) == list(real)
    for name, parameter in pattern.parameters.items():
        if name not in UNUSED:
            assert same_default(parameter.default, name, real[name].default), name


@pytest.mark.frameworks
def test_each_name_with_advice_is_there():
    for name in BY_HAND:
        found = tf
        for part in name.split("."):
            found = getattr(found, part)
        assert callable(found), name


@pytest.mark.frameworks
def test_each_alias_is_the_function_of_that_name():
    for alias, name in _tensorflow._data().aliases.items():
        if not alias.startswith("compat.") and alias.partition(".")[0] in dir(tf):
            assert function(f"{ROOT}{alias}") is function(f"{ROOT}{name}"), alias


@pytest.mark.frameworks
def test_each_new_name_is_there():
    for row in tensorflow_activation.REWRITES:
        leaf = row.right.partition("(")[0].rpartition(".")[2]
        assert callable(getattr(keras.activations, leaf))


@pytest.mark.frameworks
def test_each_function_that_works_with_tensors_is_told():
    for name in ("abs", "random.normal", "image.sobel_edges", "linalg.band_part", "math.lbeta"):
        assert callable(function(f"{ROOT}{name}"))
        assert is_told(f"{ROOT}{name}"), name
    for name in ("function", "device", "executing_eagerly", "py_function", "io.read_file"):
        assert callable(function(f"{ROOT}{name}"))
        assert not is_told(f"{ROOT}{name}"), name


def test_each_function_of_the_guide_is_rewritten_or_told():
    rewritten = {row.pattern.name for row in (*REWRITES, *UNPROVEN)}
    unknown = [
        name
        for name in GUIDE
        if canonical(f"{ROOT}{name}") not in rewritten
        and canonical(f"{ROOT}{name}").removeprefix(ROOT) not in BY_HAND
    ]
    assert unknown == []
    assert {line.split(" | ")[0].strip("| `") for line in table().splitlines()[2:]} == {
        f"tf.{name}" for name in GUIDE
    }


def test_no_name_is_that_of_an_alias():
    names = {row.pattern.name for row in (*REWRITES, *UNPROVEN)} | {
        f"{ROOT}{name}" for name in BY_HAND
    }
    assert {name: canonical(name) for name in names if canonical(name) != name} == {}
