"""Elementwise TensorFlow functions, comparisons and selections."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals, not_none
from kdoctor.rules.names._backend.number_guards import not_integer
from kdoctor.rules.names._backend.value_guards import same_shape

_OF_ONE = {
    "abs": "abs",
    "acos": "arccos",
    "asin": "arcsin",
    "atan": "arctan",
    "cos": "cos",
    "cosh": "cosh",
    "exp": "exp",
    "floor": "floor",
    "logical_not": "logical_not",
    "math.ceil": "ceil",
    "math.erf": "erf",
    "math.expm1": "expm1",
    "math.is_finite": "isfinite",
    "math.is_inf": "isinf",
    "math.is_nan": "isnan",
    "math.log": "log",
    "math.log1p": "log1p",
    "math.log_sigmoid": "log_sigmoid",
    "math.reciprocal": "reciprocal",
    "math.rsqrt": "rsqrt",
    "negative": "negative",
    "round": "round",
    "sigmoid": "sigmoid",
    "sign": "sign",
    "sin": "sin",
    "sinh": "sinh",
    "sqrt": "sqrt",
    "square": "square",
    "tan": "tan",
    "tanh": "tanh",
}
_OF_TWO = {
    "equal": "equal",
    "greater": "greater",
    "greater_equal": "greater_equal",
    "less": "less",
    "less_equal": "less_equal",
    "logical_and": "logical_and",
    "logical_or": "logical_or",
    "math.floordiv": "floor_divide",
    "math.floormod": "mod",
    "maximum": "maximum",
    "minimum": "minimum",
    "multiply": "multiply",
    "not_equal": "not_equal",
    "pow": "power",
    "subtract": "subtract",
}

REWRITES = (
    *(
        rewrite(f"tensorflow.{old}(x, name=None)", f"keras.ops.{new}(x)")
        for old, new in _OF_ONE.items()
    ),
    *(
        rewrite(f"tensorflow.{old}(x, y, name=None)", f"keras.ops.{new}(x, y)")
        for old, new in _OF_TWO.items()
    ),
    # keras.ops.add of 3.15 takes a column for a row: [[1, 1], [1, 1]] + [[1], [2]] gives
    # [[2, 3], [2, 3]].
    rewrite("tensorflow.add(x, y, name=None)", "keras.ops.add(x, y)", when=same_shape("x", "y")),
    rewrite("tensorflow.add(x, y, name=None)", "keras.ops.add(x, y)"),
    rewrite("tensorflow.atan2(y, x, name=None)", "keras.ops.arctan2(y, x)"),
    rewrite("tensorflow.math.logical_xor(x, y, name='LogicalXor')", "keras.ops.logical_xor(x, y)"),
    # Of integers TensorFlow makes float64, keras.ops float32.
    *(
        rewrite(f"tensorflow.{old}(x, y, name=None)", f"keras.ops.{new}(x, y)", when=guard)
        for old, new in (
            ("divide", "divide"),
            ("truediv", "divide"),
            ("math.divide_no_nan", "divide_no_nan"),
        )
        for guard in (not_integer("x"), None)
    ),
    rewrite(
        "tensorflow.math.squared_difference(x, y, name=None)",
        "keras.ops.square(keras.ops.subtract(x, y))",
    ),
    rewrite(
        "tensorflow.add_n(inputs, name=None)",
        "keras.ops.sum(keras.ops.stack(inputs), axis=0)",
    ),
    rewrite(
        "tensorflow.clip_by_value(t, clip_value_min, clip_value_max, name=None)",
        "keras.ops.clip(t, clip_value_min, clip_value_max)",
    ),
    rewrite(
        "tensorflow.where(condition, x=None, y=None, name=None)",
        "keras.ops.where(condition, x, y)",
        when=not_none("x", "y"),
    ),
    rewrite("tensorflow.cast(x, dtype, name=None)", "keras.ops.cast(x, dtype)"),
    rewrite("tensorflow.identity(input, name=None)", "keras.ops.copy(input)"),
    rewrite("tensorflow.stop_gradient(input, name=None)", "keras.ops.stop_gradient(input)"),
    rewrite(
        "tensorflow.zeros_like(input, dtype=None, name=None, layout=None)",
        "keras.ops.zeros_like(input, dtype=dtype)",
        when=equals("layout", None),
    ),
    rewrite(
        "tensorflow.ones_like(input, dtype=None, name=None, layout=None)",
        "keras.ops.ones_like(input, dtype=dtype)",
        when=equals("layout", None),
    ),
)

BY_HAND = {
    "where": "with a condition alone write keras.ops.nonzero(condition), which gives one tensor "
    "for each axis",
    "clip_by_norm": "write x * keras.ops.minimum(1.0, limit / keras.ops.norm(x))",
}
