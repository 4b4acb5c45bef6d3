"""What KD225 takes for granted of Keras' own layers."""

from __future__ import annotations

import inspect

import pytest

from kdoctor.rules.members.output_shape_of_call import ASK_CALL, ASK_NO_SHAPE


@pytest.mark.frameworks
def test_the_layers_that_say_nothing_of_their_output_are_those_of_the_table() -> None:
    import keras  # noqa: PLC0415

    def says(layer: type, method: str) -> bool:
        return getattr(layer, method) is not getattr(keras.Layer, method)

    layers = {
        name: layer
        for name, layer in vars(keras.layers).items()
        if inspect.isclass(layer) and issubclass(layer, keras.Layer)
    }
    of_its_own = {name for name, layer in layers.items() if says(layer, "compute_output_spec")}
    silent = {name for name, layer in layers.items() if not says(layer, "compute_output_shape")}
    assert of_its_own == ASK_NO_SHAPE
    assert silent - of_its_own == ASK_CALL
