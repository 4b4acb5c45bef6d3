"""KD332: what the layers of Keras 2 and 3 call the first arguments of their methods."""

import inspect

import pytest

from kdoctor.rules.arguments.layer_arguments_by_keyword import _NAMES
from tests.frameworks import keras, tf_keras


def parameters(layers, method, count):
    """Return the names that layers give the first parameters of a method."""
    classes = [each for each in vars(layers).values() if inspect.isclass(each)]
    found = set()
    for each in classes:
        if not issubclass(each, layers.Layer) or each.__name__ in {"InputLayer", "TFSMLayer"}:
            continue
        signature = inspect.signature(inspect.unwrap(getattr(each, method)))
        named = [
            one for one in signature.parameters.values() if one.name not in {"self", "instance"}
        ]
        by_position = [one for one in named if one.kind == one.POSITIONAL_OR_KEYWORD]
        found.add(tuple(one.name for one in by_position[:count]))
    return found


@pytest.mark.frameworks
@pytest.mark.parametrize("method", ["call", "build", "compute_output_shape", "compute_mask"])
def test_no_keyword_fits_all_layers(method):
    names = _NAMES[method]
    assert names in parameters(tf_keras.layers, method, len(names))
    assert len(parameters(keras.layers, method, len(names))) > 1


@pytest.mark.frameworks
def test_the_input_and_the_mask_are_the_first_arguments_of_all():
    assert parameters(tf_keras.layers, "compute_mask", 3) == {("inputs", "mask")}
    kept = {("inputs", "previous_mask"), ("inputs", "mask"), ("_", "mask")}
    assert parameters(keras.layers, "compute_mask", 3) == kept
