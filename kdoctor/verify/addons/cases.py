"""What is asked of each class and function of ``tensorflow_addons``."""

from __future__ import annotations

from typing import Any

from kdoctor.verify.addons.attention import (
    of_attention,
    of_base_attention,
    of_state,
    of_wrapper,
)
from kdoctor.verify.addons.beams import BEAMS
from kdoctor.verify.addons.layer_cases import LAYERS
from kdoctor.verify.addons.scenarios import (
    Scenario,
    of_batches,
    of_function,
    of_images,
    of_layer,
    of_loss,
    of_metric,
    of_numbers,
    of_optimizer,
    of_schedule,
    residuals_at_random,
)
from kdoctor.verify.addons.sequences import (
    of_base_decoder,
    of_base_sampler,
    of_custom_sampler,
    of_decoder,
    of_decoding,
    of_largest,
    of_output,
    of_sampler,
    of_sequence_loss,
    of_tiles,
)
from kdoctor.verify.addons.text import TEXT
from kdoctor.verify.addons.training_cases import TRAINING
from kdoctor.verify.addons.warps import IMAGES

_Cases = tuple[dict[str, Any], ...]
_REDUCED: _Cases = (
    {},
    {"reduction": "sum"},
    {"reduction": "sum_over_batch_size"},
    {"reduction": "none"},
)
_FOCAL: _Cases = (
    {},
    {"from_logits": True},
    {"alpha": 0.5, "gamma": 1.0},
    {"alpha": None, "gamma": 0.0},
)
_TRIPLETS: _Cases = (
    {},
    {"margin": 0.2},
    {"distance_metric": "squared-L2"},
    {"distance_metric": "angular"},
)
_CYCLE = {"initial_learning_rate": 0.01, "maximal_learning_rate": 0.1, "step_size": 3}
_CYCLES = (_CYCLE, {**_CYCLE, "scale_mode": "iterations"}, {**_CYCLE, "step_size": 2.5})
_NORMS = ((4, 8), (2, 5, 8), (2, 4, 3, 8))
_ANGLES = ({"angles": 0.5}, {"angles": 1.0, "interpolation": "bilinear"})
_MOVES = ({"translations": [1.0, 2.0]}, {"translations": [-1.5, 0.5], "interpolation": "BILINEAR"})
_TURN = [0.8, -0.6, 1.0, 0.6, 0.8, -1.0, 0.0, 0.0]
_FILLED = {"fill_mode": "reflect"}
_SET = {"fill_value": 7.0}
_PADDED = [[True, True, True, False], [True] * 4, [True, False, False, False]]
_TABLE = [[float(row * column - 3) for column in range(5)] for row in range(6)]
_TOKENS = {"start_tokens": [1, 2, 3], "end_token": 0}

