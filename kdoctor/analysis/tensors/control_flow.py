"""Python control flow that may depend on tensors: only AutoGraph makes operations of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_TENSORS: Final = (Kind.TENSOR, Kind.EAGER, Kind.VARIABLE)
_ASK_PYTHON: Final = frozenset({"callable", "getattr", "hasattr", "isinstance", "len", "type"})
_WRAP: Final = frozenset({"enumerate", "range", "reversed", "zip"})
# What is known before anything runs.
_STATIC: Final = frozenset({"dtype", "ndim", "rank", "shape"})
_IDENTITY: Final = (cst.Is, cst.IsNot)


def may_need_autograph(module: Module, function: cst.FunctionDef) -> bool:
    """Say whether a branch or loop of a function may depend on the value of a tensor.

    In what it calls of the same file, too: AutoGraph converts that with it.
    """
    points_to = points_to_of(module)
    waiting = [function]
    for each in waiting:  # it grows meanwhile
        if any(_may_be_a_tensor(module, asked) for asked in _asked(each)):
            return True
        for call in descendants(each.body):
            called = points_to.function_called(call.func) if isinstance(call, cst.Call) else None
            if called is not None and called not in waiting:
                waiting.append(called)
    return False


def _asked(function: cst.FunctionDef) -> Iterator[cst.BaseExpression]:
    """Yield what decides how a function goes on."""
    for node in descendants(function.body):
        match node:
            case cst.If(test=asked) | cst.While(test=asked) | cst.IfExp(test=asked):
                yield asked
            case cst.Assert(test=asked) | cst.For(iter=asked) | cst.CompFor(iter=asked):
                yield asked
            case cst.BooleanOperation(left=left, right=right):
                yield from (left, right)


def _may_be_a_tensor(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether an expression may be a tensor, or may ask one for its truth."""
    match node := value_of(module, node):
        case cst.Integer() | cst.Float() | cst.SimpleString():
            return False
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=operator)]) if isinstance(
            operator, _IDENTITY
        ):
            return False
        case cst.Call(func=cst.Name(value=name)) if name in _ASK_PYTHON:
            return False
        case cst.Call(func=cst.Name(value=name), args=args) if name in _WRAP:
            return any(_may_be_a_tensor(module, each.value) for each in args)
        case cst.Comparison(left=left, comparisons=others):
            parts = [left, *(each.comparator for each in others)]
            return any(_may_be_a_tensor(module, each) for each in parts)
        case cst.BooleanOperation(left=left, right=right):
            return _may_be_a_tensor(module, left) or _may_be_a_tensor(module, right)
        case cst.UnaryOperation(expression=operand):
            return _may_be_a_tensor(module, operand)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return any(_may_be_a_tensor(module, each.value) for each in elements)
    return not _is_python(module, node)


def _is_python(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it is ``self.blocks`` or ``x.shape[0]``, and not known as a tensor."""
    found = module.type_of(node)
    if found is not None and found.kind in _TENSORS:
        return False
    while isinstance(node, cst.Attribute | cst.Subscript):
        if isinstance(node, cst.Attribute) and node.attr.value in _STATIC:
            return True
        node = node.value
        if isinstance(node, cst.Name) and node.value == "self":
            return True
    return False
