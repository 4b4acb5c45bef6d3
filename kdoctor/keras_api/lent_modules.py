"""Modules of Keras that TensorFlow 2 lends: `tf.losses` is `tf.keras.losses`.

Each with what TensorFlow 1 had under that name. Generated, do not edit: ``python -m
tools.tensorflow_names lent`` asks TensorFlow.
"""

from __future__ import annotations

from typing import Final

LENT: Final[dict[str, frozenset[str]]] = {
    "initializers": frozenset(
        [
            "constant",
            "global_variables",
            "glorot_normal",
            "glorot_uniform",
            "he_normal",
            "he_uniform",
            "identity",
            "lecun_normal",
            "lecun_uniform",
            "local_variables",
            "ones",
            "orthogonal",
            "random_normal",
            "random_uniform",
            "tables_initializer",
            "truncated_normal",
            "uniform_unit_scaling",
            "variables",
            "variance_scaling",
            "zeros",
        ]
    ),
    "losses": frozenset(
        [
            "Reduction",
            "absolute_difference",
            "add_loss",
            "compute_weighted_loss",
            "cosine_distance",
            "get_losses",
            "get_regularization_loss",
            "get_regularization_losses",
            "get_total_loss",
            "hinge_loss",
            "huber_loss",
            "log_loss",
            "mean_pairwise_squared_error",
            "mean_squared_error",
            "sigmoid_cross_entropy",
            "softmax_cross_entropy",
            "sparse_softmax_cross_entropy",
        ]
    ),
    "metrics": frozenset(
        [
            "accuracy",
            "auc",
            "average_precision_at_k",
            "false_negatives",
            "false_negatives_at_thresholds",
            "false_positives",
            "false_positives_at_thresholds",
            "mean",
            "mean_absolute_error",
            "mean_cosine_distance",
            "mean_iou",
            "mean_per_class_accuracy",
            "mean_relative_error",
            "mean_squared_error",
            "mean_tensor",
            "percentage_below",
            "precision",
            "precision_at_k",
            "precision_at_thresholds",
            "precision_at_top_k",
            "recall",
            "recall_at_k",
            "recall_at_thresholds",
            "recall_at_top_k",
            "root_mean_squared_error",
            "sensitivity_at_specificity",
            "sparse_average_precision_at_k",
            "sparse_precision_at_k",
            "specificity_at_sensitivity",
            "true_negatives",
            "true_negatives_at_thresholds",
            "true_positives",
            "true_positives_at_thresholds",
        ]
    ),
    "optimizers": frozenset(),
}
