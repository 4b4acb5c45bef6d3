"""Generate arguments of functions of JAX and PyTorch in code that Keras runs: KD816."""

from __future__ import annotations

from typing import Any

import numpy as np

from kdoctor.verify.generators import arrangement, shared, tensorflow
from kdoctor.verify.generators.scene import Scene, Strategy
from kdoctor.verify.values import FLOATS, Array

_REDUCING = (
    *("sum", "mean", "prod", "max", "min", "amax", "amin", "all", "any", "var", "std"),
    *("logsumexp", "softmax", "log_softmax"),
)
_ALONG_ONE = ("argmax", "argmin", "cumsum", "cumprod", "softmax", "log_softmax", "sort")
_OF_JAX = (
    *_REDUCING, *_ALONG_ONE, "reshape", "transpose", "expand_dims", "squeeze", "repeat", "roll",
    "swapaxes", "moveaxis", "ravel", "zeros_like", "ones_like", "full_like", "round", "diagonal",
    "absolute",
)  # fmt: skip
_OF_TORCH = (
    *_REDUCING, *_ALONG_ONE, "reshape", "permute", "transpose", "unsqueeze", "squeeze", "flip",
    "roll", "tile", "zeros_like", "ones_like", "clamp", "clip", "exp", "log", "sqrt", "square",
    "abs", "sin", "cos", "tan", "tanh", "sigmoid", "relu", "floor", "ceil", "round", "sign",
    "rsqrt", "isnan", "isinf", "isfinite", "log1p", "expm1", "neg", "reciprocal", "gelu",
    "softplus", "silu", "elu", "selu", "leaky_relu", "relu6", "softsign", "logsigmoid",
    "maximum", "minimum", "mul", "eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "div", "pow",
    "atan2", "logical_and", "logical_or", "broadcast_to", "triu", "tril", "unbind", "cosh", "sinh",
    "multiply", "subtract", "divide", "logical_not", "triu", "tril", "bmm", "erf", "absolute",
)  # fmt: skip
_LEFT_OUT = ("dtype", "out", "where", "initial", "ddof", "copy", "order")


def _activated(scene: Scene, parameter: str) -> Array:
    """Generate what an activation is given: whole numbers, which it refuses, only if any."""
    drawn = shared.x(scene, parameter)
    if drawn.data.size or drawn.dtype in FLOATS:
        return drawn
    return Array(drawn.data.astype("float32"), drawn.role)


def _two_axes(scene: Scene, _: str) -> int:
    return scene.an_axis()


def _pairs(scene: Scene, _: str) -> Any:
    if "pad_width" in scene.values or not scene.rank:
        return 1
    return [(scene.rng.choice([0, 1]), scene.rng.choice([0, 2])) for _ in range(scene.rank)]


def _bound(parameter: str) -> Strategy:
    return tensorflow.STRATEGIES[f"clip_by_value.clip_value_{parameter}"]


def _ordered(scene: Scene, _: str) -> Array:
    """Generate different numbers: of equal ones frameworks take another."""
    drawn = scene.array()
    data = scene.numbers.permutation(drawn.data.size).reshape(drawn.data.shape)
    return Array(np.asarray(data, drawn.data.dtype))


def _batches(scene: Scene, _: str) -> Array:
    scene.shape = (2, 3, 4)
    return scene.array()


def _other_batches(scene: Scene, _: str) -> Array:
    return scene.array((2, 4, 5))


def _sizes(scene: Scene, _: str) -> tuple[int, ...]:
    return scene.shape


_ACTIVATIONS = (
    *("relu", "relu6", "sigmoid", "softmax", "log_softmax", "gelu", "elu", "selu", "silu"),
    *("softplus", "leaky_relu", "tanh"),
)

