"""Dice, Jaccard (IoU) and Tversky: how far a predicted segmentation covers the true one.

With the sums over an axis of the truth T and of the prediction P, both in [0, 1]:

    dice(T, P)    = (2 ΣTP + s) / (ΣT + ΣP + s)                       Dice 1945; Milletari 2016
    jaccard(T, P) = (ΣTP + s) / (ΣT + ΣP − ΣTP + s)                   Jaccard 1912; Rahman 2016
    tversky(T, P) = (ΣTP + s) / (ΣTP + α Σ(1−T)P + β ΣT(1−P) + s)     Salehi 2017, arXiv:1706.05721

α weighs false positives, β false negatives. (``keras.losses.Tversky`` of Keras 3.15 says the same
in its documentation and computes it the other way round.) Without smoothing, α = β = ½ is Dice and
α = β = 1 is Jaccard.

``axis`` says what is summed, for inputs of shape (batch, height, width, classes):

    None         everything: one number, the big objects and classes decide
    (1, 2)       each image and class apart: (batch, classes)
    (0, 1, 2)    each class over the whole batch: (classes,)

``smooth`` is a number > 0 (1.0 is customary): it makes two empty masks overlap wholly and keeps
the gradient finite. It is added to sums of pixels, so it weighs more where little is summed.
"""

import keras
from keras import ops


def dice(y_true, y_pred, axis=None, smooth=1.0):
    """Return the Dice coefficient, in (0, 1], with the axes that are not summed.

    Args:
        y_true: the truth in [0, 1], of any dtype; the shape of ``y_pred``.
        y_pred: the prediction in [0, 1].
        axis: the axis or axes that are summed; None for all.
        smooth: added above and below.
    """
    both, true, predicted = _sums(y_true, y_pred, axis)
    return (2.0 * both + smooth) / (true + predicted + smooth)


def jaccard(y_true, y_pred, axis=None, smooth=1.0):
    """Return the Jaccard index (intersection over union), in (0, 1]. Arguments as of `dice`."""
    both, true, predicted = _sums(y_true, y_pred, axis)
    return (both + smooth) / (true + predicted - both + smooth)


def tversky(y_true, y_pred, alpha=0.3, beta=0.7, axis=None, smooth=1.0):
    """Return the Tversky index, in (0, 1]: ``alpha`` weighs what was found and is not there."""
    both, true, predicted = _sums(y_true, y_pred, axis)
    false_positives = predicted - both
    false_negatives = true - both
    return (both + smooth) / (both + alpha * false_positives + beta * false_negatives + smooth)


def _sums(y_true, y_pred, axis):
    """Return ΣTP, ΣT and ΣP in at least float32: in float16 a sum of 65,505 pixels is infinite."""
    y_true, y_pred = ops.convert_to_tensor(y_true), ops.convert_to_tensor(y_pred)
    dtype = keras.backend.result_type(y_pred.dtype, "float32")
    y_true, y_pred = ops.cast(y_true, dtype), ops.cast(y_pred, dtype)
    both = ops.sum(y_true * y_pred, axis=axis)
    return both, ops.sum(y_true, axis=axis), ops.sum(y_pred, axis=axis)


class _OverlapLoss(keras.losses.Loss):
    """One minus an overlap: a mean over classes, then Keras' own reduction over samples."""

    def __init__(
        self, axis=None, smooth=1.0, reduction="sum_over_batch_size", name=None, dtype=None
    ):
        super().__init__(name=name, reduction=reduction, dtype=dtype)
        self.axis = axis if axis is None or isinstance(axis, int) else tuple(axis)
        self.smooth = smooth

    def overlap(self, y_true, y_pred):
        """Return the coefficient with the axes that are not summed."""
        raise NotImplementedError

    def call(self, y_true, y_pred):
        """Return a scalar, or, where the batch is not summed, one loss a sample."""
        losses = 1.0 - self.overlap(y_true, y_pred)
        return ops.mean(losses, axis=-1) if len(losses.shape) > 1 else losses

    def get_config(self):
        """Return what makes the same loss again."""
        return {**super().get_config(), "axis": self.axis, "smooth": self.smooth}


@keras.saving.register_keras_serializable(package="reference")
class DiceLoss(_OverlapLoss):
    """1 − `dice`. Milletari et al. 2016, arXiv:1606.04797 (there with squares below)."""

    def overlap(self, y_true, y_pred):
        """Return `dice`."""
        return dice(y_true, y_pred, self.axis, self.smooth)


