"""Metrics of tensorflow_addons that Keras 3 has not."""

import keras


@keras.saving.register_keras_serializable("Addons", "CohenKappa")
class CohenKappa(keras.metrics.Metric):
    """How far labels and predictions agree beyond chance."""

    def __init__(
        self,
        num_classes,
        name="cohen_kappa",
        weightage=None,
        sparse_labels=False,
        regression=False,
        dtype=None,
    ):
        super().__init__(name=name, dtype=dtype)
        if weightage not in {None, "linear", "quadratic"}:
            raise ValueError(f"weightage is 'linear' or 'quadratic', not {weightage!r}")
        if num_classes < 2:
            raise ValueError(f"there are two classes or more, not {num_classes}")
        self.num_classes, self.weightage = num_classes, weightage
        self.sparse_labels, self.regression = sparse_labels, regression
        shape = (num_classes, num_classes)
        self.conf_mtx = self.add_weight(
            shape=shape, initializer="zeros", dtype="float32", name="conf_mtx"
        )

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Count a batch."""
        y_true = keras.ops.convert_to_tensor(y_true)
        y_pred = keras.ops.convert_to_tensor(y_pred)
        if self.num_classes == 2:
            y_pred = y_pred > 0.5
        else:
            y_true = y_true if self.sparse_labels else keras.ops.argmax(y_true, axis=1)
            if len(y_pred.shape) > 1 and not self.regression:
                y_pred = keras.ops.argmax(y_pred, axis=-1)
            elif len(y_pred.shape) > 1:
                y_pred = keras.ops.round(keras.ops.abs(y_pred))
        one, other = (
            keras.ops.one_hot(
                keras.ops.reshape(keras.ops.cast(each, "int32"), (-1,)),
                self.num_classes,
            )
            for each in (y_true, y_pred)
        )
        if sample_weight is not None:
            weights = keras.ops.cast(sample_weight, one.dtype)
            one = one * keras.ops.reshape(weights, (-1, 1))
        self.conf_mtx.assign_add(keras.ops.transpose(one) @ other)

    def result(self):
        """Return kappa, 0 of nothing."""
        size = self.num_classes
        labels = keras.ops.arange(size, dtype=self.dtype)
        apart = keras.ops.abs(labels[:, None] - labels[None, :])
        if self.weightage is None:
            apart = keras.ops.cast(apart > 0, self.dtype)
        elif self.weightage == "quadratic":
            apart = apart**2
        counts = keras.ops.convert_to_tensor(self.conf_mtx)
        true = keras.ops.sum(counts, axis=1)
        guessed = keras.ops.sum(counts, axis=0)
        expected = guessed[:, None] * true[None, :]
        expected = keras.ops.cast(expected / keras.ops.sum(expected), self.dtype)
        found = keras.ops.cast(counts / keras.ops.sum(counts), self.dtype)
        chance = keras.ops.sum(expected * apart)
        kappa = 1 - keras.ops.sum(found * apart) / chance
        return keras.ops.where(
            keras.ops.isnan(chance), keras.ops.zeros_like(kappa), kappa
        )

    def get_config(self):
        """Return the arguments."""
        own = {"num_classes": self.num_classes, "weightage": self.weightage}
        own |= {"sparse_labels": self.sparse_labels, "regression": self.regression}
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "MatthewsCorrelationCoefficient")
class MatthewsCorrelationCoefficient(keras.metrics.Metric):
    """The correlation of one-hot labels with predictions."""

    def __init__(
        self, num_classes, name="MatthewsCorrelationCoefficient", dtype=None, **kwargs
    ):
        super().__init__(name=name, dtype=dtype)
        self.num_classes = num_classes
        shape = (num_classes, num_classes)
        self.conf_mtx = self.add_weight(
            shape=shape, initializer="zeros", dtype=self.dtype, name="conf_mtx"
        )

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Count a batch."""
        one, other = (
            keras.ops.one_hot(
                keras.ops.argmax(keras.ops.cast(each, self.dtype), axis=1),
                self.num_classes,
                dtype=self.dtype,
            )
            for each in (y_true, y_pred)
        )
        if sample_weight is not None:
            weights = keras.ops.cast(sample_weight, self.dtype)
            one = one * keras.ops.reshape(weights, (-1, 1))
        self.conf_mtx.assign_add(keras.ops.transpose(one) @ other)

    def result(self):
        """Return the coefficient, 0 where it is not defined."""
        counts = keras.ops.convert_to_tensor(self.conf_mtx)
        true = keras.ops.sum(counts, axis=1)
        guessed = keras.ops.sum(counts, axis=0)
        total = keras.ops.sum(guessed)
        shared = keras.ops.trace(counts) * total - keras.ops.sum(true * guessed)
        spread = total**2 - keras.ops.sum(guessed * guessed)
        found = shared / keras.ops.sqrt(
            (total**2 - keras.ops.sum(true * true)) * spread
        )
        return keras.ops.where(
            keras.ops.isnan(found), keras.ops.zeros_like(found), found
        )

    def get_config(self):
        """Return the arguments."""
        return {**super().get_config(), "num_classes": self.num_classes}


