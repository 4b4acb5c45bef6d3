"""What names were seen to hold as a program ran counts where the code does not tell."""

from __future__ import annotations

import pytest

from kdoctor import engine
from kdoctor.value_types import Kind, Observation, Type

TARGET = "keras==3.15.1"
SYMBOLIC = Type(Kind.TENSOR, "KerasTensor")
EAGER = Type(Kind.EAGER, "EagerTensor")
DENSE = Type(Kind.LAYER, "Dense", "keras.layers.Dense")

MEAN = "import tensorflow as tf\n\n\ndef head(x):\n    return tf.reduce_mean(x, axis=1)\n"


@pytest.fixture
def found(tmp_path):
    """Scan a source with observations of it: function, name, type."""

    def scan(source, *seen, **how):
        path = tmp_path / "code.py"
        path.write_text(source)
        real = str(path.resolve())
        known = tuple(Observation(real, function, name, type_) for function, name, type_ in seen)
        told = engine.scan([str(path)], target=TARGET, observations=known, jobs=1, **how)
        return [(each.code, each.place.line) for each in told.findings]

    return scan


def test_nothing_is_known_of_a_parameter_that_nobody_saw(found):
    assert found(MEAN) == []


def test_a_symbolic_parameter_is_reported_where_the_file_does_not_name_keras(found):
    assert found(MEAN, ("head", "x", SYMBOLIC)) == [("KD503", 5)]


def test_an_observation_of_another_function_does_not_count(found):
    assert found(MEAN, ("other", "x", SYMBOLIC), ("head", "y", SYMBOLIC)) == []


def test_two_values_that_differ_count_for_nothing(found):
    assert found(MEAN, ("head", "x", SYMBOLIC), ("head", "x", EAGER)) == []


@pytest.mark.parametrize(
    ("source", "function"),
    [
        (
            "import keras\n\n\nclass A:\n    def f(self, layer):\n        return layer.output_shape\n",
            "A.f",
        ),
        (
            "import keras\n\n\ndef f():\n    def g(layer):\n        return layer.output_shape\n    return g\n",
            "f.<locals>.g",
        ),
        ("import keras\n\n\n@some\ndef f(layer):\n    return layer.output_shape\n", "f"),
        ("import keras\nfrom x import made\n\nlayer = made()\nprint(layer.output_shape)\n", ""),
        (
            "import keras\nfrom x import made\n\n\ndef f():\n    layer = made()\n    return layer.output_shape\n",
            "f",
        ),
        (
            "import keras\nfrom x import made\n\n\ndef f():\n    for layer in made():\n        layer.output_shape\n",
            "f",
        ),
        (
            "import keras\n\n\ndef f(layer, other):\n    if other:\n        layer = other\n    layer.output_shape\n",
            "f",
        ),
    ],
    ids=["method", "inner function", "decorated", "module", "assigned", "loop", "all that reach"],
)
def test_names_of_all_sorts_have_the_type_that_was_seen(found, source, function):
    assert found(source) == []
    assert [code for code, _ in found(source, (function, "layer", DENSE))] == ["KD205"]


def test_a_read_that_only_one_of_two_bindings_reaches_is_not_what_was_seen(found):
    source = (
        "import keras\n\n\ndef f(layer):\n    layer = other(layer)\n    return layer.output_shape\n"
    )
    assert found(source, ("f", "layer", DENSE)) == []


def test_what_the_code_tells_counts_before_what_was_seen(found):
    source = (
        "import keras\n\n\ndef f():\n    x = keras.layers.Dense(1)\n    return x.output_shape\n"
    )
    seen = ("f", "x", Type(Kind.OPTIMIZER, "Adam", "keras.optimizers.Adam"))
    assert found(source, seen) == found(source)


def test_an_attribute_of_ones_own_objects_has_the_type_that_was_seen(found):
    source = """import keras


class Kept:
    def __init__(self, layer):
        self.layer = layer

    def shape(self):
        return self.layer.output_shape
"""
    assert found(source) == []
    assert found(source, ("", ".layer", DENSE)) == [("KD205", 9)]


@pytest.mark.parametrize("gate", [True, False])
def test_the_gate_lets_pass_what_was_seen(found, gate):
    assert found(MEAN, ("head", "x", SYMBOLIC), gate=gate) == [("KD503", 5)]


def test_an_array_has_the_rank_that_was_seen(tmp_path):
    path = tmp_path / "code.py"
    path.write_text(
        "import keras\n\n\ndef scale(x):\n    return keras.utils.normalize(x, axis=0)\n"
    )
    seen = Observation(str(path.resolve()), "scale", "x", None, "array", 2, "float")

    def fixes(*observations):
        told = engine.scan([str(path)], target=TARGET, observations=observations, jobs=1)
        return [each.fix.title for each in told.findings]

    assert fixes() == []
    assert fixes(seen) == ["Write `-2` instead of `0`"]
