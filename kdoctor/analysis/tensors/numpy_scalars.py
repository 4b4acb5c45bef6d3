"""Expressions that surely are NumPy scalars or arrays: ``np.sqrt(2.0)``.

NumPy's numbers are no numbers of Python: an operator asks them first, and they ask the other side
for an array.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.queries.sorts import Site, Sort
from kdoctor.analysis.tensors.constructors import (
    CONVERTING,
    FLOATS_OF_NUMPY,
    INTS_OF_NUMPY,
    OF_A_SHAPE,
    ArrayForm,
    NumberKind,
)
from kdoctor.analysis.tensors.elements import is_number, kind_of_leaf
from kdoctor.analysis.tensors.rank import ranks_of
from kdoctor.analysis.tensors.shapes import is_shape_parameter
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts

_BUILD: Final = "build"
_MAX_DEPTH: Final = 8  # steps from name to name

_WORKED_OUT: Final = frozenset({
    *("arctan", "cbrt", "cos", "cosh", "deg2rad", "exp", "exp2", "expm1", "log", "log10", "log1p"),
    *("log2", "radians", "sin", "sinh", "sqrt", "tan", "tanh"),
})  # fmt: skip
"""They make floats of whatever they are given: of one number ``numpy.float64``."""
_IN_ONE: Final = frozenset({"prod", "product"})
"""They make one number of a shape."""
_FILLED: Final = frozenset({"ones", "zeros"})
_CONSTANTS: Final = frozenset({"math.e", "math.pi", "numpy.e", "numpy.pi"})
"""Floats of Python."""
MAKERS: Final = frozenset(
    f"numpy.{each}"
    for each in (
        *_WORKED_OUT,
        *FLOATS_OF_NUMPY,
        *INTS_OF_NUMPY,
        *_IN_ONE,
        *CONVERTING,
        *OF_A_SHAPE,
        "arange",
    )
)
"""The functions from whose results ``of_numpy`` starts."""


class NumpyScalars(Struct, frozen=True):
    """What NumPy made.

    ``is_one``: surely one number, or surely an array; None where it may be either. ``python`` is
    the type of Python's that a number is made by, "" where that is not known. ``is_double``: surely
    of 64 bits.
    """

    is_one: bool | None
    python: str = ""
    is_double: bool = False

    @property
    def yields_float64(self) -> bool:
        """Whether floats of 64 bits come of it where it is divided, or its root is taken."""
        return self.is_double or (self.is_one is True and self.python != "float")


_ARRAY: Final = NumpyScalars(is_one=False)


def of_numpy(module: Module, node: cst.BaseExpression, depth: int = 0) -> NumpyScalars | None:
    """Return what an expression surely is of NumPy's; None where it may be of another make."""
    if depth > _MAX_DEPTH:
        return None
    match node:
        case cst.Call():
            return _called(module, node, depth + 1)
        case cst.UnaryOperation(operator=cst.Minus() | cst.Plus()):
            return of_numpy(module, node.expression, depth + 1)
        case cst.BinaryOperation():
            return _operated(module, node, depth + 1)
        case cst.Name() if (value := value_of(module, node)) is not node:
            return of_numpy(module, value, depth + 1)
        case cst.Attribute():
            return _stored(module, node, depth + 1)
    return None


def _stored(module: Module, node: cst.Attribute, depth: int) -> NumpyScalars | None:
    """Return what ``self.x`` holds: what `build` puts there is there when `call` runs."""
    points_to = points_to_of(module)
    stored = [each for each, path in points_to.all_stored(node) if not path]
    if not stored or len(stored) < len(points_to.all_stored(node)):
        return None
    around = [(each, points_to.function_around(each)) for each in stored]
    names = ["" if method is None else method.name.value for _, method in around]
    last = [each for each, name in zip(stored, names, strict=True) if name != "__init__"]
    found = [of_numpy(module, each, depth) for each in (last if _BUILD in names else stored)]
    made = [each for each in found if each is not None]
    if len(made) < len(found):
        return None
    are_one, python = {each.is_one for each in made}, {each.python for each in made}
    return NumpyScalars(
        are_one.pop() if len(are_one) == 1 else None,
        python.pop() if len(python) == 1 else "",
        all(each.is_double for each in made),
    )


