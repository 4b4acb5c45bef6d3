"""Which of Keras' layers have weights, whatever they are made with, and lack them till built."""

from __future__ import annotations

from typing import Final

import libcst as cst

WITH_WEIGHTS: Final = frozenset({
    *("BatchNormalization", "Bidirectional", "Conv1D", "Conv1DTranspose", "Conv2D"),
    *("Conv2DTranspose", "Conv3D", "Conv3DTranspose", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"),
    *("Dense", "DepthwiseConv1D", "DepthwiseConv2D", "EinsumDense", "Embedding", "GRU", "GRUCell"),
    *("GroupQueryAttention", "LSTM", "LSTMCell", "MultiHeadAttention", "PReLU", "SeparableConv1D"),
    *("SeparableConv2D", "SimpleRNN", "SimpleRNNCell"),
})  # fmt: skip
"""Layers of Keras' own that have weights whatever they are made with, and lack them till built."""
UNLESS_TOLD: Final = frozenset({"GroupNormalization", "LayerNormalization"})
"""Layers that have weights unless they are made with ``center=False`` and ``scale=False``."""


def has_weights(cls: str | None, call: cst.Call) -> bool:
    """Say whether a layer of a class surely has weights, once it is built."""
    if cls not in UNLESS_TOLD:
        return cls in WITH_WEIGHTS
    given = [each.keyword and each.keyword.value for each in call.args if not each.star]
    return len(given) == len(call.args) and given.count(None) < 2 and "scale" not in given
