"""Functions of attention that never goes back, of tensorflow_addons."""

import keras
import numpy as np


def bounded(x, low, high):
    """Return numbers in bounds, which have a slope at the bounds too."""
    x = keras.ops.where(x < low, keras.ops.full_like(x, low), x)
    return keras.ops.where(x > high, keras.ops.full_like(x, high), x)


def one_later(x, first):
    """Return each row one step later, behind another first step."""
    return keras.ops.concatenate([keras.ops.full_like(x[:, :1], first), x[:, :-1]], 1)


def safe_cumprod(x, *args, **kwargs):
    """Return products of numbers so far, by the sums of their logarithms."""
    given = {**dict(zip(("axis", "exclusive", "reverse", "name"), args)), **kwargs}
    axis, is_reverse = given.get("axis", 0), given.get("reverse", False)
    x = keras.ops.convert_to_tensor(x)
    dtype = keras.backend.standardize_dtype(x.dtype)
    tiny = float(np.finfo(dtype).tiny)
    x = keras.ops.moveaxis(keras.ops.log(bounded(x, tiny, 1)), axis, 0)
    x = keras.ops.flip(x, 0) if is_reverse else x
    if given.get("exclusive", False):
        x = keras.ops.concatenate([keras.ops.zeros_like(x[:1]), x[:-1]], 0)
    x = keras.ops.cast(keras.ops.cumsum(x, axis=0), dtype)
    x = keras.ops.flip(x, 0) if is_reverse else x
    return keras.ops.exp(keras.ops.moveaxis(x, 0, axis))


def monotonic_attention(p_choose_i, previous_attention, mode):
    """Return what is attended to, which is nothing before what was attended to last."""
    chosen = keras.ops.convert_to_tensor(p_choose_i)
    before = keras.ops.convert_to_tensor(previous_attention)
    if mode == "recursive":
        passed = one_later(1 - chosen, 1)
        pairs = keras.ops.transpose(keras.ops.stack([passed, before]), (2, 0, 1))

        def step(last, pair):
            found = pair[0] * last + pair[1]
            return found, found

        start = keras.ops.zeros_like(chosen[:, 0])
        _, found = keras.ops.scan(step, start, pairs)
        return chosen * keras.ops.transpose(found)
    if mode == "parallel":
        passed = safe_cumprod(1 - chosen, axis=1, exclusive=True)
        ratio = keras.ops.cumsum(before / bounded(passed, 1e-10, 1.0), axis=1)
        return chosen * passed * ratio
    if mode == "hard":
        chosen = chosen * keras.ops.cumsum(before, axis=1)
        return chosen * keras.ops.cumprod(one_later(1 - chosen, 1), axis=1)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")