@keras.saving.register_keras_serializable(package="reference")
class JaccardLoss(_OverlapLoss):
    """1 − `jaccard`. Rahman and Wang 2016, "Optimizing Intersection-Over-Union …"."""

    def overlap(self, y_true, y_pred):
        """Return `jaccard`."""
        return jaccard(y_true, y_pred, self.axis, self.smooth)


@keras.saving.register_keras_serializable(package="reference")
class TverskyLoss(_OverlapLoss):
    """1 − `tversky`. Salehi et al. 2017, arXiv:1706.05721."""

    def __init__(self, alpha=0.3, beta=0.7, axis=None, smooth=1.0, **kwargs):
        super().__init__(axis, smooth, **kwargs)
        self.alpha = alpha
        self.beta = beta

    def overlap(self, y_true, y_pred):
        """Return `tversky`."""
        return tversky(y_true, y_pred, self.alpha, self.beta, self.axis, self.smooth)

    def get_config(self):
        """Return what makes the same loss again."""
        return {**super().get_config(), "alpha": self.alpha, "beta": self.beta}


class _OverlapScore(keras.metrics.Metric):
    """An overlap over all that was seen, not the mean of the batches' overlaps.

    Args:
        classes: the size of the last axis, for a mean over classes; None sums everything.
        smooth: as of `dice`; 0 is an option here, where no gradient is taken. A class that is
            neither in the truth nor in the prediction then counts as 0.
    """

    def __init__(self, classes=None, smooth=1.0, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.classes = classes
        self.smooth = smooth
        shape = () if classes is None else (classes,)
        self.both = self.add_variable(shape, initializer="zeros", name="both")
        self.true = self.add_variable(shape, initializer="zeros", name="true")
        self.predicted = self.add_variable(shape, initializer="zeros", name="predicted")

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Add a batch; ``sample_weight`` has shape (batch,) or as many axes as ``y_pred``."""
        y_true, y_pred = ops.cast(y_true, self.dtype), ops.cast(y_pred, self.dtype)
        weights = ops.ones_like(y_pred)
        if sample_weight is not None:
            sample_weight = ops.cast(sample_weight, self.dtype)
            missing = len(y_pred.shape) - len(sample_weight.shape)
            weights = weights * ops.reshape(
                sample_weight, (*ops.shape(sample_weight), *[1] * missing)
            )
        axis = None if self.classes is None else tuple(range(len(y_pred.shape) - 1))
        self.both.assign_add(ops.sum(weights * y_true * y_pred, axis=axis))
        self.true.assign_add(ops.sum(weights * y_true, axis=axis))
        self.predicted.assign_add(ops.sum(weights * y_pred, axis=axis))

    def get_config(self):
        """Return what makes the same metric again."""
        return {**super().get_config(), "classes": self.classes, "smooth": self.smooth}


@keras.saving.register_keras_serializable(package="reference")
class DiceScore(_OverlapScore):
    """The soft Dice coefficient of all that was seen; a mean over classes where they are given."""

    def result(self):
        """Return the score, in [0, 1]."""
        below = self.true + self.predicted + self.smooth
        return ops.mean(ops.divide_no_nan(2.0 * self.both + self.smooth, below))


@keras.saving.register_keras_serializable(package="reference")
class JaccardScore(_OverlapScore):
    """The soft Jaccard index of all that was seen; a mean over classes where they are given.

    ``keras.metrics.MeanIoU`` is the hard one: it takes class numbers.
    """

    def result(self):
        """Return the score, in [0, 1]."""
        below = self.true + self.predicted - self.both + self.smooth
        return ops.mean(ops.divide_no_nan(self.both + self.smooth, below))


@keras.saving.register_keras_serializable(package="reference")
class TverskyScore(_OverlapScore):
    """The Tversky index of all that was seen; a mean over classes where they are given."""

    def __init__(self, alpha=0.3, beta=0.7, **kwargs):
        super().__init__(**kwargs)
        self.alpha = alpha
        self.beta = beta

    def result(self):
        """Return the score, in [0, 1]."""
        false_positives = self.alpha * (self.predicted - self.both)
        false_negatives = self.beta * (self.true - self.both)
        below = self.both + false_positives + false_negatives + self.smooth
        return ops.mean(ops.divide_no_nan(self.both + self.smooth, below))

    def get_config(self):
        """Return what makes the same metric again."""
        return {**super().get_config(), "alpha": self.alpha, "beta": self.beta}
