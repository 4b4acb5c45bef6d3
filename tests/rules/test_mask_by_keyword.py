"""KD332: what the layers of Keras 2 and 3 call the arguments of `compute_mask`."""

import inspect

import pytest

from tests.frameworks import keras, tf_keras


def parameters(layers):
    """Return the names that any layer gives the first two parameters of its `compute_mask`."""
    classes = [each for each in vars(layers).values() if inspect.isclass(each)]
    signatures = [
        inspect.signature(each.compute_mask)
        for each in classes
        if issubclass(each, layers.Layer) and hasattr(each, "compute_mask")
    ]
    named = [
        [each for each in one.parameters.values() if each.name != "self"] for one in signatures
    ]
    assert all(
        each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for one in named for each in one
    )
    return {tuple(each.name for each in one) for one in named}


@pytest.mark.frameworks
def test_no_keyword_fits_all_layers_and_the_places_do():
    assert parameters(tf_keras.layers) == {("inputs", "mask")}
    assert parameters(keras.layers) == {
        ("inputs", "previous_mask"),
        ("inputs", "mask"),
        ("_", "mask"),
    }
