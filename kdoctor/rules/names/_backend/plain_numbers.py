"""Which expressions are numbers of Python or arrays of NumPy, which `K.get_value` gave back."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.dataflow.alternatives import may_be, value_of_binding
from kdoctor.syntax import Module

_MAKERS = frozenset({"float", "int", "len"})
_MAX_DEPTH = 8  # steps from name to name


def is_plain_number(module: Module, node: cst.BaseExpression, steps: int = _MAX_DEPTH) -> bool:
    """Say whether it surely is a number of Python's own."""
    match node:
        case cst.BaseNumber():
            return True
        case cst.UnaryOperation(operator=cst.Minus() | cst.Plus(), expression=inner):
            return is_plain_number(module, inner, steps)
        case cst.BinaryOperation(left=left, right=right):
            return is_plain_number(module, left, steps) and is_plain_number(module, right, steps)
        case cst.IfExp(body=body, orelse=orelse):
            return is_plain_number(module, body, steps) and is_plain_number(module, orelse, steps)
        case cst.Call(func=cst.Name(value=name) as function):
            return name in _MAKERS and is_maker(module, function)
        case cst.Name() if steps:
            bindings = module.bindings_at(node)
            values = [value_of_binding(each) for each in bindings]
            return bool(values) and all(
                value is not None and is_plain_number(module, value, steps - 1) for value in values
            )
    return False


def may_be_plain_number(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether something tells that it may be one: one of the values that a name has, a default.

    Of most expressions nothing does.
    """
    return may_be(module, node, is_plain_number)


def may_be_array(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether something tells that it may be a NumPy array: a function of NumPy makes it."""
    return may_be(module, node, _is_array)


def _is_array(module: Module, node: cst.BaseExpression) -> bool:
    if not isinstance(node, cst.Call):
        return False
    return (module.qualified(node.func) or "").startswith("numpy.")


def becomes_plain_number(module: Module, call: cst.Call) -> bool:
    """Say whether what a call gives goes into ``float(…)`` or ``int(…)`` at once."""
    argument = module.parent(call)
    around = None if argument is None else module.parent(argument)
    match around:
        case cst.Call(func=cst.Name(value="float" | "int") as function):
            return around.func is not argument and is_maker(module, function)
    return False


def is_maker(module: Module, function: cst.Name) -> bool:
    """Say whether a name is Python's own function of this name."""
    return not module.bindings_at(function)
