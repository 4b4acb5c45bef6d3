"""What Keras calls weights, and layers that are given no name (KD412)."""

import inspect

import pytest

from kdoctor.keras_api.returns import WEIGHTED_LAYERS
from kdoctor.rules.behaviour.weight_name import OF_WEIGHTS, is_default_name
from kdoctor.rules.fixes.snake_case import in_snake_case
from tests.frameworks import keras

pytestmark = [pytest.mark.frameworks, pytest.mark.filterwarnings("ignore")]

SHAPES = [(4,), (4, 4), (4, 4, 4), (4, 4, 4, 4), (8, 8, 8, 3)]
ARGUMENTS = [
    *((), (4,), (4, 2), (2, 2)),
    *(("dense",), ("lstm",), ("cell",), ("...a,ab->...b", 4)),
]
MADE = {"dense": "Dense", "lstm": "LSTM", "cell": "LSTMCell"}


def layers():
    for name, found in sorted(vars(keras.layers).items()):
        if inspect.isclass(found) and issubclass(found, keras.layers.Layer):
            yield name, found


def weights(layer):
    """The names of the weights of a layer, made in whatever way it can be made."""
    names = set()
    for arguments in ARGUMENTS:
        given = [
            getattr(keras.layers, MADE[each])(2) if each in MADE else each for each in arguments
        ]
        for shape in SHAPES:
            try:
                made = layer(*given)
                made(keras.Input(shape))
            except Exception:  # noqa: BLE001, S112 - it is made in another way
                continue
            names |= {each.name for each in made.weights}
    return names


def test_no_weight_of_keras_own_layers_is_called_like_a_layer():
    found = {name: weights(layer) for name, layer in layers()}

    assert len([name for name in WEIGHTED_LAYERS if found.get(name)]) >= 18
    for names in found.values():
        assert names <= OF_WEIGHTS
    known = set().union(*found.values())
    assert not any(is_default_name(part) for name in known for part in (name, name.split("_")[0]))


def test_keras_calls_layers_so():
    from keras.src.utils.naming import to_snake_case  # noqa: PLC0415

    for name, _ in layers():
        assert in_snake_case(name) == to_snake_case(name)
        if name in WEIGHTED_LAYERS:
            assert is_default_name(f"{to_snake_case(name)}_12")
