"""Functions of ``keras.backend`` that reduce or accumulate along axes."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rules.names._backend.number_guards import not_integer
from kdoctor.rules.names._backend.uses import dtype_does_not_matter
from kdoctor.rules.names._backend.value_guards import (
    floatx_is_default,
    no_narrow_integers,
    somewhere,
)

REWRITES = (
    # Keras 2 lets sums and products of 8 and 16 bits overflow, Keras 3 widens them.
    *(
        rewrite(
            f"keras.backend.{name}(x, axis=None, keepdims=False)",
            f"keras.ops.{name}(x, axis=axis, keepdims=keepdims)",
            when=guard,
        )
        for name in ("sum", "prod")
        for guard in (no_narrow_integers("x"), somewhere())
    ),
    rewrite(
        "keras.backend.max(x, axis=None, keepdims=False)",
        "keras.ops.max(x, axis=axis, keepdims=keepdims)",
    ),
    rewrite(
        "keras.backend.min(x, axis=None, keepdims=False)",
        "keras.ops.min(x, axis=axis, keepdims=keepdims)",
    ),
    # The mean of integers is cut to an integer in Keras 2 and a float in Keras 3. That of bools has
    # the type of floats that is set in Keras 2, and is float32 in Keras 3.
    rewrite(
        "keras.backend.mean(x, axis=None, keepdims=False)",
        "keras.ops.mean(x, axis=axis, keepdims=keepdims)",
        when=not_integer("x") & floatx_is_default(),
    ),
    rewrite(
        "keras.backend.mean(x, axis=None, keepdims=False)",
        "keras.ops.mean(x, axis=axis, keepdims=keepdims)",
    ),
    # Of booleans they are worked out in float32, and made the type of floats that is set after.
    rewrite(
        "keras.backend.std(x, axis=None, keepdims=False)",
        "keras.ops.std(x, axis=axis, keepdims=keepdims)",
        when=floatx_is_default(),
    ),
    rewrite(
        "keras.backend.std(x, axis=None, keepdims=False)",
        "keras.ops.std(x, axis=axis, keepdims=keepdims)",
        when=somewhere(),
    ),
    rewrite(
        "keras.backend.var(x, axis=None, keepdims=False)",
        "keras.ops.var(x, axis=axis, keepdims=keepdims)",
        when=floatx_is_default(),
    ),
    rewrite(
        "keras.backend.var(x, axis=None, keepdims=False)",
        "keras.ops.var(x, axis=axis, keepdims=keepdims)",
        when=somewhere(),
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
    "mean": "keras.ops.mean returns a float for integers, where Keras 2 truncated the mean to an "
    "integer",
}