SCENARIOS: dict[str, Scenario] = {
    "gelu": of_function({}, {"approximate": False}),
    "hardshrink": of_function({}, {"lower": -1.0, "upper": 0.2}, first=(0.5, -0.5)),
    "lisht": of_function({}),
    "mish": of_function({}, first=(30.0, -30.0)),
    "snake": of_function({}, {"frequency": 3.0}),
    "softshrink": of_function({}, {"lower": -1.0, "upper": 0.2}, first=(0.5, -0.5)),
    "sparsemax": of_function({}, {"axis": 0}, {"axis": 1}),
    "tanhshrink": of_function({}),
    "sigmoid_focal_crossentropy": of_loss("bits", *_FOCAL),
    "SigmoidFocalCrossEntropy": of_loss("bits", *_FOCAL, *_REDUCED),
    "triplet_semihard_loss": of_loss("ids", *_TRIPLETS),
    "TripletSemiHardLoss": of_loss("ids", *_TRIPLETS),
    "triplet_hard_loss": of_loss("ids", *_TRIPLETS, {"soft": True}),
    "TripletHardLoss": of_loss("ids", *_TRIPLETS, {"soft": True}),
    "contrastive_loss": of_loss("bits", {}, {"margin": 0.3}),
    "ContrastiveLoss": of_loss("bits", {}, {"margin": 0.3}, *_REDUCED),
    "giou_loss": of_loss("boxes", {}, {"mode": "iou"}),
    "GIoULoss": of_loss("boxes", {}, {"mode": "iou"}, *_REDUCED),
    "pinball_loss": of_loss("floats", {}, {"tau": 0.1}),
    "PinballLoss": of_loss("floats", {}, {"tau": 0.1}, *_REDUCED),
    "WeightedKappaLoss": of_loss(
        "one hot", {}, {"weightage": "linear"}, {"epsilon": 1e-3}, size="num_classes"
    ),
    "CohenKappa": of_metric(
        "one hot", {}, {"weightage": "linear"}, {"weightage": "quadratic"}, {"weighted": True},
        size="num_classes",
    ),
    "MatthewsCorrelationCoefficient": of_metric(
        "one hot", {}, {"weighted": True}, size="num_classes"
    ),
    "MultiLabelConfusionMatrix": of_metric(
        "bits", {"rounded": True}, {"rounded": True, "name": "counts"}, size="num_classes"
    ),
    "HammingLoss": of_metric(
        "bits", {"mode": "multilabel", "threshold": 0.5}, {"mode": "multiclass"},
        {"mode": "multiclass", "threshold": 0.8},
    ),
    "F1Score": of_metric(
        "one hot", {}, {"average": "macro"}, {"average": "micro"}, {"average": "weighted"},
        {"threshold": 0.3, "weighted": True}, size="num_classes",
    ),
    "FBetaScore": of_metric(
        "one hot", {}, {"average": "macro", "beta": 2.0}, {"average": "micro", "beta": 0.5},
        {"average": "weighted", "threshold": 0.3, "weighted": True}, size="num_classes",
    ),
    "RSquare": of_metric(
        "floats", {}, {"num_regressors": 2}, {"multioutput": "uniform_average", "name": "r2"},
    ),
    "AdamW": of_optimizer(
        {"weight_decay": 0.01}, {"weight_decay": 0.02, "learning_rate": 0.05, "amsgrad": True},
        {"weight_decay": "falls", "learning_rate": "falls late"},
        {"weight_decay": "called", "clipnorm": 0.5},
        {"weight_decay": 0.05, "exclude_from_weight_decay": ["bias", "last"]},
    ),
    "SGDW": of_optimizer(
        {"weight_decay": 0.01}, {"weight_decay": 0.02, "learning_rate": 0.05, "momentum": 0.9},
        {"weight_decay": "falls", "learning_rate": "falls late", "momentum": 0.5, "nesterov": True},
        {"weight_decay": 0.05, "exclude_from_weight_decay": ["bias"], "clipvalue": 0.1},
    ),
    "LazyAdam": of_optimizer({}, {"learning_rate": 0.05, "beta_1": 0.8}, {"clipnorm": 0.5}),
    "RectifiedAdam": of_optimizer(
        {}, {"learning_rate": 0.05, "weight_decay": 0.02, "amsgrad": True},
        {"total_steps": 15, "warmup_proportion": 0.3, "min_lr": 1e-4, "learning_rate": 0.05},
        {"learning_rate": "falls", "weight_decay": "falls late", "sma_threshold": 4.0},
    ),
    "LAMB": of_optimizer(
        {}, {"learning_rate": 0.05, "weight_decay": 0.02},
        {"weight_decay": 0.05, "exclude_from_weight_decay": ["bias"], "learning_rate": "falls"},
        {"weight_decay": 0.05, "exclude_from_layer_adaptation": ["last"]},
    ),
    "Lookahead": of_optimizer(
        {}, {"sync_period": 3, "slow_step_size": 0.8}, inner=("Adam", "Adagrad", "falls")
    ),
    "MovingAverage": of_optimizer(
        {}, {"average_decay": 0.5, "start_step": 3}, {"dynamic_decay": True}, {"num_updates": 5},
        inner=("Adam", "Adagrad", "falls"),
    ),
    "SWA": of_optimizer(
        {}, {"start_averaging": 2, "average_period": 3}, inner=("Adam", "Adagrad", "falls")
    ),
    "Yogi": of_optimizer(
        {}, {"learning_rate": 0.05, "beta1": 0.8, "activation": "tanh"},
        {"l1_regularization_strength": 0.01, "l2_regularization_strength": 0.02},
        {"l2_regularization_strength": 0.1, "learning_rate": "falls", "beta1": 0.0},
        {"initial_accumulator_value": 1e-3, "beta2": 0.9, "epsilon": 1e-2},
    ),
    "CyclicalLearningRate": of_schedule(*({**each, "own": True} for each in _CYCLES)),
    "TriangularCyclicalLearningRate": of_schedule(*_CYCLES),
    "Triangular2CyclicalLearningRate": of_schedule(*_CYCLES),
    "ExponentialCyclicalLearningRate": of_schedule(_CYCLE, {**_CYCLE, "gamma": 0.9}),
    "GELU": of_layer({}, {"approximate": False}, shapes=((4, 8),)),
    "Maxout": of_layer({"num_units": 4}, {"num_units": 2, "axis": -1}, shapes=_NORMS),
    "StochasticDepth": residuals_at_random,
    "GroupNormalization": of_layer(
        {"groups": 4}, {"groups": 2, "epsilon": 0.1}, {"groups": 2, "center": False},
        {"groups": 8, "scale": False}, shapes=_NORMS,
    ),
    "InstanceNormalization": of_layer(
        {}, {"epsilon": 1e-5}, {"center": False, "scale": False}, {"axis": -1}, shapes=_NORMS
    ),
    "SpectralNormalization": of_layer(
        {}, {"power_iterations": 3}, shapes=((4, 8), (2, 4, 3, 8)), wraps=True
    ),
    "WeightNormalization": of_layer(
        {"data_init": False}, {}, shapes=((4, 8), (2, 4, 3, 8)), wraps=True
    ),
    "transform": of_images(
        {"transforms": _TURN}, {"transforms": [_TURN], "interpolation": "bilinear", **_SET},
        {"transforms": _TURN, "output_shape": [3, 4]},
    ),
    "rotate": of_images(*_ANGLES, {"angles": -2.0, **_FILLED}, {"angles": 0.3, **_SET}),
    "translate": of_images(*_MOVES, {"translations": [2.0, 1.0], **_FILLED}),
    "cutout": of_batches(
        {"mask_size": 4}, {"mask_size": (2, 4), "offset": (3, 2), "constant_values": 7},
        {"mask_size": 2, "offset": ((1, 1), (7, 5), (4, 0))}, {"mask_size": 20, "offset": (4, 3)},
    ),
    "angles_to_projective_transforms": of_numbers((0.5, 4.0, 5.0), ([0.1, 2.0], 7.0, 6.0)),
    "translations_to_projective_transforms": of_numbers(
        ([1.0, 2.0],), ([[1.0, 2.0], [3.0, 4.0]],)
    ),
    "compose_transforms": of_numbers(([_TURN, _TURN],), ([[_TURN], [_TURN], [_TURN]],)),
    "gaussian_filter2d": of_images(
        {}, {"filter_shape": 5, "sigma": 2.0, "padding": "SYMMETRIC"},
        {"filter_shape": (3, 2), "sigma": (1.0, 0.5), "padding": "CONSTANT", "constant_values": 3},
    ),
    "TrainingSampler": of_sampler(
        ({}, {}), ({"time_major": True}, {}), ({}, {"sequence_length": [2, 3, 0]}),
        ({}, {"mask": _PADDED}), ({}, {"sequence_length": [0, 0, 0]}),
    ),
    "ScheduledEmbeddingTrainingSampler": of_sampler(
        ({"sampling_probability": 0.0, "embedded": True}, {}),
        ({"sampling_probability": 1.0, "embedded": True}, {"sequence_length": [2, 3, 1]}),
        ({"sampling_probability": 1.0}, {"embedding": _TABLE}),
        peak=1e4,
    ),
    "ScheduledOutputTrainingSampler": of_sampler(
        ({"sampling_probability": 0.0}, {}), ({"sampling_probability": 1.0}, {}),
        ({"sampling_probability": 1.0, "next_inputs_fn": lambda found: found * 2}, {}),
    ),
    "GreedyEmbeddingSampler": of_sampler(
        ({"embedded": True}, _TOKENS), ({}, {**_TOKENS, "end_token": 4}), reads=False
    ),
    "SampleEmbeddingSampler": of_sampler(
        ({"embedded": True, "softmax_temperature": 1e-4}, _TOKENS),
        ({"softmax_temperature": 1e-4}, {**_TOKENS, "end_token": 4}), reads=False,
    ),
    "CustomSampler": of_custom_sampler,
    "InferenceSampler": of_custom_sampler,
    "BasicDecoder": of_decoder,
    "BasicDecoderOutput": of_output,
    "dynamic_decode": of_decoding,
    "Decoder": of_decoding,
    "BaseDecoder": of_base_decoder,
    "Sampler": of_base_sampler,
    "AttentionMechanism": of_base_attention,
    "LuongAttention": of_attention({}, {"scale": True}, {"probability_fn": "hardmax"}),
    "BahdanauAttention": of_attention({}, {"normalize": True}, {"probability_fn": "hardmax"}),
    "AttentionWrapper": of_wrapper,
    "AttentionWrapperState": of_state,
    "hardmax": of_largest,
    "sequence_loss": of_sequence_loss,
    "SequenceLoss": of_sequence_loss,
    "tile_batch": of_tiles,
    **LAYERS,
    **TRAINING,
    **TEXT,
    **BEAMS,
    **IMAGES,
}  # fmt: skip
"""By the name of the class or function."""
