"""What is asked of the rarer things of ``keras_contrib``; also run on Python 3.7."""

from __future__ import annotations

from typing import Any

from kdoctor.verify.contrib.rare import (
    convolution_aware,
    dead_relus,
    of_optimizer,
    snapshots,
)
from kdoctor.verify.contrib.scenarios import SCENARIOS as COMMON
from kdoctor.verify.contrib.scenarios import of_function, of_layer, of_network

_ADAM: Any = (
    {}, {"lr": 0.05, "beta_1": 0.8, "beta_2": 0.9}, {"decay": 0.1, "epsilon": 1e-3},
    {"clipnorm": 0.5}, {"clipvalue": 0.1},
)  # fmt: skip
_FTML = of_optimizer(*(case for case in _ADAM if "decay" not in case))  # it raises here
_LARS = of_optimizer(
    {"lr": 0.1}, {"lr": 0.05, "momentum": 0.5, "nesterov": True}, {"lr": 0.1, "clipnorm": 0.5},
    {"lr": 0.1, "weight_decay": 0.1, "eeta": 0.1, "epsilon": 0.1},
)  # fmt: skip
_COSINES = of_layer(
    {"filters": 4, "kernel_size": (2, 3)},
    {"filters": 2, "kernel_size": (3, 3), "padding": "same", "strides": (2, 2), "use_bias": False},
    {"filters": 2, "kernel_size": (2, 2), "activation": "tanh"},
    shapes=((5, 4, 3),),
)
_SMALL_NASNET: Any = {"penultimate_filters": 192, "nb_blocks": 1, "stem_filters": 8, "classes": 3}

SCENARIOS = {
    **COMMON,
    "FTML": _FTML,
    "ftml": _FTML,
    "LARS": _LARS,
    "lars": _LARS,
    "Padam": of_optimizer(*_ADAM, {"amsgrad": True}, {"partial": 0.25, "amsgrad": True}),
    "Yogi": of_optimizer(*_ADAM),
    "ConvolutionAware": convolution_aware,
    "DeadReluDetector": dead_relus,
    "SnapshotModelCheckpoint": snapshots,
    "SnapshotCallbackBuilder": snapshots,
    "clip": of_function({}, {"c": 0.5}),
    "PELU": of_layer(
        {}, {"shared_axes": [1]}, {"shared_axes": 1, "alpha_initializer": "zeros"},
        shapes=((8,), (5, 4)),
    ),
    "SReLU": of_layer(
        {}, {"shared_axes": [1]},
        {"t_left_initializer": "ones", "a_left_initializer": "zeros",
         "t_right_initializer": "ones", "a_right_initializer": "zeros"},
        shapes=((8,), (5, 4)),
    ),
    "CosineDense": of_layer(
        {"units": 4}, {"units": 2, "use_bias": False}, {"units": 3, "activation": "tanh"},
        shapes=((8,), (3, 5)),
    ),
    "CosineConvolution2D": _COSINES,
    "CosineConv2D": _COSINES,
    "Capsule": of_layer(
        {"num_capsule": 3, "dim_capsule": 4}, {"num_capsule": 2, "dim_capsule": 3, "routings": 1},
        {"num_capsule": 2, "dim_capsule": 3, "share_weights": False, "activation": "tanh"},
        shapes=((5, 4),),
    ),
    "DenseNet": of_network(
        ((), {"depth": 10, "pooling": "avg"}),
        (((32, 32, 3),), {"depth": 10, "bottleneck": True, "reduction": 0.5, "classes": 1,
                          "activation": "sigmoid", "pooling": "max", "growth_rate": 4}),
        (((32, 32, 3), 10, 2, 4, 6, [1, 2]), {"include_top": False, "dropout_rate": 0.0,
                                            "subsample_initial_block": True}),
        (((32, 32, 3), 10, 2, 4, 6, 1), {"include_top": False, "transition_pooling": "max"}),
    ),
    "DenseNetFCN": of_network(
        (((32, 32, 3), 2, 4, 2), {"classes": 3}),
        (((32, 32, 3), 2, 4, [2, 2, 3]), {"reduction": 0.5, "activation": "sigmoid",
                                      "upsampling_type": "upsampling", "early_transition": True}),
        (((32, 32, 3), 1, 4, 2), {"include_top": False, "transition_pooling": "avg",
                              "init_conv_filters": 8}),
        trained=False,
    ),
    "NASNet": of_network(
        (((64, 64, 3),), _SMALL_NASNET),
        (((64, 64, 3),), {**_SMALL_NASNET, "skip_reduction_layer_input": False, "nb_blocks": 2}),
        (((64, 64, 3),), {**_SMALL_NASNET, "initial_reduction": False, "pooling": "max",
                         "include_top": False, "filters_multiplier": 1}),
        size=64, trained=False,
    ),
}  # fmt: skip
"""By the name of the class or function."""
