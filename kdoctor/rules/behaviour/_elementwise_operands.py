"""Elementwise operations on targets and predictions in custom metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec import Struct
from msgspec.structs import replace

from kdoctor.analysis.calls import argument, binding_of
from kdoctor.analysis.dataflow.points_to import PointsTo
from kdoctor.analysis.tensors.constructors import NumberKind
from kdoctor.analysis.tensors.elements import numbers_in, numbers_of_scalar
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import own_nodes
from kdoctor.syntax.scopes import BindingKind

_MAX_DEPTH: Final = 16  # names and functions within each other
_CASTS: Final = frozenset({"cast", "to_double", "to_float", "to_int32", "to_int64"})
_ASKS: Final = frozenset({
    "equal", "greater", "greater_equal", "less", "less_equal", "not_equal",
})  # fmt: skip
_OF_ONE: Final = frozenset({
    *("abs", "clip", "clip_by_value", "exp", "floor", "identity", "log", "log1p", "negative"),
    *("relu", "round", "rint", "sigmoid", "sign", "sqrt", "square", "stop_gradient", "tanh"),
})  # fmt: skip
"""They leave the shape as it is; so do ``_CASTS``, and ``_ASKS`` of one tensor and a number."""
_ARRANGED: Final = frozenset({
    "batch_flatten", "expand_dims", "flatten", "permute_dimensions", "ravel", "reshape", "squeeze",
    "transpose",
})  # fmt: skip
"""They leave the numbers as they are."""
_OF_TWO: Final = frozenset({
    *("add", "divide", "div_no_nan", "divide_no_nan", "equal", "greater", "greater_equal", "less"),
    *("less_equal", "logical_and", "maximum", "minimum", "multiply", "not_equal"),
    *("squared_difference", "subtract", "truediv"),
})  # fmt: skip
"""They work on two tensors element by element."""
_HOMES: Final = frozenset({"backend", "ops"})


class Pair(Struct, frozen=True):
    """The parameters of a function that are the targets and the predictions."""

    function: cst.FunctionDef
    targets: cst.Param
    predictions: cst.Param


class ElementwiseUse(Struct, frozen=True):
    """An operation on both.

    ``by_element``: in the shapes that they have. ``mixes``: it wants one dtype of both, and the
    targets are in their own, the predictions in that of floats.
    """

    pair: Pair
    node: cst.BaseExpression
    by_element: bool
    mixes: bool


class _Side(Struct, frozen=True):
    """Of what an expression is made: in the dtype, and in the shape, that this has or not."""

    targets: bool = False
    predictions: bool = False
    is_cast: bool = False
    is_arranged: bool = False


_NEITHER: Final = _Side()


def first_meetings(module: Module, points_to: PointsTo, pair: Pair) -> Iterator[ElementwiseUse]:
    """Yield the first place in a function, and in each function of the file that it hands both."""
    waiting = [pair]
    seen = {pair.function}
    for each in waiting:  # it grows meanwhile
        looked_at = _Sides(module, each)
        found = [*looked_at.meetings()]
        for some in ([at for at in found if at.mixes], [at for at in found if at.by_element]):
            if some:
                yield min(some, key=lambda at: module.span(at.node))
        for inner in looked_at.handed_on(points_to):
            if inner.function not in seen:
                seen.add(inner.function)
                waiting.append(inner)


def _arranged(side: _Side) -> _Side:
    return side if side == _NEITHER else replace(side, is_arranged=True)


class _Sides:
    """What the expressions of one function are made of."""

    def __init__(self, module: Module, pair: Pair) -> None:
        self._module = module
        self._pair = pair
        self._known: dict[cst.CSTNode, _Side] = {}

    def meetings(self) -> Iterator[ElementwiseUse]:
        """Yield each operation on both."""
        for node in own_nodes(self._pair.function.body):
            parts = self._parts(node) if isinstance(node, cst.BaseExpression) else None
            if parts is None or not isinstance(node, cst.BaseExpression):
                continue
            sides = [self.of(each) for each in parts]
            targets = [each for each in sides if each.targets and not each.predictions]
            predictions = [each for each in sides if each.predictions and not each.targets]
            if len(targets) == len(predictions) == 1:
                mixes = not targets[0].is_cast and not predictions[0].is_cast
                by_element = not targets[0].is_arranged and not predictions[0].is_arranged
                if by_element or mixes:
                    mixes = mixes and self._is_strict(node)
                    yield ElementwiseUse(self._pair, node, by_element, mixes)

    def handed_on(self, points_to: PointsTo) -> Iterator[Pair]:
        """Yield the functions of the file that get both as they are."""
        for call in own_nodes(self._pair.function.body):
            function = points_to.function_called(call.func) if isinstance(call, cst.Call) else None
            if function is None or not isinstance(call, cst.Call):
                continue
            given = {each: points_to.passed(call, each) for each in function.params.params}
            targets = [each for each, value in given.items() if self._is(value, is_targets=True)]
            others = [each for each, value in given.items() if self._is(value, is_targets=False)]
            if len(targets) == len(others) == 1:
                yield Pair(function, targets[0], others[0])

    def of(self, node: cst.BaseExpression, depth: int = 0) -> _Side:
        """Return of what an expression is made."""
        if depth > _MAX_DEPTH:
            return _NEITHER
        if node not in self._known:
            self._known[node] = _NEITHER  # what leads back to itself is neither
            self._known[node] = self._found(node, depth + 1)
        return self._known[node]

    def _found(self, node: cst.BaseExpression, depth: int) -> _Side:
        match node:
            case cst.Name():
                return self._named(node, depth)
            case cst.UnaryOperation(operator=cst.Minus() | cst.Plus()):
                return self.of(node.expression, depth)
            case cst.BinaryOperation():
                return self._with_a_number(node.left, node.right, depth)
            case cst.Comparison(comparisons=[with_]):
                found = self._with_a_number(node.left, with_.comparator, depth)
                return _NEITHER if found == _NEITHER else replace(found, is_cast=True)
            case cst.Subscript():
                return _arranged(self.of(node.value, depth))
            case cst.Call():
                return self._called(node, depth)
        return _NEITHER

    def _named(self, node: cst.Name, depth: int) -> _Side:
        found: set[_Side] = set()
        for each in self._module.bindings_at(node):
            if each.node is self._pair.targets:
                found.add(_Side(targets=True))
            elif each.node is self._pair.predictions:
                found.add(_Side(predictions=True))
            elif each.kind is BindingKind.ASSIGN and each.value is not None and not each.path:
                found.add(self.of(each.value, depth))
            else:
                found.add(_NEITHER)
        return found.pop() if len(found) == 1 else _NEITHER

    def _with_a_number(
        self, left: cst.BaseExpression, right: cst.BaseExpression, depth: int
    ) -> _Side:
        sides = self.of(left, depth), self.of(right, depth)
        if sides[0] != _NEITHER and self._is_number(right):
            return sides[0]
        return sides[1] if self._is_number(left) else _NEITHER

    def _called(self, call: cst.Call, depth: int) -> _Side:
        name = self._function(call)
        given = argument(call, "x", 0) or argument(call, "tensor") or argument(call, "input")
        if name is None or given is None or given.star:
            return _NEITHER
        found = self.of(given.value, depth)
        numbers = [each.value for each in call.args if each is not given]
        if found == _NEITHER or name in _OF_ONE:
            return found
        if name in _CASTS:
            # Floats are what predictions are, whatever was asked of them.
            is_float = any(numbers_in(self._module, each) is NumberKind.FLOAT for each in numbers)
            return replace(found, is_cast=found.targets or not is_float)
        if name in _ASKS and all(map(self._is_number, numbers)):
            return replace(found, is_cast=True)
        return _arranged(found) if name in _ARRANGED else _NEITHER

    def _parts(self, node: cst.BaseExpression) -> list[cst.BaseExpression] | None:
        """Return the two that an operation works on."""
        match node:
            case cst.BinaryOperation():
                # `a @ b` is no such operation.
                is_by_element = not isinstance(node.operator, cst.MatrixMultiply)
                return [node.left, node.right] if is_by_element else None
            case cst.Comparison(left=left, comparisons=[with_]):
                return [left, with_.comparator]
            case cst.Call() if self._function(node) in _OF_TWO and len(node.args) >= 2:
                return [each.value for each in node.args[:2]]
        return None

    def _function(self, call: cst.Call) -> str | None:
        """Return the name of a function of Keras' backend, of ``keras.ops`` or of TensorFlow."""
        name = self._module.qualified(call.func)
        split = split_root(name) if name else None
        if name is None or (split is not None and split[1].partition(".")[0] not in _HOMES):
            return None
        is_known = split is not None or name.startswith("tensorflow.")
        return name.rpartition(".")[2] if is_known else None

    def _is_strict(self, node: cst.BaseExpression) -> bool:
        """Say whether an operation wants both in one dtype: operators, functions of TensorFlow."""
        if not isinstance(node, cst.Call):
            return True
        return (self._module.qualified(node.func) or "").startswith("tensorflow.") and (
            split_root(self._module.qualified(node.func) or "") is None
        )

    def _is_number(self, node: cst.BaseExpression) -> bool:
        if isinstance(node, cst.Call):
            return self._function(node) == "epsilon"
        if numbers_of_scalar(self._module, node) is not None:
            return True
        # `threshold=0.5` of this function, or of the one around it.
        bound = self._module.bindings_at(node) if isinstance(node, cst.Name) else ()
        return bool(bound) and all(
            isinstance(each.node, cst.Param)
            and each.node.default is not None
            and numbers_of_scalar(self._module, each.node.default) is not None
            for each in bound
        )

    def _is(self, node: cst.BaseExpression | None, *, is_targets: bool) -> bool:
        """Say whether it is the parameter itself."""
        wanted = self._pair.targets if is_targets else self._pair.predictions
        bound = binding_of(self._module, node)
        return bound is not None and bound.node is wanted
