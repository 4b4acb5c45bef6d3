"""Tensors that code of TensorFlow made itself: TensorFlow's, whatever backend Keras has."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.dataflow.uses import attributes_named
from kdoctor.syntax import Module

_MAX_VALUES = 256  # expressions that one value may come from; of more nobody is asked
_ROOT = "tensorflow."
_KERAS = "tensorflow.keras."


def is_made_by_tensorflow(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether an expression, or some value of a name, is what a function of TensorFlow gives.

    ``if not isinstance(x, tf.Tensor): x = tf.convert_to_tensor(x)``: after that it surely is.
    """
    if isinstance(node, cst.Name):
        return any(
            isinstance(each.value, cst.Call) and _is_of_tensorflow(module, each.value)
            for each in module.scope_of(node).bindings_of(node.value)
        )
    return isinstance(node, cst.Call) and _is_of_tensorflow(module, node)


def _is_of_tensorflow(module: Module, call: cst.Call) -> bool:
    name = module.qualified(call.func) or ""
    return name.startswith(_ROOT) and not name.startswith(_KERAS)


def calls_behind(module: Module, node: cst.BaseExpression) -> list[cst.Call]:
    """Return the calls of TensorFlow that a value may be, or may be calculated of by operators.

    Names and attributes are followed to all values that the file gives them; attributes are told
    apart by their names alone. Nothing is said of what functions of the file return.
    """
    values: list[cst.BaseExpression] = [node]
    found = []
    for each in values:  # it grows meanwhile
        if len(values) > _MAX_VALUES:
            break
        if isinstance(each, cst.Call):
            if _is_of_tensorflow(module, each):
                found.append(each)
        else:
            values += [value for value in _values(module, each) if value not in values]
    return found


def _values(module: Module, node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return what an expression without a call is, or is made of."""
    match node:
        case cst.Name():
            return [each.value for each in module.bindings_at(node) if each.value is not None]
        case cst.Attribute():
            parents = (module.parent(each) for each in attributes_named(module, node.attr.value))
            assigned = (
                module.parent(each) for each in parents if isinstance(each, cst.AssignTarget)
            )
            return [each.value for each in assigned if isinstance(each, cst.Assign)]
        case cst.Subscript(value=value) | cst.UnaryOperation(expression=value):
            return [value]
        case cst.BinaryOperation(left=one, right=other) | cst.IfExp(body=one, orelse=other):
            return [one, other]
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return [each.value for each in elements]
        case cst.ListComp(elt=value):
            return [value]
    return []
