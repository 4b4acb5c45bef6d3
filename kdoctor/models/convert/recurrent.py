"""Weights of `CuDNNLSTM` and `CuDNNGRU`, laid out as `LSTM` and `GRU` have them.

As ``_convert_rnn_weights`` of Keras 2 does it (``saving/legacy/hdf5_format.py``): the kernels of
each gate are transposed, and those of the input lie column by column there. The two biases of an
LSTM only ever come as their sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from kdoctor.models.hdf5 import Steps

CUDNN: Final = {"CuDNNLSTM": "LSTM", "CuDNNGRU": "GRU"}
# Arguments that mean something else for weights that lie otherwise.
OTHERWISE: Final = (
    *("kernel_constraint", "recurrent_constraint", "bias_constraint", "bias_regularizer"),
)
_GATES: Final = {"LSTM": 4, "GRU": 3}


def from_cudnn(units: int, cls: str) -> Callable[[Sequence[tuple[int, ...]]], Sequence[Steps]]:
    """Return what is done to the kernel, the recurrent kernel and the bias of such a layer."""
    gates = _GATES[cls]
    kernel: Steps = (
        ("reshape", [gates, units, -1]),
        ("transpose", [2, 0, 1]),
        ("reshape", [-1, gates * units]),
    )
    kernel = (("reshape", [-1, gates, units]), ("transpose", [1, 0, 2]), *kernel)
    recurrent: Steps = (
        ("reshape", [units, gates, units]),
        ("transpose", [2, 1, 0]),
        ("reshape", [units, gates * units]),
    )
    bias: Steps = (("reshape", [2, -1]),)
    if cls == "LSTM":
        bias = (*bias, ("sum", 0))
    return lambda _: (kernel, recurrent, bias)