STRATEGIES: dict[str, Strategy] = {
    **{f"{name}.a": shared.x for name in _OF_JAX},
    **{f"{name}.input": shared.x for name in _OF_TORCH},
    **{f"{name}.other": shared.like_x for name in _OF_TORCH},
    **{f"{name}.{each}": _activated for name in _ACTIVATIONS for each in ("x", "input")},
    **{f"{name}.dim": shared.axes for name in _REDUCING},
    **{f"{name}.axis": shared.axes for name in _REDUCING if name not in {"softmax", "log_softmax"}},
    **{f"{name}.dim": shared.axis for name in _ALONG_ONE},
    **{f"{name}.axis": shared.axis for name in _ALONG_ONE},
    **{f"{name}.keepdim": shared.flag for name in (*_REDUCING, *_ALONG_ONE)},
    **{
        f"{name}.{parameter}": shared.no_name
        for name in (*_REDUCING, *_ALONG_ONE, "zeros_like", "ones_like", "full_like")
        for parameter in _LEFT_OUT
    },
    **{f"{name}.input": _ordered for name in ("argmax", "argmin")},
    **{f"{name}.a": _ordered for name in ("argmax", "argmin")},
    "argmax.keepdims": shared.flag,
    "argmin.keepdims": shared.flag,
    "reshape.order": shared.no_name,
    "ravel.order": shared.no_name,
    "concatenate.arrays": tensorflow.STRATEGIES["concat.values"],
    "concatenate.dtype": shared.no_name,
    "stack.arrays": tensorflow.STRATEGIES["stack.values"],
    "stack.out": shared.no_name,
    "cat.tensors": tensorflow.STRATEGIES["concat.values"],
    "cat.dim": shared.axis,
    "concat.tensors": tensorflow.STRATEGIES["concat.values"],
    "concat.dim": shared.axis,
    "stack.tensors": tensorflow.STRATEGIES["stack.values"],
    "stack.dim": shared.new_axis,
    "transpose.axes": tensorflow.STRATEGIES["transpose.perm"],
    "permute.dims": tensorflow.STRATEGIES["transpose.perm"],
    "squeeze.a": arrangement.STRATEGIES["squeeze.x"],
    "squeeze.input": arrangement.STRATEGIES["squeeze.x"],
    "squeeze.dim": tensorflow.STRATEGIES["squeeze.axis"],
    "unsqueeze.dim": shared.new_axis,
    "tile.A": shared.x,
    "tile.reps": arrangement.STRATEGIES["tile.n"],
    "tile.dims": arrangement.STRATEGIES["tile.n"],
    "repeat.repeats": shared.count,
    "flip.m": shared.x,
    "flip.axis": shared.axes,
    "flip.dims": lambda scene, _: [scene.an_axis()],
    "roll.shifts": tensorflow.STRATEGIES["roll.shift"],
    "roll.dims": shared.axis,
    **{
        f"{name}.{parameter}": _two_axes
        for name in ("swapaxes", "moveaxis", "transpose")
        for parameter in ("axis1", "axis2", "source", "destination", "dim0", "dim1")
    },
    "broadcast_to.array": shared.x,
    "broadcast_to.size": tensorflow.STRATEGIES["broadcast_to.shape"],
    "pad.array": shared.x,
    "pad.pad_width": _pairs,
    "pad.mode": shared.no_name,
    "triu.m": tensorflow.STRATEGIES["matmul.a"],
    "tril.m": tensorflow.STRATEGIES["matmul.a"],
    "triu.input": tensorflow.STRATEGIES["matmul.a"],
    "tril.input": tensorflow.STRATEGIES["matmul.a"],
    "triu.diagonal": lambda scene, _: scene.rng.choice([0, 1, -1]),
    "tril.diagonal": lambda scene, _: scene.rng.choice([0, 1, -1]),
    "matmul.input": tensorflow.STRATEGIES["matmul.a"],
    "matmul.other": tensorflow.STRATEGIES["matmul.b"],
    "bmm.input": _batches,
    "bmm.mat2": _other_batches,
    "where.input": tensorflow.STRATEGIES["where.x"],
    "where.other": tensorflow.STRATEGIES["where.y"],
    "clip.arr": shared.x,
    **{
        f"{name}.{parameter}": _bound(parameter)
        for name in ("clip", "clamp")
        for parameter in ("min", "max")
    },
    "full.shape": _sizes,
    "full.fill_value": shared.number,
    "full.dtype": shared.no_name,
    "full_like.fill_value": shared.number,
    "eye.N": shared.count,
    "eye.M": shared.count,
    "eye.k": shared.no_name,
    "eye.dtype": shared.no_name,
    "one_hot.x": arrangement.STRATEGIES["one_hot.indices"],
    "one_hot.tensor": arrangement.STRATEGIES["one_hot.indices"],
    "round.decimals": shared.no_name,
    "round.out": shared.no_name,
    "zeros.device": shared.no_name,
    "leaky_relu.negative_slope": shared.number,
    "pow.exponent": lambda scene, _: scene.rng.choice([2, 3, 2.0, 0.5]),
    "gelu.approximate": shared.no_name,
    "inplace": shared.no_name,
    "diagonal.offset": shared.no_name,
    "diagonal.axis1": shared.no_name,
    "diagonal.axis2": shared.no_name,
    "logsumexp.b": shared.no_name,
}
