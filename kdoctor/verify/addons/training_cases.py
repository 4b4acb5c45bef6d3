"""What is asked of losses, metrics, optimizers, callbacks and types that are used less."""

from __future__ import annotations

from typing import Any

from kdoctor.verify.addons.scenarios import Scenario, of_loss, of_optimizer
from kdoctor.verify.addons.training import (
    of_bar,
    of_correlation,
    of_dense_optimizer,
    of_distance,
    of_hamming,
    of_own_average,
    of_own_decay,
    of_pairs,
    of_several,
    of_several_kinds,
    of_slopes,
    of_sparse_probabilities,
    of_stopping,
    of_type,
    of_values,
    of_wrapped,
)

_Cases = tuple[dict[str, Any], ...]
_MARGINS: _Cases = ({}, {"margin": 0.3})
_TABLES: _Cases = (
    {},
    {"actual_min": -0.5, "actual_max": 1.5, "actual_cutpoints": 7, "preds_cutpoints": 12},
)
_TYPES = (
    *("Number", "Initializer", "Regularizer", "Constraint", "Activation", "Optimizer"),
    *("TensorLike", "FloatTensorLike", "AcceptableDTypes"),
)

TRAINING: dict[str, Scenario] = {
    "rrelu": of_slopes,
    "lifted_struct_loss": of_loss("ids", *_MARGINS),
    "LiftedStructLoss": of_loss("ids", *_MARGINS),
    "npairs_loss": of_pairs("ids", {}),
    "NpairsLoss": of_pairs("ids", {}, {"name": "mine"}),
    "npairs_multilabel_loss": of_pairs("sets", {}),
    "NpairsMultilabelLoss": of_pairs("sets", {}, {"name": "mine"}),
    "sparsemax_loss": of_sparse_probabilities,
    "SparsemaxLoss": of_sparse_probabilities,
    "GeometricMean": of_values({}, {"name": "mine"}),
    "HarmonicMean": of_values({}, {"name": "mine"}),
    "MeanMetricWrapper": of_wrapped,
    "hamming_distance": of_distance,
    "hamming_loss_fn": of_hamming,
    "KendallsTauB": of_correlation(*_TABLES),
    "KendallsTauC": of_correlation(*_TABLES),
    "SpearmansRank": of_correlation(*_TABLES),
    "PearsonsCorrelation": of_correlation(*_TABLES),
    "AdaBelief": of_optimizer(
        {}, {"learning_rate": 0.05, "weight_decay": 0.02, "amsgrad": True},
        {"total_steps": 15, "warmup_proportion": 0.3, "min_lr": 1e-4, "learning_rate": 0.05},
        {"learning_rate": "falls", "weight_decay": "falls late", "sma_threshold": 4.0},
        {"rectify": False, "epsilon": 1e-7},
    ),
    "NovoGrad": of_several_kinds(
        of_optimizer(
            {}, {"learning_rate": 0.05, "weight_decay": 0.02}, {"grad_averaging": True},
            {"learning_rate": "falls", "beta_1": 0.5, "beta_2": 0.7}, again=False,
        ),
        of_dense_optimizer({"amsgrad": True, "learning_rate": 0.05}, again=False),
    ),
    "COCOB": of_dense_optimizer({}, {"alpha": 2}),
    "ConditionalGradient": of_optimizer(
        {"learning_rate": 0.95}, {"learning_rate": 0.9, "lambda_": 2.0},
        {"learning_rate": 0.9, "lambda_": 0.5, "ord": "nuclear"},
    ),
    "ProximalAdagrad": of_optimizer(
        {}, {"learning_rate": 0.1, "l1_regularization_strength": 0.01},
        {"learning_rate": "falls", "l2_regularization_strength": 0.1},
        {"initial_accumulator_value": 0.5, "l1_regularization_strength": 0.1,
         "l2_regularization_strength": 0.05},
        again=False,
    ),
    "MultiOptimizer": of_several,
    "AveragedOptimizerWrapper": of_own_average,
    "DecoupledWeightDecayExtension": of_own_decay,
    "extend_with_decoupled_weight_decay": of_own_decay,
    "TimeStopping": of_stopping,
    "TQDMProgressBar": of_bar,
    **dict.fromkeys(_TYPES, of_type),
}  # fmt: skip
"""By the name of the class or function."""
