"""Escape analysis of list and dict displays: is the content still as written?"""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.dataflow.uses import reads_of
from kdoctor.memoize import once
from kdoctor.syntax import Module

Display = cst.List | cst.Tuple | cst.Dict

# Functions that change nothing, and methods.
_HARMLESS: Final = frozenset({
    "compile", "dict", "enumerate", "len", "list", "max", "min", "print", "range", "set", "sorted",
    "sum", "tuple", "zip", "Functional", "Model",
})  # fmt: skip
_LIBRARIES: Final = ("keras.", "numpy.", "tensorflow.")
_IN_PLACE: Final = "numpy.random."  # `shuffle`
_READ: Final = frozenset({"copy", "count", "get", "index", "items", "keys", "values"})


def unmutated_value_of(
    module: Module, node: cst.BaseExpression | None
) -> cst.BaseExpression | None:
    """Return ``value_of``; None for a list or dict that may have been mutated.

    ``losses = ["mse"]`` may grow by ``losses.append("mae")``, or in a function that gets it.
    """
    value = value_of(module, node)
    if value is node or not isinstance(value, cst.List | cst.Dict):
        return value
    assert isinstance(node, cst.Name)
    return value if _is_unmutated(module, module.bindings_at(node)[0].node) else None


def is_read_once(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether a display is read in one place only."""
    if not isinstance(node, cst.Name):
        return True
    return len(_reads(module, module.bindings_at(node)[0].node)) < 2


@once
def _reads(module: Module, bound: cst.CSTNode) -> tuple[cst.Name, ...]:
    return tuple(reads_of(module, bound))


@once
def _is_unmutated(module: Module, bound: cst.CSTNode) -> bool:
    return all(_changes_nothing(module, each) for each in _reads(module, bound))


def _changes_nothing(module: Module, read: cst.Name) -> bool:
    match parent := module.parent(read):
        case cst.Arg():
            call = module.parent(parent)
            return isinstance(call, cst.Call) and _is_harmless(module, call.func)
        case cst.Attribute(attr=cst.Name(value=member)):
            return parent.value is read and member in _READ
        case cst.Subscript():
            around = module.parent(parent)
            stores = isinstance(around, cst.AssignTarget | cst.AugAssign | cst.Del)
            return parent.value is not read or not stores
        case cst.For() | cst.CompFor():
            return parent.iter is read
        case cst.BinaryOperation():
            return True
        case cst.Comparison() | cst.ComparisonTarget() | cst.If() | cst.Expr():
            return True
        case cst.FormattedStringExpression():
            return True
    return False


def _is_harmless(module: Module, callee: cst.BaseExpression) -> bool:
    """Say whether a function changes no list that it is given."""
    name = callee.attr if isinstance(callee, cst.Attribute) else callee
    if isinstance(name, cst.Name) and name.value in _HARMLESS:
        return True
    dotted = module.qualified(callee) or ""
    return dotted.startswith(_LIBRARIES) and not dotted.startswith(_IN_PLACE)
