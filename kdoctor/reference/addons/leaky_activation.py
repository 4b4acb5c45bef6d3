"""The activation of tensorflow_addons that draws its slopes."""

import keras


@keras.saving.register_keras_serializable("Addons", "rrelu")
def rrelu(x, lower=0.125, upper=1 / 3, training=None, seed=None, rng=None):
    """Return ``x``, below 0 times a slope, which is drawn in training."""
    x = keras.ops.convert_to_tensor(x)
    slope = (lower + upper) / 2
    if training:
        if rng is not None and seed is not None:
            raise ValueError("Either seed or rng should be specified, not both.")
        shape = keras.ops.shape(x)
        if rng is None:
            slope = keras.random.uniform(shape, lower, upper, x.dtype, seed)
        else:
            slope = rng.uniform(shape, minval=lower, maxval=upper, dtype=x.dtype)
    return keras.ops.where(x >= 0, x, keras.ops.cast(slope, x.dtype) * x)
