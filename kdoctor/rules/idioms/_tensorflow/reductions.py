"""TensorFlow functions that reduce or sort along axes, and linear algebra."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals, not_none, one_of
from kdoctor.rules.names._backend.number_guards import not_integer, whole_numbers

_REDUCED = {
    "reduce_sum": "sum",
    "reduce_prod": "prod",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_all": "all",
    "reduce_any": "any",
    "reduce_logsumexp": "logsumexp",
    "math.reduce_std": "std",
    "math.reduce_variance": "var",
}
# Of all axes at once these lose `keepdims` on PyTorch.
_LOSES_AXES = frozenset({"sum", "prod", "max", "min"})
_KEPT = (equals("keepdims", False), not_none("axis"))
_MATMUL = (
    "tensorflow.matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, "
    "adjoint_b=False, a_is_sparse=False, b_is_sparse=False, output_type=None, grad_a=False, "
    "grad_b=False, name=None)"
)
_A, _B = "keras.ops.swapaxes(a, -1, -2)", "keras.ops.swapaxes(b, -1, -2)"

REWRITES = (
    *(
        rewrite(
            f"tensorflow.{old}(input_tensor, axis=None, keepdims=False, name=None)",
            f"keras.ops.{new}(input_tensor, axis=axis, keepdims=keepdims)",
            when=guard,
        )
        for old, new in _REDUCED.items()
        for guard in (*(_KEPT if new in _LOSES_AXES else ()), None)
    ),
    # The mean of integers is an integer in TensorFlow and a float in keras.ops.
    *(
        rewrite(
            "tensorflow.reduce_mean(input_tensor, axis=None, keepdims=False, name=None)",
            "keras.ops.mean(input_tensor, axis=axis, keepdims=keepdims)",
            when=guard,
        )
        for guard in (not_integer("input_tensor"), None)
    ),
    # Without an axis TensorFlow takes the first, keras.ops all elements.
    *(
        rewrite(
            f"tensorflow.{name}(input, axis=None, output_type='int64', name=None)",
            f"keras.ops.cast(keras.ops.{name}(input, axis={axis}), output_type)",
            when=guard,
        )
        for name in ("argmax", "argmin")
        for axis, guard in (("axis", whole_numbers("axis")), ("0", equals("axis", None)))
    ),
    *(
        rewrite(
            f"tensorflow.{old}(x, axis=0, exclusive=False, reverse=False, name=None)",
            f"keras.ops.{new}(x, axis=axis)",
        )
        for old, new in (("cumsum", "cumsum"), ("math.cumprod", "cumprod"))
    ),
    rewrite(
        "tensorflow.norm(tensor, ord='euclidean', axis=None, keepdims=False, name=None)",
        "keras.ops.norm(tensor, axis=axis, keepdims=keepdims)",
        when=equals("ord", "euclidean") & whole_numbers("axis"),
    ),
    rewrite(
        "tensorflow.norm(tensor, ord='euclidean', axis=None, keepdims=False, name=None)",
        "keras.ops.norm(tensor, ord=ord, axis=axis, keepdims=keepdims)",
        when=one_of("ord", 1, 2) & whole_numbers("axis"),
    ),
    # epsilon bounds the square of the norm in TensorFlow, the norm in Keras.
    rewrite(
        "tensorflow.math.l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None)",
        "keras.ops.normalize(x, axis=axis, order=2, epsilon=1e-6)",
        when=whole_numbers("axis") & equals("epsilon", 1e-12),
    ),
    rewrite(
        "tensorflow.math.count_nonzero(input, axis=None, keepdims=False, dtype='int64', name=None)",
        "keras.ops.cast(keras.ops.count_nonzero(input, axis=axis), dtype)",
        when=equals("keepdims", False),
    ),
    rewrite(
        "tensorflow.nn.moments(x, axes, shift=None, keepdims=False, name=None)",
        "keras.ops.moments(x, axes, keepdims=keepdims)",
    ),
    rewrite(
        "tensorflow.sort(values, axis=-1, direction='ASCENDING', name=None)",
        "keras.ops.sort(values, axis=axis)",
        when=equals("direction", "ASCENDING"),
    ),
    rewrite(
        "tensorflow.sort(values, axis=-1, direction='ASCENDING', name=None)",
        "keras.ops.flip(keras.ops.sort(values, axis=axis), axis=axis)",
        when=equals("direction", "DESCENDING"),
    ),
    rewrite(
        "tensorflow.argsort(values, axis=-1, direction='ASCENDING', stable=False, name=None)",
        "keras.ops.argsort(values, axis=axis)",
        when=equals("direction", "ASCENDING"),
    ),
    rewrite(
        "tensorflow.math.top_k(input, k=1, sorted=True, index_type='int32', name=None)",
        "keras.ops.top_k(input, k, sorted=sorted)",
    ),
    rewrite(
        "tensorflow.math.in_top_k(targets, predictions, k, name=None)",
        "keras.ops.in_top_k(targets, predictions, k)",
    ),
    rewrite(
        _MATMUL,
        "keras.ops.matmul(a, b)",
        when=equals("transpose_a", False) & equals("transpose_b", False),
    ),
    rewrite(
        _MATMUL,
        f"keras.ops.matmul(a, {_B})",
        when=equals("transpose_a", False) & equals("transpose_b", True),
    ),
    rewrite(
        _MATMUL,
        f"keras.ops.matmul({_A}, b)",
        when=equals("transpose_a", True) & equals("transpose_b", False),
    ),
    rewrite("tensorflow.tensordot(a, b, axes, name=None)", "keras.ops.tensordot(a, b, axes)"),
    rewrite("tensorflow.einsum(equation, operand)", "keras.ops.einsum(equation, operand)"),
    rewrite(
        "tensorflow.einsum(equation, first, second)", "keras.ops.einsum(equation, first, second)"
    ),
    rewrite(
        "tensorflow.linalg.matrix_transpose(a, name='matrix_transpose', conjugate=False)",
        f"{_A}",
    ),
    rewrite("tensorflow.linalg.trace(x, name=None)", "keras.ops.trace(x, axis1=-2, axis2=-1)"),
    rewrite("tensorflow.linalg.inv(input, adjoint=False, name=None)", "keras.ops.inv(input)"),
    rewrite("tensorflow.linalg.det(input, name=None)", "keras.ops.det(input)"),
    rewrite("tensorflow.linalg.cholesky(input, name=None)", "keras.ops.cholesky(input)"),
    rewrite(
        "tensorflow.linalg.band_part(input, num_lower, num_upper, name=None)",
        "keras.ops.tril(input)",
        when=equals("num_lower", -1) & equals("num_upper", 0),
    ),
    rewrite(
        "tensorflow.linalg.band_part(input, num_lower, num_upper, name=None)",
        "keras.ops.triu(input)",
        when=equals("num_lower", 0) & equals("num_upper", -1),
    ),
)

BY_HAND = {
    "norm": "write keras.ops.norm(x, ord=..., axis=..., keepdims=...), with the axis spelled out",
    "math.l2_normalize": "write keras.ops.normalize(x, axis=..., order=2, epsilon=1e-6) for one "
    "axis; mind that without an axis it takes the last one, TensorFlow all",
    "linalg.matvec": "write keras.ops.einsum('...ij,...j->...i', a, b)",
}
