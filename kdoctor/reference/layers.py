"""Small layers that people wrote on ``keras.backend``: a learned scale or slope, and a state."""

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="reference")
class Scaling(keras.layers.Layer):
    """y = s x, with a learned s that starts at 1.

    Args:
        per_feature: one s for each of the last axis (True), or one for all (False).
    """

    def __init__(self, *, per_feature=False, **kwargs):
        super().__init__(**kwargs)
        self.per_feature = per_feature
        self.supports_masking = True  # a mask says which steps count; scaling keeps it true

    def build(self, input_shape):
        """Make s, of shape () or (features,)."""
        shape = (input_shape[-1],) if self.per_feature else ()
        self.scale = self.add_weight(name="scale", shape=shape, initializer="ones")

    def call(self, inputs):
        """Return a tensor of the shape of ``inputs``."""
        return inputs * self.scale

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape

    def get_config(self):
        """Return what makes the same layer again."""
        return {**super().get_config(), "per_feature": self.per_feature}


@keras.saving.register_keras_serializable(package="reference")
class ReLUPlusSigmoid(keras.layers.Layer):
    """y = max(x, 0) + a σ(x), with one learned a that starts at 0: at first a plain ReLU.

    An activation with weights is a layer. Give it a place of its own in the model: as
    ``Dense(activation=ReLUPlusSigmoid())`` its weight is trained, but the model is neither saved
    nor loaded as it was.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, input_shape):
        """Make a, of shape ()."""
        del input_shape  # the same whatever comes in
        self.slope = self.add_weight(name="slope", shape=(), initializer="zeros")

    def call(self, inputs):
        """Return a tensor of the shape of ``inputs``."""
        return ops.relu(inputs) + self.slope * ops.sigmoid(inputs)

    def compute_output_shape(self, input_shape):
        """Return the shape of the input."""
        return input_shape


@keras.saving.register_keras_serializable(package="reference")
class RunningSum(keras.layers.Layer):
    """y = x W + h, where h ← h + mean over the batch of x W after each call: h outlives the batch.

    What persists must not have the shape of a batch: then it fits any batch size, is saved with
    the weights, and ``predict`` in batches of 32 gives what ``predict`` in batches of 8 gives only
    if ``moves`` is off. h is no trainable weight: no gradient changes it.

    Args:
        units: the size of the last axis of the output.
        moves: "training": h moves in training only, as the statistics of batch normalisation do;
            "always": in every call.
    """

    def __init__(self, units, moves="training", **kwargs):
        super().__init__(**kwargs)
        if moves not in {"training", "always"}:
            raise ValueError(f"moves={moves!r}: 'training' or 'always'")
        self.units = units
        self.moves = moves

    def build(self, input_shape):
        """Make W, of shape (features, units), and h, of shape (units,)."""
        self.kernel = self.add_weight(name="kernel", shape=(input_shape[-1], self.units))
        self.state = self.add_weight(
            name="state", shape=(self.units,), initializer="zeros", trainable=False
        )

    def call(self, inputs, training=False):
        """Return shape (batch, units) for inputs of shape (batch, features)."""
        projected = ops.matmul(inputs, self.kernel)
        outputs = projected + self.state
        if training or self.moves == "always":
            step = ops.stop_gradient(ops.mean(projected, axis=0))
            # In mixed precision the weight is float32 and what is computed float16.
            self.state.assign(self.state + ops.cast(step, self.state.dtype))
        return outputs

    def reset_state(self):
        """Forget what was seen."""
        self.state.assign(ops.zeros(self.state.shape, self.state.dtype))

    def compute_output_shape(self, input_shape):
        """Return (…, units)."""
        return (*input_shape[:-1], self.units)

    def get_config(self):
        """Return what makes the same layer again."""
        return {**super().get_config(), "units": self.units, "moves": self.moves}
