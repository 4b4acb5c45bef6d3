"""TensorFlow functions that take from ``keras.ops``, or give to it: on tensors of any backend."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module

_MAX_DEPTH: Final = 12
_OPS: Final = "ops."
_NO_TENSORS: Final = frozenset({"convert_to_numpy", "is_tensor", "ndim", "shape", "size"})


def is_mixed_with_keras(module: Module, node: cst.CSTNode) -> bool:
    """Say whether a call works with what ``keras.ops`` returns, or its result goes there.

    Such code means to run on any backend: ``keras.ops.sqrt(tf.math.atan2(y, x))``.
    """
    call = _call_of(module, node)
    if call is None:
        return False
    return _goes_to_keras(module, call) or any(
        _comes_from_keras(module, each.value, _MAX_DEPTH) for each in call.args
    )


def _call_of(module: Module, node: cst.CSTNode) -> cst.Call | None:
    """Return the call of which a node is the function."""
    parent = node if isinstance(node, cst.Call) else module.parent(node)
    is_called = isinstance(parent, cst.Call) and node in (parent, parent.func)
    return parent if is_called and isinstance(parent, cst.Call) else None


def _goes_to_keras(module: Module, node: cst.CSTNode) -> bool:
    parent = module.parent(node)
    while isinstance(parent, cst.BinaryOperation | cst.UnaryOperation) or (
        isinstance(parent, cst.Subscript) and parent.value is node
    ):
        node, parent = parent, module.parent(parent)
    if not isinstance(parent, cst.Arg):
        return False
    taken_by = module.parent(parent)
    return isinstance(taken_by, cst.Call) and _is_of_keras(module, taken_by)


def _comes_from_keras(module: Module, node: cst.BaseExpression, depth: int) -> bool:
    if depth == 0:
        return False
    match node:
        case cst.Call():
            return _is_of_keras(module, node)
        case cst.BinaryOperation(left=left, right=right):
            return _comes_from_keras(module, left, depth - 1) or _comes_from_keras(
                module, right, depth - 1
            )
        case cst.UnaryOperation(expression=inner) | cst.Subscript(value=inner):
            return _comes_from_keras(module, inner, depth - 1)
        case cst.Name():
            value = value_of(module, node)
            return value is not node and _comes_from_keras(module, value, depth - 1)
    return False


def _is_of_keras(module: Module, call: cst.Call) -> bool:
    split = split_root(module.qualified(call.func) or "")
    return (
        split is not None
        and split[1].startswith(_OPS)
        and split[1].rpartition(".")[2] not in _NO_TENSORS
    )
