"""What functions of TensorFlow, `keras.ops` and `keras.backend` make of the shapes of tensors.

A function is known by the last part of its name: ``tensorflow.math.reduce_sum`` as ``reduce_sum``.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_hidden, passed
from kdoctor.analysis.tensors.known_shapes import Shape, sizes_in, with_axis
from kdoctor.analysis.tensors.layer_shapes import joined
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal

OF_EACH_ELEMENT: Final = frozenset({
    "abs", "cast", "ceil", "clip", "clip_by_value", "cos", "elu", "exp", "floor", "gelu",
    "identity", "l2_normalize", "leaky_relu", "log", "log_softmax", "neg", "negative", "ones_like",
    "relu", "relu6", "round", "selu", "sigmoid", "sign", "silu", "sin", "softmax", "softplus",
    "softsign", "sqrt", "square", "stop_gradient", "swish", "tanh", "zeros_like",
})  # fmt: skip
"""What comes out has the shape of the first argument."""
OF_TWO: Final = frozenset({
    "add", "divide", "maximum", "minimum", "multiply", "pow", "subtract",
})  # fmt: skip
"""Both arguments are broadcast."""
REDUCING: Final = frozenset({
    "all", "any", "logsumexp", "max", "mean", "min", "prod", "reduce_all", "reduce_any",
    "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_std",
    "reduce_sum", "reduce_variance", "std", "sum", "var",
})  # fmt: skip
"""``axis`` is the second argument, ``keepdims`` the third."""
_KEYWORDS: Final = frozenset({"axis", "keepdims", "name", "x", "a", "b", "dtype", "y"})


def broadcast(one: Shape, other: Shape) -> Shape:
    """Return the shape of what is computed of two tensors element by element.

    >>> broadcast((None, 3), (4, 1, 3)), broadcast((2, 3), ())
    ((4, None, 3), (2, 3))
    """
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    first = len(longer) - len(shorter)
    both = zip(longer[first:], shorter, strict=True)
    return (*longer[:first], *(_wider(*each) for each in both))


def _wider(one: int | None, other: int | None) -> int | None:
    if other in {one, 1}:
        return one
    if one == 1:
        return other
    known = [each for each in (one, other) if each is not None]
    return known[0] if len(known) == 1 else None  # what is not known is that, or 1


def multiplied(one: Shape, other: Shape) -> Shape | None:
    """Return the shape of ``one @ other``; None for vectors.

    >>> multiplied((None, 4, 3), (3, 5))
    (None, 4, 5)
    """
    if len(one) < 2 or len(other) < 2:
        return None
    return (*broadcast(one[:-2], other[:-2]), one[-2], other[-1])


def dot(one: Shape, other: Shape) -> Shape | None:
    """Return the shape of ``keras.backend.dot(one, other)``; None for vectors."""
    if len(one) < 2 or len(other) < 2:
        return None
    return (*one[:-1], *other[:-2], other[-1])


def reduced(given: Shape, axis: object, keepdims: object) -> Shape | None:
    """Return the shape of a sum over some axes; None where they are not known or not there."""
    axes = tuple(axis) if isinstance(axis, list | tuple) else (axis,)
    if axis is None:
        axes = tuple(range(len(given)))
    count = len(given)
    if type(keepdims) is not bool:
        return None
    at = [each % count for each in axes if type(each) is int and -count <= each < count]
    if len(at) != len(axes):
        return None
    if keepdims:
        return tuple(1 if place in at else size for place, size in enumerate(given))
    return tuple(size for place, size in enumerate(given) if place not in at)


def of_function(
    module: Module, call: cst.Call, leaf: str, given: list[Shape | None], *, is_backend: bool
) -> Shape | None:
    """Return what a function makes; ``given`` are the shapes of its arguments by position."""
    first = given[0] if given else None
    if first is None or is_hidden(call):
        return None
    keywords = {each.keyword.value for each in call.args if each.keyword is not None}
    if leaf in OF_EACH_ELEMENT:
        return first
    if leaf in REDUCING:
        axis = literal(passed(call, "axis", 1), absent=None)
        keepdims = literal(passed(call, "keepdims", 2), absent=False)
        return reduced(first, axis, keepdims) if keywords <= _KEYWORDS else None
    second = given[1] if len(given) > 1 else None
    if second is not None and leaf in OF_TWO:
        return broadcast(first, second)
    if second is not None and leaf == "dot":
        return dot(first, second) if is_backend else None
    if second is not None and leaf == "matmul" and keywords <= {"name"}:
        return multiplied(first, second)
    return _of_axes(module, call, leaf, first, is_backend=is_backend)


def _of_axes(
    module: Module, call: cst.Call, leaf: str, first: Shape, *, is_backend: bool
) -> Shape | None:
    match leaf:
        case "expand_dims":
            absent = -1 if is_backend else None
            return with_axis(first, literal(passed(call, "axis", 1), absent=absent))
        case "squeeze":
            axis = literal(passed(call, "axis", 1), absent=None)
            return None if axis is None else reduced(first, axis, keepdims=False)
        case "reshape":
            shape = passed(call, "shape", 1) or passed(call, "newshape")
            written = None if shape is None else _written(module, shape)
            return written and tuple(None if each == -1 else each for each in written)
        case "batch_flatten" | "flatten" if is_backend:
            return (first[0], None) if leaf == "batch_flatten" else (None,)
        case "transpose" | "permute_dimensions" if len(first) > 1:
            return tuple(None for _ in first)
    return None


def of_several(leaf: str, given: list[Shape | None], axis: object) -> Shape | None:
    """Return what ``concat`` and ``stack`` make of the tensors in a list."""
    known = [each for each in given if each is not None]
    if not given or len(known) != len(given) or len({len(each) for each in known}) != 1:
        return None
    if leaf in {"concat", "concatenate"}:
        return joined(known, axis)
    return with_axis(known[0], axis, len(known)) if leaf == "stack" else None


def _written(module: Module, shape: cst.BaseExpression) -> Shape | None:
    return sizes_in(module, shape) if isinstance(shape, cst.Tuple | cst.List) else None
