"""What rules about layers of the user take for granted of Keras own."""

from __future__ import annotations

import inspect

import pytest

from kdoctor.analysis.tensors.masks import END_A_MASK
from kdoctor.rules.behaviour.merge_drops_the_mask import MERGING
from kdoctor.rules.members.call_of_recurrent_layer import RECURRENT
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
    layers["Model"] = keras.Model  # a layer, too
    of_its_own = {name for name, layer in layers.items() if says(layer, "compute_output_spec")}
    silent = {name for name, layer in layers.items() if not says(layer, "compute_output_shape")}
    assert of_its_own == ASK_NO_SHAPE
    assert silent - of_its_own == ASK_CALL


@pytest.mark.frameworks
def test_the_recurrent_layers_are_those_whose_build_asks_for_sequences() -> None:
    import keras  # noqa: PLC0415

    asking = {
        name
        for name, layer in vars(keras.layers).items()
        if inspect.isclass(layer)
        and issubclass(layer, keras.Layer)
        and "sequences_shape" in inspect.signature(layer.build).parameters
    }
    assert asking == RECURRENT


@pytest.mark.frameworks
def test_the_merging_layers_lose_a_mask_that_is_not_everywhere() -> None:
    import keras  # noqa: PLC0415

    one, other = keras.ops.ones((1, 2)), keras.ops.ones((1, 2))
    for name in MERGING:
        layer = getattr(keras.layers, name)()
        assert layer.compute_mask([one, other], [keras.ops.ones((1, 2), "bool"), None]) is None


@pytest.mark.frameworks
def test_the_layers_that_end_a_mask_do_so_in_both_kerases() -> None:
    import keras  # noqa: PLC0415
    import tf_keras  # noqa: PLC0415

    given = {"Permute": ((2, 1),), "Reshape": ((-1,),), "Conv1D": (2, 2), "SeparableConv1D": (2, 2)}
    for root in (keras, tf_keras):
        for name in END_A_MASK:
            bare = name in {"Flatten", "GlobalMaxPooling1D"}
            layer = getattr(root.layers, name)(*given.get(name, () if bare else (2,)))
            assert not layer.supports_masking
