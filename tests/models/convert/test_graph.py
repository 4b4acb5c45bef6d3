"""The order of layers is that in which Keras 3 has them, whatever the order in the file."""

import json
import random

import pytest

from kdoctor.models.convert.graph import order_of_layers
from tests.frameworks import keras


def drawn_model(rng):
    """Return a model of random connections; layers that are shared, and an input nobody uses."""
    inputs = [keras.layers.Input((4,), name=f"in{number}") for number in range(2)]
    tensors = [*inputs]
    layers = [keras.layers.Dense(4, name=f"d{number}") for number in range(6)]
    for number in range(14):
        if rng.random() < 0.5:
            tensors.append(rng.choice(layers)(rng.choice(tensors)))
        else:
            add = keras.layers.Add(name=f"a{number}")
            tensors.append(add(rng.sample(tensors, 2)))
    outputs = rng.sample(tensors[2:], 2)
    return keras.Model([*inputs, keras.layers.Input((1,), name="unused")], outputs)


@pytest.mark.frameworks
@pytest.mark.parametrize("seed", range(20))
def test_layers_are_in_the_order_of_keras_3(seed):
    rng = random.Random(seed)  # noqa: S311
    model = drawn_model(rng)
    config = json.loads(json.dumps(model.get_config()))
    rng.shuffle(config["layers"])
    ordered = order_of_layers(config, ())
    again = keras.Model.from_config(config)
    assert ordered == [each.name for each in again.layers]
