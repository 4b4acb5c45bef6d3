"""Functions that do something else with variables and arrays than with tensors."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals
from kdoctor.rules.backends._tensorflow.guards import no_raw_variable
from kdoctor.rules.names._backend.value_guards import no_array, no_variable

REWRITES = (
    # TensorFlow hands a variable on that has the dtype already; PyTorch takes no bfloat16 of NumPy.
    rewrite(
        "tensorflow.cast(x, dtype, name=None)",
        "keras.ops.cast(x, dtype)",
        when=no_raw_variable("x"),
    ),
    # Of an array `keras.ops` returns the array, and PyTorch raises.
    rewrite(
        "tensorflow.stop_gradient(input, name=None)",
        "keras.ops.stop_gradient(input)",
        when=no_array("input"),
    ),
    # With JAX 0.10 these raise for variables.
    *(
        rewrite(
            f"tensorflow.{old}(input_tensor, axis=None, keepdims=False, name=None)",
            f"keras.ops.{new}(input_tensor, axis=axis, keepdims=keepdims)",
            when=no_variable("input_tensor"),
        )
        for old, new in (("reduce_all", "all"), ("reduce_any", "any"))
    ),
    rewrite(
        "tensorflow.zeros_like(input, dtype=None, name=None, layout=None)",
        "keras.ops.zeros_like(input, dtype=dtype)",
        when=equals("layout", None) & no_variable("input"),
    ),
)

BY_HAND: dict[str, str] = {}
