"""What takes the place of functions of JAX and PyTorch in code that Keras runs.

The left sides name operands as the functions do, but for those that they take by position alone.
A parameter that a right side leaves out must not be passed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kdoctor.rewrite import Rewrite, rewrite
from kdoctor.rewrite.common_guards import equals, given, not_none
from kdoctor.rules.backends._tensorflow.guards import nothing_sparse, run_by_keras
from kdoctor.rules.names._backend.number_guards import whole_numbers
from kdoctor.rules.names._backend.value_guards import floatx_is_default

_HERE: Final = nothing_sparse() & floatx_is_default() & run_by_keras()
# Functions whose rows were run; the others are never safe. To change that, add a name and run
# `python -m kdoctor.verify.prove --missing --only jax.` or `torch.`
_RUN: Final = frozenset({
    *("jax.numpy.sum", "jax.numpy.mean", "jax.numpy.exp", "jax.numpy.log", "jax.numpy.sqrt"),
    *("jax.numpy.square", "jax.numpy.abs", "jax.numpy.maximum", "jax.numpy.minimum"),
    *("jax.numpy.matmul", "jax.numpy.concatenate", "jax.numpy.stack", "jax.numpy.reshape"),
    *("jax.numpy.transpose", "jax.numpy.where", "jax.numpy.expand_dims", "jax.numpy.clip"),
    *("jax.numpy.zeros_like", "jax.numpy.ones_like", "jax.numpy.einsum", "jax.numpy.tanh"),
    *("jax.nn.relu", "jax.nn.sigmoid", "jax.nn.softmax", "jax.nn.gelu"),
    *("torch.sum", "torch.mean", "torch.exp", "torch.sqrt", "torch.matmul", "torch.cat"),
    *("torch.stack", "torch.reshape", "torch.softmax", "torch.relu", "torch.unsqueeze"),
    "torch.nn.functional.relu",
})  # fmt: skip

# -- JAX

_OF_ONE: Final = (
    *("exp", "log", "sqrt", "square", "abs", "sin", "cos", "tan", "tanh", "sinh", "cosh"),
    *("arctan", "arcsin", "arccos", "log1p", "expm1", "floor", "ceil", "sign", "isnan", "isinf"),
    *("isfinite", "negative", "reciprocal", "logical_not", "log2", "log10"),
)
_OF_TWO: Final = (
    *("maximum", "minimum", "add", "subtract", "multiply", "divide", "power", "equal"),
    *("not_equal", "greater", "greater_equal", "less", "less_equal", "logical_and", "logical_or"),
    *("mod", "floor_divide", "arctan2", "true_divide"),
)
_ACTIVATIONS: Final = (
    *("relu", "sigmoid", "softplus", "silu", "swish", "selu", "relu6", "soft_sign", "log_sigmoid"),
    "hard_tanh",
)
_NEW_NAMES: Final = {"soft_sign": "softsign", "log_sigmoid": "logsigmoid", "swish": "silu"}
_REDUCED: Final = (
    *((name, "a, axis=None, dtype=None, out=None, keepdims=False") for name in ("sum", "prod")),
    ("mean", "a, axis=None, dtype=None, out=None, keepdims=False"),
    *((name, "a, axis=None, out=None, keepdims=False") for name in ("max", "min", "amax", "amin")),
    *((name, "a, axis=None, out=None, keepdims=False") for name in ("all", "any")),
    *(
        (name, "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False")
        for name in ("var", "std")
    ),
)
# Of all axes at once these lose `keepdims` on PyTorch.
_KEPT: Final = equals("keepdims", False) | not_none("axis")


def _of_jax() -> Iterator[Rewrite]:
    for name in _OF_ONE:
        yield rewrite(f"jax.numpy.{name}(x)", f"keras.ops.{name}(x)")
    for name in _OF_TWO:
        yield rewrite(f"jax.numpy.{name}(x, y)", f"keras.ops.{name}(x, y)")
    for name, parameters in _REDUCED:
        right = f"keras.ops.{name}(a, axis=axis, keepdims=keepdims)"
        yield rewrite(f"jax.numpy.{name}({parameters})", right, _KEPT)
    yield from _arranged_in_jax()
    yield from _made_by_jax()
    for name in _ACTIVATIONS:
        new = _NEW_NAMES.get(name, name)
        yield rewrite(f"jax.nn.{name}(x)", f"keras.ops.{new}(x)")
    for name in ("softmax", "log_softmax"):
        yield rewrite(f"jax.nn.{name}(x, axis=-1)", f"keras.ops.{name}(x, axis=axis)")
    yield rewrite("jax.nn.gelu(x, approximate=True)", "keras.ops.gelu(x, approximate=approximate)")
    yield rewrite("jax.nn.elu(x, alpha=1.0)", "keras.ops.elu(x, alpha)")
    yield rewrite(
        "jax.nn.leaky_relu(x, negative_slope=0.01)", "keras.ops.leaky_relu(x, negative_slope)"
    )
    yield rewrite("jax.nn.one_hot(x, num_classes)", "keras.ops.one_hot(x, num_classes)")
    for root in ("jax.nn", "jax.scipy.special"):
        yield rewrite(
            f"{root}.logsumexp(a, axis=None, b=None, keepdims=False)",
            "keras.ops.logsumexp(a, axis=axis, keepdims=keepdims)",
        )
    yield rewrite("jax.lax.stop_gradient(x)", "keras.ops.stop_gradient(x)")
    yield rewrite("jax.lax.rsqrt(x)", "keras.ops.rsqrt(x)")


def _arranged_in_jax() -> Iterator[Rewrite]:
    root, new = "jax.numpy", "keras.ops"
    for name in ("argmax", "argmin"):
        yield rewrite(
            f"{root}.{name}(a, axis=None, out=None, keepdims=False)",
            f"{new}.{name}(a, axis=axis, keepdims=keepdims)",
        )
    for name in ("cumsum", "cumprod"):
        yield rewrite(
            f"{root}.{name}(a, axis=None, dtype=None, out=None)", f"{new}.{name}(a, axis=axis)"
        )
    for left, right in (
        ("reshape(a, shape)", "reshape(a, shape)"),
        ("transpose(a, axes=None)", "transpose(a, axes)"),
        ("expand_dims(a, axis)", "expand_dims(a, axis)"),
        ("squeeze(a, axis=None)", "squeeze(a, axis)"),
        ("concatenate(arrays, axis=0)", "concatenate(arrays, axis)"),
        ("stack(arrays, axis=0)", "stack(arrays, axis)"),
        ("tile(A, reps)", "tile(A, reps)"),
        ("repeat(a, repeats, axis=None)", "repeat(a, repeats, axis=axis)"),
        ("flip(m, axis=None)", "flip(m, axis=axis)"),
        ("roll(a, shift, axis=None)", "roll(a, shift, axis=axis)"),
        ("swapaxes(a, axis1, axis2)", "swapaxes(a, axis1, axis2)"),
        ("moveaxis(a, source, destination)", "moveaxis(a, source, destination)"),
        ("broadcast_to(array, shape)", "broadcast_to(array, shape)"),
        ("ravel(a)", "ravel(a)"),
        ("pad(array, pad_width)", "pad(array, pad_width)"),
        ("where(condition, x, y)", "where(condition, x, y)"),
        ("matmul(a, b)", "matmul(a, b)"),
        ("tensordot(a, b, axes=2)", "tensordot(a, b, axes)"),
        ("einsum(equation, operand)", "einsum(equation, operand)"),
        ("einsum(equation, first, second)", "einsum(equation, first, second)"),
        ("triu(m, k=0)", "triu(m, k)"),
        ("tril(m, k=0)", "tril(m, k)"),
        ("sort(a, axis=-1)", "sort(a, axis=axis)"),
        ("round(a, decimals=0)", "round(a, decimals)"),
        ("diagonal(a, offset=0, axis1=0, axis2=1)", "diagonal(a)"),
    ):
        yield rewrite(f"{root}.{left}", f"{new}.{right}")
    yield rewrite(
        f"{root}.clip(arr, min=None, max=None)",
        f"{new}.clip(arr, min, max)",
        given("min", "max") & not_none("min") & not_none("max"),
    )


def _made_by_jax() -> Iterator[Rewrite]:
    root, new = "jax.numpy", "keras.ops"
    for name in ("zeros", "ones"):
        yield rewrite(f"{root}.{name}(shape, dtype=None)", f"{new}.{name}(shape, dtype=dtype)")
    for name in ("zeros_like", "ones_like"):
        yield rewrite(f"{root}.{name}(a, dtype=None)", f"{new}.{name}(a, dtype=dtype)")
    yield rewrite(f"{root}.full(shape, fill_value)", f"{new}.full(shape, fill_value)")
    yield rewrite(f"{root}.full_like(a, fill_value)", f"{new}.full_like(a, fill_value)")
    yield rewrite(f"{root}.arange(start, stop=None)", f"{new}.arange(start)", equals("stop", None))
    yield rewrite(
        f"{root}.arange(start, stop=None, step=1)",
        f"{new}.arange(start, stop, step)",
        not_none("stop"),
    )
    yield rewrite(f"{root}.eye(N, M=None)", f"{new}.eye(N, M)")


# -- PyTorch

_TORCH_OF_ONE: Final = {
    **{
        name: name
        for name in (
            *("exp", "log", "sqrt", "square", "abs", "sin", "cos", "tan", "tanh", "sinh", "cosh"),
            *("sigmoid", "relu", "floor", "ceil", "round", "sign", "rsqrt", "isnan", "isinf"),
            *("isfinite", "log1p", "expm1", "reciprocal", "zeros_like", "ones_like", "erf"),
            *("logical_not",),
        )
    },
    "neg": "negative",
    "absolute": "abs",
}
_TORCH_OF_TWO: Final = {
    **{name: name for name in ("maximum", "minimum", "add", "multiply", "subtract", "divide")},
    "mul": "multiply",
    "sub": "subtract",
    "div": "divide",
    "atan2": "arctan2",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "matmul": "matmul",
    **{name: name for name in ("logical_and", "logical_or")},
}
_FUNCTIONAL: Final = {
    **{name: name for name in ("relu", "sigmoid", "tanh", "softplus", "silu", "selu", "relu6")},
    "softsign": "softsign",
    "logsigmoid": "logsigmoid",
}
_TORCH_KEPT: Final = equals("keepdim", False) | not_none("dim")


def _of_torch() -> Iterator[Rewrite]:
    for old, new in _TORCH_OF_ONE.items():
        yield rewrite(f"torch.{old}(input)", f"keras.ops.{new}(input)")
    for old, new in _TORCH_OF_TWO.items():
        yield rewrite(f"torch.{old}(input, other)", f"keras.ops.{new}(input, other)")
    for name in ("sum", "mean", "all", "any"):
        yield rewrite(
            f"torch.{name}(input, dim=None, keepdim=False)",
            f"keras.ops.{name}(input, axis=dim, keepdims=keepdim)",
            _TORCH_KEPT,
        )
    for old, new in (("amax", "max"), ("amin", "min"), ("logsumexp", "logsumexp")):
        yield rewrite(
            f"torch.{old}(input, dim, keepdim=False)",
            f"keras.ops.{new}(input, axis=dim, keepdims=keepdim)",
            not_none("dim"),
        )
    for name in ("max", "min", "prod"):
        yield rewrite(f"torch.{name}(input)", f"keras.ops.{name}(input)")
    yield rewrite(
        "torch.prod(input, dim, keepdim=False)",
        "keras.ops.prod(input, axis=dim, keepdims=keepdim)",
        whole_numbers("dim"),
    )
    for name in ("argmax", "argmin"):
        yield rewrite(
            f"torch.{name}(input, dim=None, keepdim=False)",
            f'keras.ops.cast(keras.ops.{name}(input, axis=dim, keepdims=keepdim), "int64")',
            equals("keepdim", False) | whole_numbers("dim"),
        )
    yield from _arranged_in_torch()
    for old, new in _FUNCTIONAL.items():
        yield rewrite(f"torch.nn.functional.{old}(input)", f"keras.ops.{new}(input)")
    for root in ("torch", "torch.nn.functional"):
        for name in ("softmax", "log_softmax"):
            yield rewrite(
                f"{root}.{name}(input, dim)",
                f"keras.ops.{name}(input, axis=dim)",
                whole_numbers("dim"),
            )
    functional = "torch.nn.functional"
    gelu = f"{functional}.gelu(input, approximate='none')"
    for word, value in (("none", False), ("tanh", True)):
        guard = equals("approximate", word)
        yield rewrite(gelu, f"keras.ops.gelu(input, approximate={value})", guard)
    yield rewrite(f"{functional}.elu(input, alpha=1.0)", "keras.ops.elu(input, alpha)")
    yield rewrite(
        f"{functional}.leaky_relu(input, negative_slope=0.01)",
        "keras.ops.leaky_relu(input, negative_slope)",
    )
    yield rewrite(
        f"{functional}.one_hot(tensor, num_classes)",
        'keras.ops.one_hot(tensor, num_classes, dtype="int64")',
        whole_numbers("num_classes"),
    )


def _arranged_in_torch() -> Iterator[Rewrite]:
    root, new = "torch", "keras.ops"
    for left, right in (
        ("reshape(input, shape)", "reshape(input, shape)"),
        ("permute(input, dims)", "transpose(input, dims)"),
        ("transpose(input, dim0, dim1)", "swapaxes(input, dim0, dim1)"),
        ("unsqueeze(input, dim)", "expand_dims(input, dim)"),
        ("cat(tensors, dim=0)", "concatenate(tensors, dim)"),
        ("concat(tensors, dim=0)", "concatenate(tensors, dim)"),
        ("stack(tensors, dim=0)", "stack(tensors, dim)"),
        ("where(condition, input, other)", "where(condition, input, other)"),
        ("einsum(equation, operand)", "einsum(equation, operand)"),
        ("einsum(equation, first, second)", "einsum(equation, first, second)"),
        ("flip(input, dims)", "flip(input, axis=dims)"),
        ("roll(input, shifts, dims)", "roll(input, shifts, axis=dims)"),
        ("tile(input, dims)", "tile(input, dims)"),
        ("broadcast_to(input, size)", "broadcast_to(input, size)"),
        ("bmm(input, mat2)", "matmul(input, mat2)"),
        ("triu(input, diagonal=0)", "triu(input, diagonal)"),
        ("tril(input, diagonal=0)", "tril(input, diagonal)"),
        ("pow(input, exponent)", "power(input, exponent)"),
        ("cumsum(input, dim)", "cumsum(input, axis=dim)"),
    ):
        yield rewrite(f"{root}.{left}", f"{new}.{right}")
    for name in ("clamp", "clip"):
        yield rewrite(
            f"{root}.{name}(input, min=None, max=None)",
            f"{new}.clip(input, min, max)",
            given("min", "max") & not_none("min") & not_none("max"),
        )


def _guarded(row: Rewrite) -> Rewrite:
    return rewrite(row.left, row.right, _HERE if row.when is None else row.when & _HERE)


_ALL: Final = tuple(map(_guarded, (*_of_jax(), *_of_torch())))
REWRITES: Final[tuple[Rewrite, ...]] = tuple(e for e in _ALL if e.left.partition("(")[0] in _RUN)
UNPROVEN: Final[tuple[Rewrite, ...]] = tuple(each for each in _ALL if each not in REWRITES)
"""The rows that are never safe."""
