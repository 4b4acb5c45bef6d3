"""Metrics of tensorflow_addons that correlate, of counts in a table."""

import keras


class CorrelationTable(keras.metrics.Metric):
    """Counts of labels and predictions, each put between two cut points."""

    def __init__(
        self,
        actual_min=0.0,
        actual_max=1.0,
        preds_min=0.0,
        preds_max=1.0,
        actual_cutpoints=100,
        preds_cutpoints=100,
        name=None,
        dtype=None,
    ):
        super().__init__(name=name, dtype=dtype)
        self.actual_min, self.actual_max = actual_min, actual_max
        self.preds_min, self.preds_max = preds_min, preds_max
        self.actual_cutpoints, self.preds_cutpoints = actual_cutpoints, preds_cutpoints
        self.actual_cuts = self.cuts(actual_min, actual_max, actual_cutpoints)
        self.preds_cuts = self.cuts(preds_min, preds_max, preds_cutpoints)
        shapes = {"m": (actual_cutpoints - 1, preds_cutpoints - 1), "n": ()}
        shapes |= {"nrow": (actual_cutpoints - 1,), "ncol": (preds_cutpoints - 1,)}
        for each, shape in shapes.items():
            weight = self.add_weight(
                shape=shape, initializer="zeros", dtype="int32", name=each
            )
            setattr(self, each, weight)

    def cuts(self, low, high, count):
        """Return the cut points; the last is a little higher."""
        step = (high - low) / (count - 1)
        points = [low + step * each for each in range(count - 1)]
        return [*points, high + keras.config.epsilon()]

    def places(self, values, low, high, cuts):
        """Return between which cut points values are."""
        values = keras.ops.reshape(keras.ops.cast(values, "float32"), (-1, 1))
        values = keras.ops.clip(values, low, high)
        cuts = keras.ops.convert_to_tensor(cuts, "float32")
        below = keras.ops.cast(cuts <= values, "int32")
        return keras.ops.sum(below, axis=1) - 1

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Count a batch, without weights."""
        low, high = (self.actual_min, self.actual_max), (self.preds_min, self.preds_max)
        rows = self.places(y_true, *low, self.actual_cuts)
        columns = self.places(y_pred, *high, self.preds_cuts)
        one = keras.ops.one_hot(rows, self.actual_cutpoints - 1, dtype="float32")
        other = keras.ops.one_hot(columns, self.preds_cutpoints - 1, dtype="float32")
        both = keras.ops.matmul(keras.ops.transpose(one), other)
        self.m.assign_add(keras.ops.cast(both, "int32"))
        self.nrow.assign_add(keras.ops.cast(keras.ops.sum(one, axis=0), "int32"))
        self.ncol.assign_add(keras.ops.cast(keras.ops.sum(other, axis=0), "int32"))
        self.n.assign_add(keras.ops.cast(keras.ops.sum(both), "int32"))

    def counts(self):
        """Return the table, the sums of its rows and columns, and of all."""
        known = (self.m, self.nrow, self.ncol, self.n)
        return tuple(keras.ops.cast(each, "float32") for each in known)

    def get_config(self):
        """Return the arguments."""
        own = {"actual_min": self.actual_min, "actual_max": self.actual_max}
        own |= {"preds_min": self.preds_min, "preds_max": self.preds_max}
        own["actual_cutpoints"] = self.actual_cutpoints
        own["preds_cutpoints"] = self.preds_cutpoints
        return {**super().get_config(), **own}


class KendallsTauTable(CorrelationTable):
    """What Kendall's taus are made of."""

    def pairs(self):
        """Return how many pairs agree, disagree, and are tied in either."""
        m, nrow, ncol, n = self.counts()
        below = keras.ops.cumsum(keras.ops.cumsum(m, axis=0), axis=1)
        agree = keras.ops.sum(below[:-1, :-1] * m[1:, 1:])
        squares = keras.ops.sum(keras.ops.square(m))
        rows = (keras.ops.sum(keras.ops.square(nrow)) - squares) / 2.0
        columns = (keras.ops.sum(keras.ops.square(ncol)) - squares) / 2.0
        both = keras.ops.sum(m * (m - 1.0)) / 2.0
        return agree, (n - 1.0) * n / 2.0 - agree - rows - columns - both, rows, columns


