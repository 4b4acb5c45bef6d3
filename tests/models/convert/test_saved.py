"""Which variables a layer has is what both Kerases say, under which names and paths."""

import json

import h5py
import numpy as np
import pytest

from kdoctor.models.convert.configuration import Rewriter
from kdoctor.models.convert.record import Record
from kdoctor.models.convert.saved import layers_of
from tests.frameworks import keras, tf_keras
from tests.models.convert.made import TARGET

# What each is made with, and the shape of an input.
LAYERS = {
    "Dense": ((4,), {"units": 2}),
    "Conv1D": ((8, 4), {"filters": 2, "kernel_size": 2}),
    "Conv2DTranspose": ((8, 8, 4), {"filters": 2, "kernel_size": 2}),
    "DepthwiseConv2D": ((8, 8, 4), {"kernel_size": 2}),
    "SeparableConv1D": ((8, 4), {"filters": 2, "kernel_size": 2}),
    "SimpleRNN": ((8, 4), {"units": 2}),
    "LSTM": ((8, 4), {"units": 2}),
    "GRU": ((8, 4), {"units": 2}),
    "ConvLSTM1D": ((3, 8, 4), {"filters": 2, "kernel_size": 2}),
    "Embedding": ((8,), {"input_dim": 9, "output_dim": 2}),
    "PReLU": ((4,), {}),
    "BatchNormalization": ((4,), {}),
    "LayerNormalization": ((4,), {}),
    "GroupNormalization": ((4,), {"groups": 2}),
    "Normalization": ((4,), {}),
    "EinsumDense": ((4,), {"equation": "ab,bc->ac", "output_shape": 3, "bias_axes": "c"}),
    "EinsumDense without bias": ((4,), {"equation": "ab,bc->ac", "output_shape": 3}),
}
NORMS = ("BatchNormalization", "LayerNormalization", "GroupNormalization")
BIASED = ("Dense", "Conv1D", "Conv2DTranspose", "DepthwiseConv2D", "SeparableConv1D")
RECURRENT = ("SimpleRNN", "LSTM", "GRU", "ConvLSTM1D")
SWITCHES = [
    *((name, "use_bias") for name in (*BIASED, *RECURRENT)),
    *((name, switch) for name in NORMS for switch in ("scale", "center")),
]


def cases():
    for name, (shape, given) in LAYERS.items():
        yield name.partition(" ")[0], shape, given
    for name, switch in SWITCHES:
        shape, given = LAYERS[name]
        yield name, shape, {**given, switch: False}


def made(framework, name, shape, given):
    layer = getattr(framework.layers, name)(**given)
    return framework.Sequential([framework.layers.Input(shape), layer])


@pytest.mark.frameworks
@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "shape", "given"), cases())
def test_the_variables_are_those_of_both(name, shape, given, tmp_path):
    old, new = (made(each, name, shape, given) for each in (tf_keras, keras))
    before = json.loads(old.to_json())
    saved = layers_of(before, Rewriter(Record(TARGET)).model(before))
    layer = saved.children[-1]
    names = [(each.own or ())[number] for each, number in layer.in_order_of_keras_2()]
    legacy = old.trainable_weights + old.non_trainable_weights
    assert names == [each.name.rpartition("/")[2].partition(":")[0] for each in legacy]
    new.save(tmp_path / "new.keras")
    new.save_weights(tmp_path / "new.weights.h5")
    with h5py.File(tmp_path / "new.weights.h5") as file:
        for each, number in layer.in_order_of_keras_2():
            assert isinstance(file[f"{each.new}/vars/{number}"][()], (np.ndarray, np.generic))
        assert sum(len(file[each.new]["vars"]) for each in layer.everything() if each.own) == len(
            names
        )
