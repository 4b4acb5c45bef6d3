"""Which values a ``tf.Variable`` takes as ``K.set_value`` did, which cast them."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import passed
from kdoctor.analysis.dataflow.alternatives import may_be
from kdoctor.lazy_regex import pattern
from kdoctor.rules.names._backend.plain_numbers import may_be_array
from kdoctor.rules.names._backend.value_facts import inference_of
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_FLOATS = pattern(r"\b(b?float(16|32|64)|half|double)\b")
_INTEGERS = pattern(r"\bu?int(8|16|32|64)\b")
_TENSORS = (Kind.TENSOR, Kind.EAGER, Kind.VARIABLE)


def takes_as_it_is(module: Module, variable: cst.Call, value: cst.BaseExpression) -> bool:
    """Say whether `assign` of a variable, of which the making is given, takes the value.

    Arrays and numbers of NumPy are cast by both. A number of Python's own is made a tensor of the
    variable's type, which a float cannot be where that is an integer.
    """
    if isinstance(value, cst.Call) and may_be_array(module, value):
        return True
    if may_be(module, value, _is_tensor):
        return False
    if _holds_floats(module, variable):
        return True
    return _holds_integers(module, variable) and isinstance(_without_sign(value), cst.Integer)


def _is_tensor(module: Module, node: cst.BaseExpression) -> bool:
    kind = module.type_of(node)
    if kind is not None:
        return kind.kind in _TENSORS
    return isinstance(node, cst.Call) and (module.qualified(node.func) or "").startswith(
        "tensorflow."
    )


def _holds_floats(module: Module, variable: cst.Call) -> bool:
    dtype, initial = passed(variable, "dtype", 6), passed(variable, "initial_value", 0)
    if dtype is not None:
        return _FLOATS.search(module.source(dtype)) is not None
    if initial is None or isinstance(initial, cst.Comparison):
        return False
    if isinstance(initial, cst.List | cst.Tuple):
        return _is_of_floats(initial)
    return inference_of(module).is_not_integer(initial)


def _is_of_floats(display: cst.List | cst.Tuple) -> bool:
    """Say whether a list of numbers has a float among them, which makes all of them floats."""
    numbers = [_without_sign(each.value) for each in display.elements]
    return all(isinstance(each, cst.BaseNumber) for each in numbers) and any(
        isinstance(each, cst.Float) for each in numbers
    )


def _holds_integers(module: Module, variable: cst.Call) -> bool:
    dtype, initial = passed(variable, "dtype", 6), passed(variable, "initial_value", 0)
    if dtype is not None:
        return _INTEGERS.search(module.source(dtype)) is not None
    return initial is not None and isinstance(_without_sign(initial), cst.Integer)


def _without_sign(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.expression if isinstance(node, cst.UnaryOperation) else node