@keras.saving.register_keras_serializable("Addons", "KendallsTauB")
class KendallsTauB(KendallsTauTable):
    """Kendall's tau, adjusted for ties."""

    def __init__(
        self,
        actual_min=0.0,
        actual_max=1.0,
        preds_min=0.0,
        preds_max=1.0,
        actual_cutpoints=100,
        preds_cutpoints=100,
        name=None,
        dtype=None,
    ):
        super().__init__(
            actual_min,
            actual_max,
            preds_min,
            preds_max,
            actual_cutpoints,
            preds_cutpoints,
            name,
            dtype,
        )

    def result(self):
        """Return the correlation."""
        agree, not_, rows, columns = self.pairs()
        total = (agree + not_ + rows) * (agree + not_ + columns)
        return (agree - not_) / keras.ops.sqrt(total)


@keras.saving.register_keras_serializable("Addons", "KendallsTauC")
class KendallsTauC(KendallsTauTable):
    """Kendall's tau, adjusted for the size of the table."""

    def __init__(
        self,
        actual_min=0.0,
        actual_max=1.0,
        preds_min=0.0,
        preds_max=1.0,
        actual_cutpoints=100,
        preds_cutpoints=100,
        name=None,
        dtype=None,
    ):
        super().__init__(
            actual_min,
            actual_max,
            preds_min,
            preds_max,
            actual_cutpoints,
            preds_cutpoints,
            name,
            dtype,
        )

    def result(self):
        """Return the correlation."""
        agree, not_, _, _ = self.pairs()
        _, nrow, ncol, n = self.counts()
        least = keras.ops.minimum(
            keras.ops.count_nonzero(nrow), keras.ops.count_nonzero(ncol)
        )
        least = keras.ops.cast(least, "float32")
        return 2 * (agree - not_) / (keras.ops.square(n) * (least - 1) / least)


@keras.saving.register_keras_serializable("Addons", "SpearmansRank")
class SpearmansRank(CorrelationTable):
    """Spearman's rank correlation."""

    def __init__(
        self,
        actual_min=0.0,
        actual_max=1.0,
        preds_min=0.0,
        preds_max=1.0,
        actual_cutpoints=100,
        preds_cutpoints=100,
        name=None,
        dtype=None,
    ):
        super().__init__(
            actual_min,
            actual_max,
            preds_min,
            preds_max,
            actual_cutpoints,
            preds_cutpoints,
            name,
            dtype,
        )

    def result(self):
        """Return the correlation."""
        m, nrow, ncol, n = self.counts()
        ranks = []
        for each in (nrow, ncol):
            own = keras.ops.where(each > 0, each, keras.ops.full_like(each, -1.0))
            rank = keras.ops.cumsum(each) - each + (own - n) / 2
            length = keras.ops.sum(each * keras.ops.square(rank))
            ranks.append(rank / keras.ops.sqrt(length))
        return keras.ops.sum(ranks[0][:, None] * m * ranks[1][None, :])


@keras.saving.register_keras_serializable("Addons", "PearsonsCorrelation")
class PearsonsCorrelation(CorrelationTable):
    """Pearson's correlation."""

    def __init__(
        self,
        actual_min=0.0,
        actual_max=1.0,
        preds_min=0.0,
        preds_max=1.0,
        actual_cutpoints=100,
        preds_cutpoints=100,
        name=None,
        dtype=None,
    ):
        super().__init__(
            actual_min,
            actual_max,
            preds_min,
            preds_max,
            actual_cutpoints,
            preds_cutpoints,
            name,
            dtype,
        )

    def result(self):
        """Return the correlation."""
        m, nrow, ncol, n = self.counts()
        known, means, variances = [], [], []
        for counts, cuts in ((nrow, self.actual_cuts), (ncol, self.preds_cuts)):
            points = keras.ops.convert_to_tensor(cuts, "float32")
            middle = (points[1:] - points[:-1]) / 2.0 + points[:-1]
            total = keras.ops.sum(counts)
            mean = keras.ops.sum(counts * middle) / total
            square = keras.ops.sum(counts * keras.ops.square(middle))
            known.append(middle)
            means.append(mean)
            variances.append(square - total * keras.ops.square(mean))
        both = keras.ops.sum(m * known[0][:, None] * known[1][None, :])
        both = both - n * means[0] * means[1]
        return both / keras.ops.sqrt(variances[0] * variances[1])
