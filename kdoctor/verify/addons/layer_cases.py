"""What is asked of layers and cells of ``tensorflow_addons``, most of which are used less."""

from __future__ import annotations

import numpy as np

from kdoctor.verify.addons.layers import (
    Drawn,
    of_cell,
    of_esn_cell,
    of_inputs,
    of_network,
    of_noise,
)
from kdoctor.verify.addons.scenarios import Scenario, of_layer
from kdoctor.verify.addons.training import of_several_kinds

_FIRST = {"data_format": "channels_first"}
_QUERIES = (Drawn((2, 3, 4)), Drawn((2, 5, 6)), Drawn((2, 5, 7)))
_HEADS = {"head_size": 4, "num_heads": 3}
_PAIR = (Drawn((2, 4, 5, 2)), Drawn((2, 4, 5, 2)))
_FLOW = {"kernel_size": 3, "max_displacement": 2, "stride_1": 1, "stride_2": 1, "pad": 3}
_LAST = {"data_format": "channels_last"}
_ZERO = {"projection_dim": 2, "diag_scale": 0.5}
_MEAN = {"combiner": "mean"}
_LOOKS = np.array([[[1, 1, 0, 0, 1], [1] * 5, [0, 0, 0, 1, 0]], [[1] * 5] * 3], "float32")
_TLU = {"affine": True, "alpha_initializer": "ones"}

LAYERS: dict[str, Scenario] = {
    **dict.fromkeys(("AdaptiveAveragePooling1D", "AdaptiveMaxPooling1D"), of_layer(
        {"output_size": 3}, {"output_size": 2, **_FIRST}, shapes=((2, 6, 4),),
    )),
    **dict.fromkeys(("AdaptiveAveragePooling2D", "AdaptiveMaxPooling2D"), of_layer(
        {"output_size": 2}, {"output_size": (2, 3)}, {"output_size": (3, 2), **_FIRST},
        shapes=((2, 4, 6, 4),),
    )),
    **dict.fromkeys(("AdaptiveAveragePooling3D", "AdaptiveMaxPooling3D"), of_layer(
        {"output_size": 2}, {"output_size": (2, 3, 1)}, {"output_size": (3, 2, 2), **_FIRST},
        shapes=((2, 4, 6, 2, 4),),
    )),
    "SpatialPyramidPooling2D": of_layer(
        {"bins": [1, 2]}, {"bins": [(1, 3), 4]}, {"bins": [1, (2, 3)], **_FIRST},
        shapes=((2, 5, 7, 4), (1, 4, 6, 8)),
    ),
    "MaxUnpooling2D": of_inputs(
        {}, {"pool_size": 3, "padding": "VALID"}, {"strides": (2, 3)},
        inputs=((Drawn((2, 3, 2, 4)), Drawn((2, 3, 2, 4), 90)),), apart=True,
    ),
    "MaxUnpooling2DV2": of_inputs(
        {"output_size": (2, 5, 5, 4)},
        inputs=((Drawn((2, 3, 2, 4)), Drawn((2, 3, 2, 4), 99)),), apart=True,
    ),
    "FilterResponseNormalization": of_layer(
        {}, {"epsilon": 0.1}, {"learned_epsilon": True}, shapes=((2, 4, 3, 8), (1, 5, 5, 2))
    ),
    "PoincareNormalize": of_layer(
        {}, {"axis": -1, "epsilon": 0.1}, {"axis": [1, 2]}, {"axis": None},
        shapes=((2, 4, 3), (3, 5, 2)),
    ),
    "TLU": of_layer({}, _TLU, shapes=((3, 4), (2, 3, 2, 4))),
    "Snake": of_layer({}, {"frequency_initializer": "zeros"}, shapes=((3, 4), (2, 3, 2))),
    "Sparsemax": of_layer({}, {"axis": 1}, shapes=((3, 4), (2, 3, 2))),
    "NoisyDense": of_noise,
    "PolynomialCrossing": of_inputs(
        {}, _ZERO, {"use_bias": False, "diag_scale": 2.0},
        inputs=((Drawn((3, 5)), Drawn((3, 5))), (Drawn((2, 3, 4)), Drawn((2, 3, 4)))),
    ),
    "EmbeddingBag": of_several_kinds(
        of_inputs(
            {"input_dim": 7, "output_dim": 4}, {"input_dim": 9, "output_dim": 3, **_MEAN},
            inputs=((Drawn((3, 5), 7),),), apart=True,
        ),
        of_inputs(
            {"input_dim": 7, "output_dim": 4},
            inputs=((Drawn((3, 5), 7), Drawn((3, 5))),), apart=True,
        ),
    ),
    "MultiHeadAttention": of_several_kinds(
        of_inputs(
            _HEADS, {**_HEADS, "output_size": 2, "use_projection_bias": False},
            {**_HEADS, "return_attn_coef": True}, inputs=(_QUERIES, _QUERIES[:2]),
        ),
        of_inputs(_HEADS, inputs=(_QUERIES,), mask=_LOOKS),
        of_inputs(_HEADS, inputs=(_QUERIES,), mask=_LOOKS[0]),
    ),
    "CorrelationCost": of_inputs(
        {**_FLOW, **_LAST}, {**_FLOW, "kernel_size": 1, "pad": 2, "stride_2": 2, **_LAST},
        {**_FLOW, "max_displacement": 1, "pad": 1, **_LAST}, {**_FLOW, **_FIRST}, inputs=(_PAIR,),
    ),
    "NASCell": of_cell({"units": 4}, {"units": 3, "projection": 2, "use_bias": True}),
    "PeepholeLSTMCell": of_cell(
        {"units": 4}, {"units": 3, "use_bias": False, "activation": "relu"},
        {"units": 2, "recurrent_activation": "tanh", "unit_forget_bias": False},
    ),
    "LayerNormLSTMCell": of_cell(
        {"units": 4}, {"units": 3, "use_bias": False, "activation": "relu", "norm_epsilon": 0.1},
        {"units": 2, "recurrent_activation": "tanh"},
    ),
    "LayerNormSimpleRNNCell": of_cell(
        {"units": 4}, {"units": 3, "use_bias": False, "activation": "relu"},
        {"units": 2, "layernorm_epsilon": 0.1},
    ),
    "ESNCell": of_esn_cell(
        {"units": 4, "connectivity": 1.0},
        {"units": 4, "leaky": 0.5, "use_bias": False, "activation": "relu", "connectivity": 1.0},
    ),
    "ESN": of_network(
        {"units": 4, "connectivity": 1.0}, {"units": 3, "leaky": 0.3, "return_sequences": True,
        "go_backwards": True, "connectivity": 1.0},
    ),
}  # fmt: skip
"""By the name of the class."""
