"""Expressions that compute with shapes: tensors of known shape, shapes themselves, and sizes.

`Values` evaluates what stands in a layer's ``call`` or ``compute_output_shape``, or where a model
is constructed. What it does not know is None, and nothing follows from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import is_builtin, is_hidden, passed, value_of
from kdoctor.analysis.tensors import function_shapes as functions
from kdoctor.analysis.tensors.known_shapes import Shape
from kdoctor.analysis.tensors.layer_shapes import made_by, merged_by, shape_of_input
from kdoctor.keras_api import split_root
from kdoctor.keras_api.tensorflow_aliases import by_the_short_way, ways_also_by_1
from kdoctor.syntax import Module
from kdoctor.syntax.displays import elements_of
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_MAX_DEPTH: Final = 40  # steps from name to name, and into expressions
_TENSOR_SHAPES: Final = ways_also_by_1("tensorflow.TensorShape")
_PACKAGES: Final = frozenset({"tensorflow", "tensorflow.math", "tensorflow.nn"})
_SHAPES_OF: Final = frozenset({"int_shape", "shape"})
_NUMBERS: Final[dict[type[cst.BaseBinaryOp], Callable[[int, int], int]]] = {
    cst.Add: int.__add__,
    cst.Subtract: int.__sub__,
    cst.Multiply: int.__mul__,
}
_BROADCASTING: Final = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power)


class Tensor(Struct, frozen=True):
    """A tensor."""

    shape: Shape


class Sizes(Struct, frozen=True):
    """A shape: a tuple or a list of sizes."""

    sizes: Shape
    is_list: bool = False


class Size(Struct, frozen=True):
    """One size, or another number; what it is, if known."""

    number: int | None = None


Value = Tensor | Sizes | Size


class RefusedError(Exception):
    """The code surely fails at this node, with this error of Python's."""

    def __init__(self, node: cst.CSTNode, error: str) -> None:
        super().__init__(error)
        self.node, self.error = node, error


