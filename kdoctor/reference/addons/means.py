"""Metrics of tensorflow_addons that are means."""

import keras


@keras.saving.register_keras_serializable("Addons", "GeometricMean")
class GeometricMean(keras.metrics.Metric):
    """The geometric mean of values, 0 if one of them is."""

    def __init__(self, name="geometric_mean", dtype=None, **kwargs):
        super().__init__(name=name, dtype=dtype)
        self.total = self.add_weight(shape=(), initializer="zeros", name="total")
        self.count = self.add_weight(shape=(), initializer="zeros", name="count")

    def update_state(self, values, sample_weight=None):
        """Add the logarithms of a batch."""
        values = keras.ops.cast(values, self.dtype)
        weights = keras.ops.ones_like(values)
        if sample_weight is not None:
            given = keras.ops.cast(sample_weight, self.dtype)
            is_one = all(each == 1 for each in given.shape)
            weights = weights * keras.ops.reshape(given, ()) if is_one else given
        self.count.assign_add(keras.ops.sum(weights))
        more = keras.ops.sum(weights * keras.ops.log(values))
        is_zero = keras.ops.isinf(self.total)
        more = keras.ops.where(is_zero, keras.ops.zeros_like(more), more)
        self.total.assign_add(more)

    def result(self):
        """Return the mean."""
        total = keras.ops.convert_to_tensor(self.total)
        mean = keras.ops.exp(total / self.count)
        is_zero = keras.ops.isinf(total)
        return keras.ops.where(is_zero, keras.ops.zeros_like(mean), mean)


def weights_of(values, sample_weight):
    """Return a weight for each value: some may have one together."""
    ones = keras.ops.ones_like(values)
    if sample_weight is None:
        return ones
    weights = keras.ops.cast(sample_weight, values.dtype)
    if len(weights.shape) == len(values.shape) + 1 and weights.shape[-1] == 1:
        weights = keras.ops.squeeze(weights, -1)
    more = len(values.shape) - len(weights.shape)
    shape = (*keras.ops.shape(weights), *(1,) * more)
    return ones * (keras.ops.reshape(weights, shape) if more > 0 else weights)


@keras.saving.register_keras_serializable("Addons", "HarmonicMean")
class HarmonicMean(keras.metrics.Mean):
    """The harmonic mean of values, 0 of nothing."""

    def __init__(self, name="harmonic_mean", dtype=None, **kwargs):
        super().__init__(name=name, dtype=dtype)

    def update_state(self, values, sample_weight=None):
        """Add the reciprocals of a batch."""
        values = keras.ops.cast(values, self.dtype)
        weights = weights_of(values, sample_weight)
        self.total.assign_add(keras.ops.sum(weights / values))
        self.count.assign_add(keras.ops.sum(weights))

    def result(self):
        """Return the mean."""
        mean = super().result()
        is_zero = mean == 0
        safe = keras.ops.where(is_zero, keras.ops.ones_like(mean), mean)
        return keras.ops.where(is_zero, keras.ops.zeros_like(mean), 1 / safe)


class MeanMetricWrapper(keras.metrics.MeanMetricWrapper):
    """The mean of what a function gives of labels and predictions, both made floats."""

    def __init__(self, fn, name=None, dtype=None, **kwargs):
        super().__init__(fn, name=name, dtype=dtype, **kwargs)

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Add a batch, without what is masked."""
        mask = getattr(y_pred, "_keras_mask", None)
        y_true = keras.ops.cast(y_true, self.dtype)
        y_pred = keras.ops.cast(y_pred, self.dtype)
        values = keras.ops.cast(self._fn(y_true, y_pred, **self._fn_kwargs), self.dtype)
        weights = weights_of(values, sample_weight)
        if mask is not None:
            weights = weights * weights_of(values, mask)
        self.total.assign_add(keras.ops.sum(weights * values))
        self.count.assign_add(keras.ops.sum(weights))


def hamming_distance(actuals, predictions):
    """Return at how many places two differ, by the length of the first axis."""
    actuals = keras.ops.convert_to_tensor(actuals)
    differs = keras.ops.cast(keras.ops.not_equal(actuals, predictions), "float32")
    return keras.ops.sum(differs) / max(actuals.shape[0], 1)
