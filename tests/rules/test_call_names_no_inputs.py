"""KD435 names layers of Keras that are built by their shape: each of them is asked here."""

from __future__ import annotations

import pytest

from kdoctor.rules.behaviour.call_names_no_inputs import BUILT_BY_SHAPE

MADE_WITH = {
    "Dense": (2,),
    "DepthwiseConv1D": (2,),
    "DepthwiseConv2D": (2,),
    "Dot": (1,),
    "EinsumDense": ("abc,cd->abd", (None, 4)),
    "GroupNormalization": (1,),
}


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(BUILT_BY_SHAPE))
def test_each_layer_that_is_named_fails_without_a_shape(name):
    keras = pytest.importorskip("keras")
    layer = getattr(keras.layers, name)

    class Own(layer):
        def call(self, *args):
            return super().call(*args)

    made = Own(*MADE_WITH.get(name, (2, 2) if "Conv" in name else ()))
    axes = 4 if "Conv3D" in name else 3
    with pytest.raises(TypeError, match="NoneType"):
        made(keras.Input((4,) * axes))
