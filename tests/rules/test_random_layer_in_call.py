"""The layers that KD520 knows, held against those of Keras 2 and 3 themselves."""

from __future__ import annotations

import inspect

import pytest

from kdoctor.rules.idioms.random_layer_in_call import RANDOM_LAYERS
from tests.frameworks import keras, tf_keras


def holds_variables(library, name: str) -> bool:
    """Say whether a layer made of a rate has variables before it was ever called."""
    try:
        return bool(getattr(library.layers, name)(0.5).variables)
    except (TypeError, ValueError):  # it takes no rate
        return False


@pytest.mark.frameworks
def test_they_are_the_dropouts_and_noises_that_hold_a_state_since_keras_3():
    classes = {name for name, made in vars(keras.layers).items() if inspect.isclass(made)}
    since_keras_3 = {
        name
        for name in classes
        if ("Dropout" in name or "Noise" in name)
        and holds_variables(keras, name)
        and not holds_variables(tf_keras, name)
    }
    assert since_keras_3 == RANDOM_LAYERS