def _called(module: Module, call: cst.Call, depth: int) -> NumpyScalars | None:
    package, _, name = (module.qualified(call.func) or "").rpartition(".")
    if package != "numpy" or not call.args or call.args[0].star:
        return None
    first = call.args[0].value
    if name in _WORKED_OUT | FLOATS_OF_NUMPY.keys() | INTS_OF_NUMPY and len(call.args) == 1:
        if module.type_of(first) is not None:
            return None  # what comes of tensors and weights is another question
        inner = of_numpy(module, first, depth)
        is_one = inner.is_one if inner is not None else _is_number(module, first) or None
        if name in _WORKED_OUT:
            is_double = is_one is True if inner is None else inner.yields_float64
            return NumpyScalars(is_one, "float", is_double)
        is_double = FLOATS_OF_NUMPY.get(name, False)
        return NumpyScalars(is_one, "int" if name in INTS_OF_NUMPY else "float", is_double)
    if name in _IN_ONE and len(call.args) == 1 and module.type_of(first) is None:
        return NumpyScalars(is_one=True)
    found = ranks_of(module).of(call)
    if found is None or found.form is not ArrayForm.ARRAY or not found.axes:
        return None
    is_double = name in _FILLED and len(call.args) == 1
    return NumpyScalars(is_one=False, is_double=is_double) if is_double else _ARRAY


def _operated(module: Module, node: cst.BinaryOperation, depth: int) -> NumpyScalars | None:
    """Return what comes of two things of NumPy, or of one and a number of Python."""
    sides = (node.left, node.right)
    found = [of_numpy(module, each, depth) for each in sides]
    made = [each for each in found if each is not None]
    if not made or any(
        one is None and not _is_number(module, side) for one, side in zip(found, sides, strict=True)
    ):
        return None
    is_one = None if any(each.is_one is None for each in made) else all(e.is_one for e in made)
    kinds = {each.python for each in made}
    divides = isinstance(node.operator, cst.Divide)
    is_float = "float" in kinds or divides
    is_double = any(each.yields_float64 if divides else each.is_double for each in made)
    return NumpyScalars(is_one, "float" if is_float else "", is_double)


def _is_number(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it surely is one number of Python's."""
    return is_number(module, node, _kind_of_leaf)


def _kind_of_leaf(module: Module, node: cst.BaseExpression) -> NumberKind | None:
    match node:
        case cst.Attribute():
            return NumberKind.FLOAT if module.qualified(node) in _CONSTANTS else None
        case cst.Subscript(
            value=cst.Name() as shape, slice=[cst.SubscriptElement(slice=cst.Index())]
        ) if is_shape_parameter(module, shape):
            return NumberKind.INT
    return kind_of_leaf(module, node)


def _may_be_one(site: Site, node: ast.expr) -> bool:
    waiting: list[ast.expr | None] = [node]
    seen: set[tuple[type[ast.AST], str]] = set()  # names, and attributes
    known = _of_no_numpy(site.quick)
    for each in waiting:  # it grows meanwhile
        match each:
            case ast.Call(func=function):
                if not MAKERS.isdisjoint(site.quick.meant_by(function)):
                    return True
            case ast.UnaryOp(operand=inner):
                waiting.append(inner)
            case ast.BinOp(left=left, right=right):
                waiting += (left, right)
            case ast.Name(id=name) | ast.Attribute(attr=name):
                key = each.__class__, name
                if key not in seen and key not in known:
                    seen.add(key)
                    waiting += _values(site, each)
    known |= seen
    return False


@once  # each operator of a file asks it
def _of_no_numpy(_: QuickFacts) -> set[tuple[type[ast.AST], str]]:
    """Return the names and attributes that surely hold nothing of NumPy's, as far as asked."""
    return set()


def _values(site: Site, node: ast.Name | ast.Attribute) -> Iterable[ast.expr | None]:
    if isinstance(node, ast.Name):
        return site.quick.values_of(node)
    return [each.value for each in site.possible.symbol_table.stores.get(node.attr, ())]


OF_NUMPY: Final = Sort(lambda module, node: of_numpy(module, node) is not None, _may_be_one)
"""What surely is of NumPy's."""
