"""Which layers have weights whatever they are made with: each layer of Keras is asked."""

from __future__ import annotations

import inspect

import libcst as cst
import pytest

from kdoctor.analysis.models.sublayers import UNLESS_TOLD, WITH_WEIGHTS, has_weights
from tests.frameworks import keras

IMAGE, SERIES = (2, 6, 6, 3), (2, 6, 3)
SHAPES = {
    **dict.fromkeys(("Conv3D", "Conv3DTranspose", "ConvLSTM2D"), (2, 6, 6, 6, 3)),
    **dict.fromkeys(("Conv2D", "Conv2DTranspose", "ConvLSTM1D", "DepthwiseConv2D"), IMAGE),
    **dict.fromkeys(("GRUCell", "LSTMCell", "SimpleRNNCell", "Embedding"), (2, 3)),
    "ConvLSTM3D": (2, 2, 6, 6, 6, 3),
    "SeparableConv2D": IMAGE,
}
GIVEN = {
    "Bidirectional": lambda: {"layer": keras.layers.LSTM(2)},
    "EinsumDense": lambda: {"equation": "abc,cd->abd", "output_shape": (6, 2)},
}


def made(name: str) -> keras.Layer:
    layer = getattr(keras.layers, name)
    wanted = {
        each.name: 2
        for each in inspect.signature(layer.__init__).parameters.values()
        if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD
    }
    wanted.pop("self", None)
    given = GIVEN[name]() if name in GIVEN else wanted
    if "use_bias" in inspect.signature(layer.__init__).parameters:
        given["use_bias"] = False
    return layer(**given)


def build(layer: keras.Layer, shape: tuple[int, ...]) -> None:
    asked = len(inspect.signature(layer.build).parameters)
    layer.build(*([shape] * min(asked, 2)))


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(WITH_WEIGHTS))
def test_it_has_weights_once_it_is_built(name: str) -> None:
    layer = made(name)
    assert not layer.weights
    build(layer, SHAPES.get(name, SERIES))
    assert layer.weights


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(UNLESS_TOLD))
@pytest.mark.parametrize(
    ("told", "has"),
    [
        ("", True),
        ("center=False", True),
        ("scale=False", False),
        ("scale=False, center=False", False),
    ],
)
def test_it_has_weights_unless_it_is_told_to_have_none(name: str, told: str, has: object) -> None:
    source = f"keras.layers.{name}(axis=-1{told and ', '}{told})"
    layer = eval(source.replace("axis", "groups=3, axis") if name[0] == "G" else source)  # noqa: S307
    build(layer, SERIES)
    assert bool(layer.weights) or not has
    assert has_weights(name, cst.ensure_type(cst.parse_expression(source), cst.Call)) is has


def test_what_is_not_seen_may_tell_it_so() -> None:
    for source in ("LayerNormalization(**more)", "LayerNormalization(-1, 1e-3, False, False)"):
        call = cst.ensure_type(cst.parse_expression(source), cst.Call)
        assert not has_weights("LayerNormalization", call)
