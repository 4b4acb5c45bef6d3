"""Functions of ``keras.backend`` that reduce or accumulate along axes."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rules.names._backend.questions import not_integer
from kdoctor.rules.names._backend.uses import dtype_does_not_matter

REWRITES = (
    rewrite(
        "keras.backend.sum(x, axis=None, keepdims=False)",
        "keras.ops.sum(x, axis=axis, keepdims=keepdims)",
    ),
    rewrite(
        "keras.backend.prod(x, axis=None, keepdims=False)",
        "keras.ops.prod(x, axis=axis, keepdims=keepdims)",
    ),
    rewrite(
        "keras.backend.max(x, axis=None, keepdims=False)",
        "keras.ops.max(x, axis=axis, keepdims=keepdims)",
    ),
    rewrite(
        "keras.backend.min(x, axis=None, keepdims=False)",
        "keras.ops.min(x, axis=axis, keepdims=keepdims)",
    ),
    # The mean of integers is cut to an integer in Keras 2 and a float in Keras 3.
    rewrite(
        "keras.backend.mean(x, axis=None, keepdims=False)",
        "keras.ops.mean(x, axis=axis, keepdims=keepdims)",
        when=not_integer("x"),
    ),
    rewrite(
        "keras.backend.mean(x, axis=None, keepdims=False)",
        "keras.ops.mean(x, axis=axis, keepdims=keepdims)",
    ),
    rewrite(
        "keras.backend.std(x, axis=None, keepdims=False)",
        "keras.ops.std(x, axis=axis, keepdims=keepdims)",
    ),
    rewrite(
        "keras.backend.var(x, axis=None, keepdims=False)",
        "keras.ops.var(x, axis=axis, keepdims=keepdims)",
    ),
    rewrite(
        "keras.backend.any(x, axis=None, keepdims=False)",
        "keras.ops.any(x, axis=axis, keepdims=keepdims)",
    ),
    rewrite(
        "keras.backend.all(x, axis=None, keepdims=False)",
        "keras.ops.all(x, axis=axis, keepdims=keepdims)",
    ),
    rewrite(
        "keras.backend.logsumexp(x, axis=None, keepdims=False)",
        "keras.ops.logsumexp(x, axis=axis, keepdims=keepdims)",
    ),
    # Keras 2 counts in int64, Keras 3 in int32.
    rewrite(
        "keras.backend.argmax(x, axis=-1)",
        "keras.ops.argmax(x, axis=axis)",
        when=dtype_does_not_matter(),
    ),
    rewrite(
        "keras.backend.argmax(x, axis=-1)",
        'keras.ops.cast(keras.ops.argmax(x, axis=axis), "int64")',
    ),
    rewrite(
        "keras.backend.argmin(x, axis=-1)",
        "keras.ops.argmin(x, axis=axis)",
        when=dtype_does_not_matter(),
    ),
    rewrite(
        "keras.backend.argmin(x, axis=-1)",
        'keras.ops.cast(keras.ops.argmin(x, axis=axis), "int64")',
    ),
    rewrite("keras.backend.cumsum(x, axis=0)", "keras.ops.cumsum(x, axis=axis)"),
    rewrite("keras.backend.cumprod(x, axis=0)", "keras.ops.cumprod(x, axis=axis)"),
)

BY_HAND = {
    "mean": "keras.ops.mean gives a float for integers, where Keras 2 cut the mean to an integer",
}
