"""Huber's loss: a square for small errors, a line for large ones.

With e = y_true − y_pred (Huber 1964, doi:10.1214/aoms/1177703732):

    huber(e) = ½ e²               where |e| ≤ δ
               δ (|e| − ½ δ)      elsewhere

`where` computes both branches, and both are finite for finite errors, so no gradient is NaN.
"""

import keras
from keras import ops


def huber(y_true, y_pred, delta=1.0):
    """Return the mean over the last axis: from shape (batch, …, d) to (batch, …).

    Args:
        y_true: the truth, of the shape of ``y_pred``.
        y_pred: the prediction, a float.
        delta: δ > 0, where the square becomes a line, in units of ``y_true``.
    """
    y_pred = ops.convert_to_tensor(y_pred)
    error = ops.cast(y_true, y_pred.dtype) - y_pred
    size = ops.abs(error)
    square = 0.5 * ops.square(error)
    line = delta * (size - 0.5 * delta)
    return ops.mean(ops.where(size <= delta, square, line), axis=-1)


@keras.saving.register_keras_serializable(package="reference")
class HuberLoss(keras.losses.Loss):
    """`huber`, reduced over the batch."""

    def __init__(self, delta=1.0, reduction="sum_over_batch_size", name="huber_loss", dtype=None):
        super().__init__(name=name, reduction=reduction, dtype=dtype)
        self.delta = delta

    def call(self, y_true, y_pred):
        """Return one loss a sample."""
        return huber(y_true, y_pred, self.delta)

    def get_config(self):
        """Return what makes the same loss again."""
        return {**super().get_config(), "delta": self.delta}


@keras.saving.register_keras_serializable(package="reference")
class HuberError(keras.metrics.MeanMetricWrapper):
    """The mean of `huber` over all samples that were seen."""

    def __init__(self, delta=1.0, name="huber_error", dtype=None):
        super().__init__(huber, name=name, dtype=dtype, delta=delta)
        self.delta = delta

    def get_config(self):
        """Return what makes the same metric again."""
        return {"name": self.name, "dtype": self.dtype, "delta": self.delta}
