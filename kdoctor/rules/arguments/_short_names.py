"""Short names of losses, metrics and constraints that Keras 3 does not know, and today's."""

from __future__ import annotations

# What short names became. A metric's is also its name in the history.
LOSSES = {
    "logcosh": "log_cosh",
    "kullback_leibler_divergence": "kl_divergence",
    "huber_loss": "huber",
    "cosine_proximity": "cosine_similarity",
    "cosine": "cosine_similarity",  # up to Keras 2.2
}
METRICS = {
    "logcosh": "LogCoshError",
    "log_cosh": "LogCoshError",  # which is there, and is not found by its name
    "KLD": "kl_divergence",
    "kld": "kl_divergence",
    "kullback_leibler_divergence": "kl_divergence",
    "cosine_proximity": "cosine_similarity",
    "cosine": "cosine_similarity",  # up to Keras 2.2
}
# The metric that goes with the outputs, as `accuracy` is.
CROSSENTROPIES = frozenset({"ce", "CE", "crossentropy"})
# Metrics of Keras 1, of which Keras 2 knew nothing either.
OF_KERAS_1 = {
    "fmeasure": "keras.metrics.F1Score()",
    "fbeta_score": "keras.metrics.FBetaScore()",
}
CONSTRAINTS = {"maxnorm": "max_norm", "nonneg": "non_neg", "unitnorm": "unit_norm"}
# What makes zeros: the class takes its number by name, and a text gives it none.
CONSTANT = frozenset({"constant", "Constant"})