class Values:
    """Evaluates expressions of one function, or of none.

    ``given``: what local names hold; ``of_self``: what an attribute of ``self`` is, a tensor or the
    call that created a layer.
    """

    def __init__(
        self,
        module: Module,
        given: Mapping[str, Value | None] = {},
        of_self: Callable[[str], Value | cst.Call | None] = lambda _: None,
    ) -> None:
        self._module = module
        self._of_self = of_self
        self.local: dict[str, Value | None] = dict(given)

    def of(self, node: cst.BaseExpression | None, depth: int = 0) -> Value | None:
        """Return what an expression is, None where that is not known.

        Raises:
            RefusedError: it surely fails.
        """
        if node is None or depth > _MAX_DEPTH:
            return None
        depth += 1
        match node:
            case cst.Name(value="None"):
                return Size()
            case cst.Name():
                return self._named(node, depth)
            case cst.Integer() | cst.Float() | cst.UnaryOperation(operator=cst.Minus()):
                return self._number(node, depth)
            case cst.Tuple() | cst.List():
                return self._display(node, depth)
            case cst.Attribute():
                return self._attribute(node, depth)
            case cst.Subscript():
                return self._taken(node, depth)
            case cst.BinaryOperation():
                return self._computed(node, depth)
            case cst.Call():
                return self._called(node, depth)
        return None

    def layer(self, function: cst.BaseExpression) -> cst.Call | None:
        """Return the call that creates the layer which is called: ``self.dense``, ``Dense(3)``."""
        match function:
            case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
                stored = self._of_self(name)
                return stored if isinstance(stored, cst.Call) else None
        made = value_of(self._module, function)
        return made if isinstance(made, cst.Call) else None

    def _named(self, node: cst.Name, depth: int) -> Value | None:
        if node.value in self.local:
            return self.local[node.value]
        found = value_of(self._module, node)
        return None if found is node else self.of(found, depth)

    def _number(self, node: cst.BaseExpression, depth: int) -> Value | None:
        value = literal(node)
        if type(value) in {int, float}:
            return Size(value if type(value) is int else None)
        inner = self.of(node.expression, depth) if isinstance(node, cst.UnaryOperation) else None
        return inner if isinstance(inner, Tensor) else None

    def _display(self, node: cst.Tuple | cst.List, depth: int) -> Value | None:
        """Return the shape that is written out: what begins with a size consists of sizes."""
        sizes: list[int | None] = []
        for each in node.elements:
            value = self.of(each.value, depth)
            if isinstance(each, cst.StarredElement):
                if not isinstance(value, Sizes):
                    return None
                sizes += value.sizes
            elif isinstance(value, Size):
                sizes.append(value.number)
            elif value is None and sizes:
                sizes.append(None)
            else:
                return None
        return Sizes(tuple(sizes), isinstance(node, cst.List)) if sizes else None

    def _attribute(self, node: cst.Attribute, depth: int) -> Value | None:
        match node:
            case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
                stored = self._of_self(name)
                return None if isinstance(stored, cst.Call) else stored
            case cst.Attribute(attr=cst.Name(value="shape")):
                owner = self.of(node.value, depth)
                return Sizes(owner.shape) if isinstance(owner, Tensor) else None
            case cst.Attribute(attr=cst.Name(value="rank" | "ndims" | "ndim")):
                owner = self.of(node.value, depth)
                if isinstance(owner, Tensor) and node.attr.value == "ndim":
                    return Size(len(owner.shape))
                return Size(len(owner.sizes)) if isinstance(owner, Sizes) else None
        return None

    # -- parts

    def _taken(self, node: cst.Subscript, depth: int) -> Value | None:
        owner = self.of(node.value, depth)
        if isinstance(owner, Sizes) and len(node.slice) == 1:
            return self._part(node, owner, node.slice[0].slice)
        if isinstance(owner, Tensor):
            return self._sliced(owner.shape, [each.slice for each in node.slice])
        return None

    def _part(self, node: cst.Subscript, owner: Sizes, part: cst.BaseSlice) -> Value | None:
        if isinstance(part, cst.Slice):
            bounds = _bounds(part)
            return Sizes(owner.sizes[bounds], owner.is_list) if bounds is not None else None
        assert isinstance(part, cst.Index)
        at = literal(part.value)
        if type(at) is not int:
            return Size()
        if not -len(owner.sizes) <= at < len(owner.sizes):
            kind = "list" if owner.is_list else "tuple"
            raise RefusedError(node, f"IndexError: {kind} index out of range")
        return Size(owner.sizes[at])

    def _sliced(self, shape: Shape, parts: list[cst.BaseSlice]) -> Value | None:
        """Return ``x[:, 0]``, ``x[..., None]``."""
        taken: list[int | None] = []
        left = list(shape)
        indices = [each.value if isinstance(each, cst.Index) else None for each in parts]
        new = [self._is_new_axis(each) for each in indices]
        for place, part in enumerate(parts):
            index = indices[place]
            if new[place]:
                taken.append(1)
            elif isinstance(index, cst.Ellipsis):
                behind = sum(not each for each in new[place + 1 :])
                count = len(left) - behind
                if count < 0:
                    return None
                taken += left[:count]
                left = left[count:]
            elif not left:
                return None
            elif isinstance(part, cst.Slice):
                taken.append(_size_of_slice(left.pop(0), part))
            elif type(literal(index)) is int:
                left.pop(0)
            else:
                return None
        return Tensor((*taken, *left))

    def _is_new_axis(self, index: cst.BaseExpression | None) -> bool:
        if isinstance(index, cst.Name) and index.value == "None":
            return True
        name = None if index is None else self._module.qualified(index)
        return name is not None and name.rpartition(".")[2] == "newaxis"

    # -- what is computed

    def _computed(self, node: cst.BinaryOperation, depth: int) -> Value | None:
        left, right = self.of(node.left, depth), self.of(node.right, depth)
        operator = type(node.operator)
        match left, right:
            case Sizes(), Sizes() if operator is cst.Add and left.is_list == right.is_list:
                return Sizes((*left.sizes, *right.sizes), left.is_list)
            case Size(), Size():
                known = left.number is not None and right.number is not None
                if known and operator in _NUMBERS:
                    return Size(_NUMBERS[operator](left.number, right.number))  # type: ignore[arg-type]
                return Size()
            case Tensor(), Tensor() if operator is cst.MatrixMultiply:
                return _tensor(functions.multiplied(left.shape, right.shape))
            case ((Tensor() | Size()), (Tensor() | Size())) if operator in _BROADCASTING:
                return Tensor(functions.broadcast(_shape(left) or (), _shape(right) or ()))
        return None

    def _called(self, call: cst.Call, depth: int) -> Value | None:
        if is_hidden(call):
            return None
        name = self._module.qualified(call.func)
        first = call.args[0].value if call.args else None
        if isinstance(call.func, cst.Name) and is_builtin(self._module, call.func):
            return self._builtin(call.func.value, first, depth)
        if name is None:
            return self._applied(call, first, depth)
        if name in _TENSOR_SHAPES:
            found = self.of(first, depth)
            return Sizes(found.sizes) if isinstance(found, Sizes) else None
        return self._of_library(call, by_the_short_way(name), depth)

    def _builtin(self, name: str, first: cst.BaseExpression | None, depth: int) -> Value | None:
        found = self.of(first, depth)
        if name == "int":
            return Size()
        if name == "len":
            return Size(len(found.sizes)) if isinstance(found, Sizes) else Size()
        if name in {"list", "tuple"} and isinstance(found, Sizes):
            return Sizes(found.sizes, name == "list")
        return None

    def _applied(
        self, call: cst.Call, first: cst.BaseExpression | None, depth: int
    ) -> Value | None:
        """Return what a layer makes of what it is called with."""
        layer = self.layer(call.func)
        if layer is None or first is None or call.args[0].keyword is not None:
            return None
        several = elements_of(value_of(self._module, first))
        if several is not None:
            shapes = [_shape(self.of(each, depth)) for each in several]
            known = [each for each in shapes if each is not None]
            return _tensor(
                merged_by(self._module, layer, known) if len(known) == len(shapes) else None
            )
        found = self.of(first, depth)
        if not isinstance(found, Tensor):
            return None
        return _tensor(made_by(self._module, layer, found.shape))

    def _of_library(self, call: cst.Call, name: str, depth: int) -> Value | None:
        package, _, leaf = name.rpartition(".")
        split = split_root(name)
        if leaf == "Input" and split is not None:
            made = self._module.type_of(call)
            is_one = made is not None and made.kind is Kind.TENSOR
            return _tensor(shape_of_input(self._module, call)) if is_one else None
        is_backend = split is not None and package.endswith(".backend")
        is_ops = split is not None and package.endswith(".ops")
        if not is_backend and not is_ops and package not in _PACKAGES:
            return None
        by_place = [each.value for each in call.args if each.keyword is None]
        first = by_place[0] if by_place else None
        if leaf == "epsilon":
            return Size()
        if leaf in _SHAPES_OF:
            found = self.of(first, depth)
            return Sizes(found.shape) if isinstance(found, Tensor) else None
        if leaf == "ndim" and is_backend:
            found = self.of(first, depth)
            return Size(len(found.shape)) if isinstance(found, Tensor) else None
        several = elements_of(value_of(self._module, first))
        if several is not None:
            absent = -1 if is_backend and leaf == "concatenate" else 0
            axis = literal(passed(call, "axis", 1), absent=absent)
            shapes = [_shape(self.of(each, depth)) for each in several]
            return _tensor(functions.of_several(leaf, shapes, axis))
        shapes = [_shape(self.of(each, depth)) for each in by_place]
        return _tensor(
            functions.of_function(self._module, call, leaf, shapes, is_backend=is_backend)
        )


def _shape(value: Value | None) -> Shape | None:
    match value:
        case Tensor(shape=shape):
            return shape
        case Size():
            return ()
    return None


def _tensor(shape: Shape | None) -> Tensor | None:
    return None if shape is None else Tensor(shape)


def _bounds(part: cst.Slice) -> slice | None:
    """Return what is taken, None where it is not written in numbers."""
    bounds = [literal(each, absent=None) for each in (part.lower, part.upper, part.step)]
    known = [each for each in bounds if each is None or type(each) is int]
    is_step = bounds[2] is None or bool(bounds[2])
    return slice(*known) if len(known) == len(bounds) and is_step else None


def _size_of_slice(size: int | None, part: cst.Slice) -> int | None:
    """Return how many items of an axis a slice takes."""
    bounds = _bounds(part)
    if bounds == slice(None, None, None):
        return size
    return None if bounds is None or size is None else len(range(size)[bounds])
