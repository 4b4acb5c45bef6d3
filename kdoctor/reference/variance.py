"""Losses that punish spread: a mean is not all that matters of a batch's errors.

With the errors e = y_true − y_pred of a batch and a loss lᵢ for each of its n samples:

    variance_regularized      mean(e²) + λ var(e)
    sample_variance_penalty   mean(l) + λ √(V(l) / n),   V(l) = Σ (lᵢ − mean l)² / (n − 1)

The second is sample variance penalisation, Maurer and Pontil 2009, arXiv:0907.3740, equation 3.
Both look at a batch as a whole: they are no mean of something per sample, and their value depends
on the batch size.
"""

import keras
from keras import ops


def variance_regularized(y_true, y_pred, factor=0.1):
    """Return mean(e²) + ``factor`` · var(e), a scalar, over all axes of shape (batch, …)."""
    y_pred = ops.convert_to_tensor(y_pred)
    error = ops.cast(y_true, y_pred.dtype) - y_pred
    return ops.mean(ops.square(error)) + factor * ops.var(error)


def sample_variance_penalty(losses, factor=0.1):
    """Return mean(l) + ``factor`` · √(V(l) / n), a scalar, of losses of shape (n,), n ≥ 2."""
    losses = ops.convert_to_tensor(losses)
    n = ops.cast(ops.size(losses), losses.dtype)
    mean = ops.mean(losses)
    spread = ops.sum(ops.square(losses - mean)) / (n - 1.0) / n
    # The square root has an infinite slope at 0, where all losses are equal.
    root = ops.sqrt(ops.maximum(spread, keras.backend.epsilon() ** 2))
    return mean + factor * root


@keras.saving.register_keras_serializable(package="reference")
class VarianceRegularizedLoss(keras.losses.Loss):
    """`variance_regularized`. A scalar: ``sample_weight`` scales it as a whole."""

    def __init__(self, factor=0.1, name="variance_regularized", **kwargs):
        super().__init__(name=name, **kwargs)
        self.factor = factor

    def call(self, y_true, y_pred):
        """Return a scalar."""
        return variance_regularized(y_true, y_pred, self.factor)

    def get_config(self):
        """Return what makes the same loss again."""
        return {**super().get_config(), "factor": self.factor}


@keras.saving.register_keras_serializable(package="reference")
class SampleVariancePenalizedLoss(keras.losses.Loss):
    """`sample_variance_penalty` over the losses that another loss gives.

    Args:
        loss: a function of ``y_true`` and ``y_pred`` that returns one loss a sample, or its name.
        factor: λ ≥ 0.
        name: as of every loss.
    """

    def __init__(
        self, loss="mean_squared_error", factor=0.1, name="sample_variance_penalized", **kwargs
    ):
        super().__init__(name=name, **kwargs)
        self.loss = keras.losses.get(loss)
        self.factor = factor

    def call(self, y_true, y_pred):
        """Return a scalar."""
        return sample_variance_penalty(self.loss(y_true, y_pred), self.factor)

    def get_config(self):
        """Return what makes the same loss again."""
        loss = keras.losses.serialize(self.loss)
        return {**super().get_config(), "loss": loss, "factor": self.factor}


@keras.saving.register_keras_serializable(package="reference")
class ErrorVariance(keras.metrics.Metric):
    """var(y_true − y_pred) over all that was seen, whatever the batches.

    Sums of squares lose all digits where the mean is large; the batches' own means and squared
    deviations are joined instead (Chan, Golub and LeVeque 1979, equation 1.5).
    """

    def __init__(self, name="error_variance", dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.count = self.add_variable((), initializer="zeros", name="count")
        self.mean = self.add_variable((), initializer="zeros", name="mean")
        self.deviations = self.add_variable((), initializer="zeros", name="deviations")

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Add a batch of any shape.

        Raises:
            ValueError: ``sample_weight`` is given: a weighted variance has several definitions.
        """
        if sample_weight is not None:
            raise ValueError("ErrorVariance takes no sample_weight.")
        error = ops.cast(y_true, self.dtype) - ops.cast(y_pred, self.dtype)
        count = ops.cast(ops.size(error), self.dtype)
        mean = ops.mean(error)
        apart = mean - self.mean
        total = self.count + count
        squares = ops.sum(ops.square(error - mean))
        self.deviations.assign_add(squares + ops.square(apart) * self.count * count / total)
        self.mean.assign_add(apart * count / total)
        self.count.assign(total)

    def result(self):
        """Return the variance, the mean of squared deviations."""
        return ops.divide_no_nan(self.deviations, self.count)
