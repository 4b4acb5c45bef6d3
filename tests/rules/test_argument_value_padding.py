"""Which layers refuse a `padding` that Keras 2 took, and where it stands, as KD305 says."""

import inspect

import pytest

from kdoctor.rules.arguments._padding_case import NO_CAUSAL, PLACES, POOLING
from tests.frameworks import keras, tf_keras

pytestmark = pytest.mark.frameworks

SHAPES = [(6, 4), (6, 6, 4), (6, 6, 6, 4)]


def with_padding(layers):
    """Yield the layers that take a padding by its name, and what they are made of, by their names.

    `ZeroPadding` takes numbers.
    """
    for name, cls in vars(layers).items():
        if isinstance(cls, type) and issubclass(cls, layers.Layer):
            parameters = list(inspect.signature(cls.__init__).parameters)[1:]
            if "padding" in parameters and not name.startswith("ZeroPadding"):
                yield name, cls, [each for each in ("filters", "kernel_size") if each in parameters]


def taken(root, padding):
    """Return the names of the layers that take a padding, on data of some rank."""
    found = set()
    for name, cls, numbers in with_padding(root.layers):
        for shape in SHAPES:
            try:
                cls(**dict.fromkeys(numbers, 2), **of_pools(cls), padding=padding)(
                    root.Input(shape)
                )
            except Exception:  # noqa: BLE001, S112 - of another rank, or refused: each in its own way
                continue
            found.add(name)
    return found


def of_pools(cls):
    return {"pool_size": 2} if "pool_size" in inspect.signature(cls.__init__).parameters else {}


def test_pooling_refuses_capitals_and_no_other_layer_does():
    both = taken(keras, "same") & taken(tf_keras, "SAME")
    assert both - taken(keras, "SAME") == POOLING
    assert both - POOLING


def test_no_other_layer_lost_what_is_causal():
    assert {*dir(keras.layers)} & taken(tf_keras, "causal") - taken(keras, "causal") == NO_CAUSAL


def test_it_stands_where_it_is_looked_for():
    for name, place in PLACES.items():
        parameters = list(inspect.signature(getattr(keras.layers, name).__init__).parameters)
        assert parameters.index("padding") - 1 == place
