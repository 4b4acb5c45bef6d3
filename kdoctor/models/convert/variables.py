"""The variables that objects of Keras add themselves, by their classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

CELLS: Final = {
    "LSTM": "LSTMCell",
    "GRU": "GRUCell",
    "SimpleRNN": "SimpleRNNCell",
    **dict.fromkeys(("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"), "ConvLSTMCell"),
}
_KERNELS: Final = ("kernel", "bias")
_RECURRENT: Final = ("kernel", "recurrent_kernel", "bias")
# What each class adds, in this order; `tests/models/convert/test_saved.py` asks both Kerases.
VARIABLES: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("Dense", "EinsumDense", "Conv1D", "Conv2D", "Conv3D"), _KERNELS),
    **dict.fromkeys(("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"), _KERNELS),
    **dict.fromkeys(("DepthwiseConv1D", "DepthwiseConv2D"), ("depthwise_kernel", "bias")),
    **dict.fromkeys(
        ("SeparableConv1D", "SeparableConv2D"), ("depthwise_kernel", "pointwise_kernel", "bias")
    ),
    **dict.fromkeys(("SimpleRNNCell", "LSTMCell", "GRUCell", "ConvLSTMCell"), _RECURRENT),
    "Embedding": ("embeddings",),
    "PReLU": ("alpha",),
    "BatchNormalization": ("gamma", "beta", "moving_mean", "moving_variance"),
    **dict.fromkeys(("LayerNormalization", "GroupNormalization"), ("gamma", "beta")),
    "Normalization": ("mean", "variance", "count"),
    "Attention": ("scale", "concat_score_weight"),
    "AdditiveAttention": ("scale",),
    "SpectralNormalization": ("sn_u",),
}
# The argument without which a variable is not made.
_SWITCHES: Final = {
    "bias": "use_bias",
    "gamma": "scale",
    "beta": "center",
    "scale": "use_scale",
}


def own_variables(cls: str, config: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the names of the variables that an object adds itself; None where it is not known."""
    if cls in CELLS or cls in {"RNN", "Bidirectional", "StackedRNNCells", "TimeDistributed"}:
        return ()
    if cls == "MultiHeadAttention":
        return ()
    names = VARIABLES.get(cls)
    if names is None:
        return None
    if cls == "Normalization" and config.get("mean") is not None:
        return ()
    if cls == "Attention" and config.get("score_mode", "dot") != "concat":
        names = names[:1]
    if cls == "EinsumDense" and "equation" in config:
        return names if config.get("bias_axes") is not None else names[:1]
    return tuple(
        name
        for name in names
        if config.get(_SWITCHES.get(name, ""), name != "scale" or cls != "Attention") is not False
    )