@keras.saving.register_keras_serializable("Addons", "MultiLabelConfusionMatrix")
class MultiLabelConfusionMatrix(keras.metrics.Metric):
    """A matrix of two rows for each label: true and false negatives, then positives."""

    def __init__(
        self, num_classes, name="Multilabel_confusion_matrix", dtype=None, **kwargs
    ):
        super().__init__(name=name, dtype=dtype)
        self.num_classes = num_classes
        names = (
            "true_positives",
            "false_positives",
            "false_negatives",
            "true_negatives",
        )
        for each in names:
            weight = self.add_weight(
                shape=(num_classes,), initializer="zeros", dtype=self.dtype, name=each
            )
            setattr(self, each, weight)

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Count a batch, without weights."""
        y_true = keras.ops.cast(y_true, "int32")
        y_pred = keras.ops.cast(y_pred, "int32")
        both = keras.ops.count_nonzero(y_true * y_pred, axis=0)
        neither = keras.ops.count_nonzero(
            keras.ops.logical_and(y_true != 1, y_pred != 1), axis=0
        )
        guessed = keras.ops.count_nonzero(y_pred, axis=0)
        true = keras.ops.count_nonzero(y_true, axis=0)
        self.true_positives.assign_add(keras.ops.cast(both, self.dtype))
        self.false_positives.assign_add(keras.ops.cast(guessed - both, self.dtype))
        self.false_negatives.assign_add(keras.ops.cast(true - both, self.dtype))
        self.true_negatives.assign_add(keras.ops.cast(neither, self.dtype))

    def result(self):
        """Return the matrices, of shape `(num_classes, 2, 2)`."""
        counts = (self.true_negatives, self.false_positives)
        counts += (self.false_negatives, self.true_positives)
        return keras.ops.reshape(keras.ops.stack(counts, axis=1), (-1, 2, 2))

    def get_config(self):
        """Return the arguments."""
        return {**super().get_config(), "num_classes": self.num_classes}


def hamming_loss_fn(y_true, y_pred, threshold, mode):
    """Return the share of wrong labels, or whether the one class is wrong."""
    if mode not in {"multiclass", "multilabel"}:
        raise TypeError("mode must be either multiclass or multilabel]")
    y_pred = keras.ops.convert_to_tensor(y_pred)
    if threshold is None:
        largest = keras.ops.max(y_pred, axis=-1, keepdims=True)
        y_pred = keras.ops.logical_and(y_pred >= largest, keras.ops.abs(y_pred) > 1e-12)
    else:
        y_pred = y_pred > threshold
    y_true = keras.ops.cast(y_true, "int32")
    y_pred = keras.ops.cast(y_pred, "int32")
    if mode == "multiclass":
        right = keras.ops.count_nonzero(y_true * y_pred, axis=-1)
        return 1.0 - keras.ops.cast(right, "float32")
    wrong = keras.ops.count_nonzero(y_true - y_pred, axis=-1)
    return keras.ops.cast(wrong, "float32") / y_true.shape[-1]


class HammingLoss(keras.metrics.MeanMetricWrapper):
    """The mean share of wrong labels."""

    def __init__(self, mode, name="hamming_loss", threshold=None, dtype=None, **kwargs):
        super().__init__(
            hamming_loss_fn, name=name, dtype=dtype, mode=mode, threshold=threshold
        )
        self.mode, self.threshold = mode, threshold

    def get_config(self):
        """Return the arguments."""
        own = {"mode": self.mode, "threshold": self.threshold}
        return {"name": self.name, "dtype": self.dtype, **own}
