"""Focal loss: cross-entropy that leaves the easy examples alone.

With p the probability given to what is true (Lin et al. 2017, arXiv:1708.02002, equation 5):

    FL(p) = −α (1 − p)^γ log p

γ = 0 and α = 1 is cross-entropy. log p is taken from logits, where that is exact at any size;
from probabilities it needs a bound, and the gradient outside of it is 0.
"""

import keras
from keras import ops


def binary_focal(y_true, y_pred, alpha=0.25, gamma=2.0, from_logits=False):
    """Return the focal loss of independent classes, the mean over the last axis.

    Args:
        y_true: 0 or 1, shape (batch, …, classes).
        y_pred: logits or probabilities of the same shape.
        alpha: the weight of the ones; zeros weigh 1 − ``alpha``. None: no weights.
        gamma: γ ≥ 0.
        from_logits: whether ``y_pred`` are logits.
    """
    y_pred = ops.convert_to_tensor(y_pred)
    y_true = ops.cast(y_true, y_pred.dtype)
    if from_logits:
        log_one, log_zero = -ops.softplus(-y_pred), -ops.softplus(y_pred)
    else:
        bound = keras.backend.epsilon()
        y_pred = ops.clip(y_pred, bound, 1.0 - bound)
        log_one, log_zero = ops.log(y_pred), ops.log(1.0 - y_pred)
    ones = y_true * _focused(log_one, gamma)
    zeros = (1.0 - y_true) * _focused(log_zero, gamma)
    if alpha is not None:
        ones, zeros = alpha * ones, (1.0 - alpha) * zeros
    return ops.mean(ones + zeros, axis=-1)


def categorical_focal(y_true, y_pred, alpha=0.25, gamma=2.0, from_logits=False):
    """Return the focal loss of exclusive classes: from shape (batch, …, classes) to (batch, …).

    Args:
        y_true: one-hot.
        y_pred: logits, or probabilities that add up to 1.
        alpha: a number, or one weight a class, shape (classes,).
        gamma: γ ≥ 0.
        from_logits: whether ``y_pred`` are logits.
    """
    y_pred = ops.convert_to_tensor(y_pred)
    y_true = ops.cast(y_true, y_pred.dtype)
    if from_logits:
        logs = ops.log_softmax(y_pred, axis=-1)
    else:
        bound = keras.backend.epsilon()
        logs = ops.log(ops.clip(y_pred, bound, 1.0 - bound))
    weights = ops.cast(alpha, y_pred.dtype)
    return ops.sum(weights * y_true * _focused(logs, gamma), axis=-1)


def _focused(log_p, gamma):
    """Return −(1 − p)^γ log p, with 1 − p exact where p is next to 1."""
    return -ops.power(-ops.expm1(log_p), gamma) * log_p


@keras.saving.register_keras_serializable(package="reference")
class BinaryFocalLoss(keras.losses.Loss):
    """`binary_focal`, reduced over the batch."""

    function = staticmethod(binary_focal)

    def __init__(
        self,
        alpha=0.25,
        gamma=2.0,
        from_logits=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.alpha = alpha
        self.gamma = gamma
        self.from_logits = from_logits

    def call(self, y_true, y_pred):
        """Return one loss a sample."""
        return self.function(y_true, y_pred, self.alpha, self.gamma, self.from_logits)

    def get_config(self):
        """Return what makes the same loss again."""
        given = {"alpha": self.alpha, "gamma": self.gamma, "from_logits": self.from_logits}
        return {**super().get_config(), **given}


@keras.saving.register_keras_serializable(package="reference")
class CategoricalFocalLoss(BinaryFocalLoss):
    """`categorical_focal`, reduced over the batch."""

    function = staticmethod(categorical_focal)


@keras.saving.register_keras_serializable(package="reference")
class BinaryFocalError(keras.metrics.MeanMetricWrapper):
    """The mean of `binary_focal` over all samples that were seen."""

    function = staticmethod(binary_focal)

    def __init__(
        self,
        alpha=0.25,
        gamma=2.0,
        from_logits=False,
        name=None,
        dtype=None,
    ):
        given = {"alpha": alpha, "gamma": gamma, "from_logits": from_logits}
        super().__init__(self.function, name=name, dtype=dtype, **given)
        self.given = given

    def get_config(self):
        """Return what makes the same metric again."""
        return {"name": self.name, "dtype": self.dtype, **self.given}


@keras.saving.register_keras_serializable(package="reference")
class CategoricalFocalError(BinaryFocalError):
    """The mean of `categorical_focal` over all samples that were seen."""

    function = staticmethod(categorical_focal)
