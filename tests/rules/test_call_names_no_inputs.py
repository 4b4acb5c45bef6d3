"""KD435 names layers of Keras that are built by their shape: each of them is asked here."""

from __future__ import annotations

import numpy as np
import pytest

from kdoctor.engine import fix, scan
from kdoctor.rules.behaviour.call_names_no_inputs import BUILT_BY_SHAPE

MERGING = {
    *("Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract"),
}

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


_WRITTEN = """\
import keras


class Own(keras.layers.{}):
    def call(self, *args, **kwargs):
        return super().call(*args, **kwargs)
"""


def _outputs(keras, layer, name, given):
    """Return what a layer gives in training and in use; a mask comes along where it may."""
    keras.utils.set_random_seed(0)
    made = layer(*MADE_WITH.get(name, (2, 2) if "Conv" in name else ()))
    inputs = [keras.Input(each.shape[1:]) for each in given]
    masked = [keras.layers.Masking()(each) if len(each.shape) == 3 else each for each in inputs]
    model = keras.Model(inputs, made(masked if len(masked) > 1 else masked[0]))
    return [np.asarray(model(given, training=training)) for training in (True, False)]


@pytest.mark.frameworks
@pytest.mark.filterwarnings("ignore:.*destroy the mask information")
@pytest.mark.parametrize("name", sorted(BUILT_BY_SHAPE))
def test_with_names_each_layer_gives_what_it_gives_by_itself(name):
    keras = pytest.importorskip("keras")
    result = fix(["-"], stdin=_WRITTEN.format(name).encode(), select=["KD435"], unsafe=True)
    text = result.files[0].after.decode()
    assert "def call(self, inputs, *args" in text
    scope = {"__name__": "written"}
    exec(text, scope)  # noqa: S102
    axes = 4 if "Conv3D" in name else 2 if "1D" in name or "Conv" not in name else 3
    draws = np.random.default_rng(0).normal(size=(2, 6, *(4,) * axes)).astype("float32")
    draws[:, :, 3:] = 0  # which `Masking` masks
    given = [*draws] if name in MERGING else [draws[0]]
    theirs = getattr(keras.layers, name)
    for ours, wanted in zip(
        _outputs(keras, scope["Own"], name, given),
        _outputs(keras, theirs, name, given),
        strict=True,
    ):
        np.testing.assert_allclose(ours, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    "body",
    [
        "return super().call(*args, mask=None, **kwargs)",  # which would be given twice
        "return super().call(*args, **{**kwargs, 'training': True})",
        "return super().call(self.scale, *args, **kwargs)",
        "return self.other(*args, **kwargs)",
        "inputs = 2\n        return inputs * super().call(*args, **kwargs)",
    ],
)
def test_what_hands_on_something_else_is_left_to_people(body):
    source = _WRITTEN.format("BatchNormalization").replace(
        "return super().call(*args, **kwargs)", body
    )
    (finding,) = scan(["-"], stdin=source.encode(), select=["KD435"]).findings
    assert finding.fix is None
