"""Classes of tensorflow_addons that Keras 3 has by other names or with other arguments.

They stand where to rewrite the call does not do: as a base class, or as a value.
"""

import keras


@keras.saving.register_keras_serializable("Addons", "InstanceNormalization")
class InstanceNormalization(keras.layers.GroupNormalization):
    """Normalize each channel of each sample by itself."""

    def __init__(self, **kwargs):
        super().__init__(**{**kwargs, "groups": -1})


@keras.saving.register_keras_serializable("Addons", "FBetaScore")
class FBetaScore(keras.metrics.FBetaScore):
    """The F-beta score, which finds out the number of classes by itself."""

    def __init__(
        self,
        num_classes,
        average=None,
        beta=1.0,
        threshold=None,
        name="fbeta_score",
        dtype=None,
        **kwargs,
    ):
        super().__init__(average, beta, threshold, name=name, dtype=dtype)
        self.num_classes = num_classes

    def get_config(self):
        """Return the arguments."""
        return {**super().get_config(), "num_classes": self.num_classes}


@keras.saving.register_keras_serializable("Addons", "F1Score")
class F1Score(keras.metrics.F1Score):
    """The F1 score, which finds out the number of classes by itself."""

    def __init__(
        self,
        num_classes,
        average=None,
        threshold=None,
        name="f1_score",
        dtype=None,
    ):
        super().__init__(average, threshold, name=name, dtype=dtype)
        self.num_classes = num_classes

    def get_config(self):
        """Return the arguments."""
        return {**super().get_config(), "num_classes": self.num_classes}


@keras.saving.register_keras_serializable("Addons", "RSquare")
class RSquare(keras.metrics.R2Score):
    """The coefficient of determination, adjusted for a number of regressors."""

    def __init__(
        self,
        name="r_square",
        dtype=None,
        multioutput="uniform_average",
        num_regressors=0,
        **kwargs,
    ):
        known = {"raw_values": None, "uniform_average": "uniform_average"}
        known["variance_weighted"] = "variance_weighted_average"
        if multioutput not in known:
            raise ValueError(f"multioutput is one of {sorted(known)}: {multioutput!r}")
        super().__init__(known[multioutput], name=name, dtype=dtype)
        self.multioutput, self.regressors = multioutput, num_regressors

    def result(self):
        """Return the score, as it is where the samples are too few to adjust it."""
        score = super().result()
        if not self.regressors:
            return score
        samples = keras.ops.cast(self.num_samples, "float32")
        rest = samples - self.regressors - 1
        is_enough = rest > 0
        rest = keras.ops.where(is_enough, rest, 1.0)
        adjusted = 1 - (1 - score) * (samples - 1) / rest
        return keras.ops.where(is_enough, adjusted, score)

    def get_config(self):
        """Return the arguments."""
        own = {"multioutput": self.multioutput, "num_regressors": self.regressors}
        return {"name": self.name, "dtype": self.dtype, **own}
