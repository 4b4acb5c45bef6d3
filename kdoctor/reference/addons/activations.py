"""Activations of tensorflow_addons that Keras 3 has not, or with other defaults."""

import keras


@keras.saving.register_keras_serializable("Addons", "gelu")
def gelu(x, approximate: bool = True):
    """Return the Gaussian error linear unit, approximated unless told otherwise."""
    return keras.activations.gelu(keras.ops.convert_to_tensor(x), approximate)


@keras.saving.register_keras_serializable("Addons", "hardshrink")
def hardshrink(x, lower: float = -0.5, upper: float = 0.5):
    """Return ``x`` outside of the bounds, and 0 between them."""
    if lower > upper:
        raise ValueError(f"lower, {lower}, is above upper, {upper}")
    x = keras.ops.convert_to_tensor(x)
    return x * keras.ops.cast(keras.ops.logical_or(x < lower, x > upper), x.dtype)


@keras.saving.register_keras_serializable("Addons", "lisht")
def lisht(x):
    """Return ``x`` times its hyperbolic tangent."""
    x = keras.ops.convert_to_tensor(x)
    return x * keras.ops.tanh(x)


@keras.saving.register_keras_serializable("Addons", "mish")
def mish(x):
    """Return ``x * tanh(softplus(x))``."""
    x = keras.ops.convert_to_tensor(x)
    return x * keras.ops.tanh(keras.ops.softplus(x))


@keras.saving.register_keras_serializable("Addons", "snake")
def snake(x, frequency: float = 1):
    """Return ``x + (1 - cos(2 * frequency * x)) / (2 * frequency)``."""
    x = keras.ops.convert_to_tensor(x)
    twice = 2 * keras.ops.cast(frequency, x.dtype)
    return x + (1 - keras.ops.cos(twice * x)) / twice


@keras.saving.register_keras_serializable("Addons", "softshrink")
def softshrink(x, lower: float = -0.5, upper: float = 0.5):
    """Return how far ``x`` is outside of the bounds, and 0 between them."""
    if lower > upper:
        raise ValueError(f"lower, {lower}, is above upper, {upper}")
    x = keras.ops.convert_to_tensor(x)
    below = keras.ops.where(x < lower, x - lower, keras.ops.zeros_like(x))
    return below + keras.ops.where(x > upper, x - upper, keras.ops.zeros_like(x))


@keras.saving.register_keras_serializable("Addons", "sparsemax")
def sparsemax(logits, axis: int = -1):
    """Return the probabilities nearest to ``logits``, of which many are 0."""
    logits = keras.ops.moveaxis(keras.ops.convert_to_tensor(logits), axis, -1)
    size = logits.shape[-1]
    falling = keras.ops.flip(keras.ops.sort(logits, axis=-1), axis=-1)
    sums = keras.ops.cumsum(falling, axis=-1)
    counts = keras.ops.arange(1, size + 1, dtype=logits.dtype)
    taken = keras.ops.cast(1 + counts * falling > sums, "int32")
    count = keras.ops.maximum(keras.ops.sum(taken, axis=-1, keepdims=True), 1)
    last = keras.ops.take_along_axis(sums, count - 1, axis=-1)
    threshold = (last - 1) / keras.ops.cast(count, logits.dtype)
    likely = keras.ops.cast(keras.ops.maximum(logits - threshold, 0), logits.dtype)
    return keras.ops.moveaxis(likely, -1, axis)


@keras.saving.register_keras_serializable("Addons", "tanhshrink")
def tanhshrink(x):
    """Return ``x`` less its hyperbolic tangent."""
    x = keras.ops.convert_to_tensor(x)
    return x - keras.ops.tanh(x)
