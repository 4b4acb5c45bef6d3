"""Shapes of arrays: how long each axis is, as far as the file tells.

An axis of unknown length is None. Lists, what NumPy and TensorFlow make of them or of a shape, and
what keeps or changes a shape are read; of anything else the number of axes is what ``rank`` knows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_builtin, is_hidden, passed, value_of
from kdoctor.analysis.dataflow.escapes import unmutated_value_of
from kdoctor.analysis.dataflow.possible_values import values_passed_to
from kdoctor.analysis.tensors import constructors as makers
from kdoctor.analysis.tensors.elements import numbers_of_scalar
from kdoctor.analysis.tensors.rank import ranks_of
from kdoctor.keras_api.tensorflow_aliases import by_the_short_way
from kdoctor.syntax import Module
from kdoctor.syntax.displays import elements_of
from kdoctor.syntax.literals import literal

Shape = tuple[int | None, ...]
"""The length of each axis, None where it is not known."""

_MAX_DEPTH: Final = 12
_OF_TENSORFLOW: Final = frozenset({
    *("cast", "constant", "convert_to_tensor", "expand_dims", "eye", "ones", "reshape", "zeros"),
})  # fmt: skip
"""Functions of TensorFlow that take a shape, or what has one, as those of NumPy do."""
_CONVERTING: Final = makers.CONVERTING | {"constant", "convert_to_tensor"}
_OF_A_SHAPE: Final = {
    **{name: ("size" if name.startswith("random.") else "shape", 0) for name in makers.OF_A_SHAPE},
    **{name: ("size", place) for name, (place, _) in makers.OF_A_SIZE.items()},
}
_POINTS: Final = 50  # of `numpy.linspace`, where nothing is said
_OPERATORS: Final[dict[type[cst.BaseBinaryOp], Callable[[int, int], int]]] = {
    cst.Add: int.__add__,
    cst.Subtract: int.__sub__,
    cst.Multiply: int.__mul__,
}
_ARITHMETIC: Final = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power)


def shape_of(module: Module, node: cst.BaseExpression, depth: int = 0) -> Shape | None:
    """Return the shape of an array or of nested lists, None where its rank is not known."""
    found = _written(module, node, depth + 1) if depth < _MAX_DEPTH else None
    if found is not None:
        return found
    ranked = ranks_of(module).of(node)
    is_array = ranked is not None and ranked.form is makers.ArrayForm.ARRAY
    return (None,) * ranked.axes if ranked is not None and is_array and ranked.axes else None


def size_of(module: Module, node: cst.BaseExpression, depth: int = 0) -> int | None:
    """Return the whole number that an expression is, None where that is not known."""
    if depth > _MAX_DEPTH:
        return None
    value = value_of(module, node)
    match value:
        case cst.BinaryOperation(operator=operator) if type(operator) in _OPERATORS:
            left, right = (size_of(module, e, depth + 1) for e in (value.left, value.right))
            if left is None or right is None:
                return None
            return _OPERATORS[type(operator)](left, right)
        case cst.Call(func=cst.Name(value="len") as function, args=[cst.Arg(value=counted)]):
            shape = shape_of(module, counted, depth + 1) if is_builtin(module, function) else None
            return shape[0] if shape else None
    told = literal(value)
    return told if type(told) is int else None


def sizes_in(module: Module, node: cst.BaseExpression) -> Shape | None:
    """Return the shape that is passed as one: ``(n, 3)``, ``[4]`` or, for one axis, ``n``."""
    value = unmutated_value_of(module, node)
    elements = elements_of(value)
    if value is not None and elements is not None:
        return tuple(size_of(module, each) for each in elements)
    size = size_of(module, node)
    is_one = size is not None or numbers_of_scalar(module, node) is makers.NumberKind.INT
    return (size,) if is_one else None


def _written(module: Module, node: cst.BaseExpression, depth: int) -> Shape | None:
    value = unmutated_value_of(module, node)
    if value is not None and numbers_of_scalar(module, value):
        return ()
    match value:
        case cst.List() | cst.Tuple():
            return _of_display(module, value, depth)
        case cst.ListComp(for_in=cst.CompFor(inner_for_in=None, ifs=[])):
            inner = shape_of(module, value.elt, depth)
            return None if inner is None else (_steps(module, value.for_in.iter), *inner)
        case cst.Call():
            return _called(module, value, depth)
        case cst.Attribute(attr=cst.Name(value="T")):
            found = shape_of(module, value.value, depth)
            return None if found is None else found[::-1]
        case cst.BinaryOperation():
            return _worked_out(module, value, depth)
        case cst.Subscript():
            return _with_new_axes(module, value, depth)
        case cst.Name() if given := values_passed_to(module, value):
            shapes = {shape_of(module, each, depth) for each in given}
            return shapes.pop() if len(shapes) == 1 else None
    return None


def _of_display(module: Module, display: cst.List | cst.Tuple, depth: int) -> Shape | None:
    elements = elements_of(display)
    if not elements:
        return None
    inner = {shape_of(module, each, depth) for each in elements}
    return _behind(len(elements), inner)


def _behind(first: int | None, inner: Iterable[Shape | None]) -> Shape | None:
    """Return the shape of a list of parts that have one shape."""
    shapes = set(inner)
    shape = shapes.pop()
    return None if shapes or shape is None else (first, *shape)


def _steps(module: Module, looped: cst.BaseExpression) -> int | None:
    """Return how often a loop over ``range(n)`` runs."""
    match looped:
        case cst.Call(func=cst.Name(value="range") as function, args=[cst.Arg(value=stop)]):
            return size_of(module, stop) if is_builtin(module, function) else None
    return None


def _worked_out(module: Module, node: cst.BinaryOperation, depth: int) -> Shape | None:
    """Return the shape of ``[0.0] * 4``, or of an array that a number is added to."""
    left, right = (shape_of(module, each, depth) for each in (node.left, node.right))
    repeated = unmutated_value_of(module, node.left)
    if isinstance(repeated, cst.List):
        if not isinstance(node.operator, cst.Multiply) or left is None or right != ():
            return None
        times = size_of(module, node.right)
        return (None if times is None or left[0] is None else left[0] * times, *left[1:])
    if not isinstance(node.operator, _ARITHMETIC) or left is None or right is None:
        return None
    if isinstance(unmutated_value_of(module, node.right), cst.List | cst.Tuple):
        return None
    return left or right if () in (left, right) else None


def _with_new_axes(module: Module, node: cst.Subscript, depth: int) -> Shape | None:
    """Return the shape of ``x[:, None]``, ``x[:, np.newaxis]``: whole axes, and new ones."""
    left = shape_of(module, node.value, depth)
    taken: Shape = ()
    for each in node.slice:
        match each.slice:
            case cst.Slice(lower=None, upper=None, step=None) if left:
                taken, left = (*taken, left[0]), left[1:]
            case cst.Index(value=cst.Name(value="None")):
                taken = (*taken, 1)
            case cst.Index(value=index) if (module.qualified(index) or "").endswith(".newaxis"):
                taken = (*taken, 1)
            case _:
                return None
    return None if left is None else (*taken, *left)


def _called(module: Module, call: cst.Call, depth: int) -> Shape | None:
    if is_hidden(call):
        return None
    name = module.qualified(call.func)
    if name is None:
        return _method(module, call, depth)
    package, _, function = by_the_short_way(name).partition(".")
    if package == "numpy" or (package == "tensorflow" and function in _OF_TENSORFLOW):
        return _of_library(module, call, function, depth)
    return None


def _of_library(module: Module, call: cst.Call, name: str, depth: int) -> Shape | None:
    given = [each.value for each in call.args if each.keyword is None]
    keywords = {each.keyword.value for each in call.args if each.keyword is not None}
    first = given[0] if given else None
    if name in _OF_A_SHAPE:
        shape = passed(call, *_OF_A_SHAPE[name])
        return None if shape is None else sizes_in(module, shape)
    if name in makers.OF_EACH_AXIS:
        return tuple(size_of(module, each) for each in given) or None
    if name in {"eye", "identity"}:
        return _square(module, given) if keywords <= {"dtype"} else None
    if first is None:
        return None
    if name == "arange":
        return (size_of(module, first) if len(given) == 1 and keywords <= {"dtype"} else None,)
    if name == "linspace":
        points = passed(call, "num", 2)
        return (_POINTS if points is None else size_of(module, points),)
    if name in _CONVERTING and keywords <= {"dtype", "name"}:
        return shape_of(module, first, depth)
    if name == "constant" and keywords <= {"dtype", "name", "shape"}:
        shape = passed(call, "shape")
        return None if shape is None else sizes_in(module, shape)
    if name in makers.ELEMENTWISE or name in {"cast", *makers.FLOATS_OF_NUMPY}:
        return shape_of(module, first, depth)
    if name == "expand_dims":
        found = shape_of(module, first, depth)
        return found and with_axis(found, literal(passed(call, "axis", 1)))
    if name == "reshape" and len(given) == 2:
        return _reshaped(shape_of(module, first, depth), sizes_in(module, given[1]))
    if name == "ravel":
        return _reshaped(shape_of(module, first, depth), (-1,))
    return None


def _square(module: Module, given: Sequence[cst.BaseExpression]) -> Shape | None:
    sizes = [size_of(module, each) for each in given]
    return (sizes[0], sizes[-1]) if len(sizes) in {1, 2} else None


def _method(module: Module, call: cst.Call, depth: int) -> Shape | None:
    if not isinstance(call.func, cst.Attribute):
        return None
    name, owner = call.func.attr.value, call.func.value
    given = [each.value for each in call.args if each.keyword is None]
    found = shape_of(module, owner, depth)
    if name in {"astype", "copy", "numpy"}:
        return found
    if name in {"flatten", "ravel"}:
        return _reshaped(found, (-1,))
    if name == "transpose" and not call.args:
        return None if found is None else found[::-1]
    if name != "reshape" or len(given) != len(call.args) or not given:
        return None
    if len(given) == 1:  # a shape, or the only size
        return _reshaped(found, sizes_in(module, given[0]))
    return _reshaped(found, tuple(size_of(module, each) for each in given))


def _reshaped(found: Shape | None, sizes: Shape | None) -> Shape | None:
    """Return the shape that ``reshape`` makes; -1 is what is left of all elements."""
    if sizes is None or -1 not in sizes:
        return sizes
    others = [each for each in sizes if each != -1]
    count = None if found is None else count_of(found)
    product = count_of(others)
    left = None if count is None or not product else count // product
    return tuple(left if each == -1 else each for each in sizes)


def differ(one: Shape, other: Shape) -> bool:
    """Say whether two shapes surely are not those of one tensor."""
    return len(one) != len(other) or any(
        None not in pair and pair[0] != pair[1] for pair in zip(one, other, strict=True)
    )


def with_axis(given: Shape, axis: object, size: int | None = 1) -> Shape | None:
    """Return the shape with one axis more.

    >>> with_axis((None, 3), -1), with_axis((None, 3), 0)
    ((None, 3, 1), (1, None, 3))
    """
    count = len(given) + 1
    if type(axis) is not int or not -count <= axis < count:
        return None
    return (*given[: axis % count], size, *given[axis % count :])


def count_of(shape: Sequence[int | None]) -> int | None:
    """Return how many elements an array of this shape has."""
    known = [each for each in shape if each is not None]
    return math.prod(known) if len(known) == len(shape) else None
