"""Fixes of functions of ``keras.ops`` that refuse what those of ``keras.backend`` took.

``K.clip`` and some others made a tensor of a list, of a number, of a ``tf.Variable``.
"""

from __future__ import annotations

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.calls import argument, passed, value_of
from kdoctor.analysis.dataflow.alternatives import may_be, must_be
from kdoctor.model import Applicability, Fix, NoFix
from kdoctor.rules.names._backend.plain_numbers import (
    is_maker,
    is_plain_number,
    may_be_plain_number,
)
from kdoctor.rules.names._backend.set_value_casts import takes_as_it_is
from kdoctor.syntax import Module
from kdoctor.syntax.imports import dotted_name

_LISTS = frozenset({"list", "tuple", "sorted"})
_SHAPES = (".backend.int_shape", ".backend.shape")  # tuples, both, on Keras 3
_VARIABLES = frozenset(
    {"tensorflow.Variable", "tensorflow.compat.v1.Variable", "tensorflow.compat.v2.Variable"}
)
_NO_CLIP = "`keras.ops.clip` does not accept a Python number or a list, which `x` is or may be"
_NO_LIST = (
    "`keras.ops.transpose` does not accept a list, which `x` is or may be: convert it to a tensor "
    "first"
)
_NO_LISTS = (
    "`keras.ops.concatenate` accepts tensors, not lists or tuples, and one of the arguments is or "
    "may be one: convert it to a tensor first"
)
_NO_VARIABLE = (
    "`keras.ops.{}` does not accept a `tf.Variable`, which `x` is or may be: use a "
    "`keras.Variable`, or pass `keras.ops.convert_to_tensor(x)`"
)

_NO_CAST = (
    "Keras 2 cast the value to the dtype of the variable; `assign` of a `tf.Variable` does not, "
    "and raises where the dtypes differ"
)


def if_an_array(module: Module, leaf: str, call: cst.Call, fix: Fix) -> Fix | NoFix:
    """Return a fix as it is, unless the function of today does not take what is passed.

    There is none where it surely does not, and an unsafe one where something tells that it may not.
    """
    match leaf:
        case "clip":
            return _of_clip(module, call, fix)
        case "permute_dimensions":
            given = passed(call, "x", 0)
            return fix if given is None else _of_lists(module, [given], fix, _NO_LIST)
        case "concatenate":
            given = passed(call, "tensors", 0)
            joined = [] if given is None else _elements(module, given)
            return _of_lists(module, joined, fix, _NO_LISTS)
        case "argmax" | "argmin":
            given = passed(call, "x", 0)
            if given is None or not may_be(module, given, _is_variable):
                return fix
            is_sure = must_be(module, given, _is_variable)
            return _withheld(fix, _NO_VARIABLE.format(leaf), is_sure=is_sure)
        case "set_value":
            variable, value = passed(call, "x", 0), passed(call, "value", 1)
            if variable is None or value is None:
                return fix
            return _of_assignments(module, variable, value, fix)
    return fix


def _of_assignments(
    module: Module, variable: cst.BaseExpression, value: cst.BaseExpression, fix: Fix
) -> Fix | NoFix:
    """``K.set_value`` cast what it was given, which `assign` of a ``tf.Variable`` does not."""

    def may_refuse(module: Module, node: cst.BaseExpression) -> bool:
        return (
            isinstance(node, cst.Call)
            and _is_variable(module, node)
            and not takes_as_it_is(module, node, value)
        )

    if not may_be(module, variable, may_refuse):
        return fix
    return _withheld(fix, _NO_CAST, is_sure=False)


def _of_clip(module: Module, call: cst.Call, fix: Fix) -> Fix | NoFix:
    """``keras.ops.maximum``, for a bound that is None, takes numbers and lists."""
    given = passed(call, "x", 0)
    bounds = (argument(call, "min_value", 1), argument(call, "max_value", 2))
    if given is None or any(
        dotted_name(each.value) == "None" for each in bounds if each is not None
    ):
        return fix
    if is_plain_number(module, given):
        return NoFix(_NO_CLIP)
    if may_be_plain_number(module, given):
        return _withheld(fix, _NO_CLIP, is_sure=False)
    return _of_lists(module, [given], fix, _NO_CLIP)


def _of_lists(
    module: Module, given: list[cst.BaseExpression], fix: Fix, reason: str
) -> Fix | NoFix:
    if not any(may_be(module, each, _is_list) for each in given):
        return fix
    is_sure = any(must_be(module, each, _is_list) for each in given)
    return _withheld(fix, reason, is_sure=is_sure)


def _withheld(fix: Fix, reason: str, *, is_sure: bool) -> Fix | NoFix:
    if is_sure:
        return NoFix(reason)
    return replace(fix, applicability=Applicability.UNSAFE, unsafe_because=reason)


def _elements(module: Module, tensors: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return what is seen to be joined."""
    match value_of(module, tensors):
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            return [each.value for each in elements if isinstance(each, cst.Element)]
        case cst.ListComp(elt=each):
            return [each]
    return []


def _is_list(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it is a list or a tuple by what is written there."""
    match node:
        case cst.List() | cst.Tuple() | cst.ListComp():
            return True
        case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
            return _is_list(module, left) and _is_list(module, right)
        case cst.BinaryOperation(left=left, operator=cst.Multiply(), right=right):
            pairs = ((left, right), (right, left))
            return any(_is_list(module, a) and is_plain_number(module, b) for a, b in pairs)
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Slice())]):
            return _is_list(module, value)
        case cst.Call(func=cst.Name(value=name) as function) if name in _LISTS:
            return is_maker(module, function)
        case cst.Call(func=function):
            return (module.qualified(function) or "").endswith(_SHAPES)
    return False


def _is_variable(module: Module, node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and module.qualified(node.func) in _VARIABLES
