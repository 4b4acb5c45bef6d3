"""KD705 names the layers of tensorflow_probability: where that is installed, it is asked."""

from __future__ import annotations

import inspect

import pytest

from kdoctor.rules.environment.layer_of_tf_keras import _PROBABILITY, WHEN_CALLED


@pytest.mark.frameworks
def test_the_layers_of_tensorflow_probability_are_those_that_are_named():
    tf_keras = pytest.importorskip("tf_keras")
    layers = pytest.importorskip("tensorflow_probability").layers
    found = {
        name
        for name, value in vars(layers).items()
        if inspect.isclass(value) and issubclass(value, tf_keras.layers.Layer)
    }
    named = {name.removeprefix(_PROBABILITY) for name in WHEN_CALLED if _PROBABILITY in name}
    assert named == found
