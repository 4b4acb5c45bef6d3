"""Symbolic tensors, and dimensions without a value at model construction."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor import keras_api
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import chained_call, defines, from_other_files, member, mentions
from kdoctor.keras_api.returns import CALLED, MEMBERS
from kdoctor.model import Applicability, Edit, Fix, Precedence
from kdoctor.rewrite.precedence import required_precedence
from kdoctor.syntax import Module
from kdoctor.syntax.mask_inputs import COMPUTE_MASK
from kdoctor.value_types import Context, Kind, Type

_RESHAPES = ("reshape",)


_READ = frozenset(
    member
    for given in (MEMBERS, CALLED)
    for (_, member), made in given.items()
    if Kind.TENSOR in {made.kind, made.item.kind if made.item else None}
)


def _makes_one(facts: TargetFacts, name: str) -> bool:
    """Say whether calling what has this dotted name makes a symbolic tensor."""
    known = keras_api.oracle(facts.target)
    made = known.result_type(name) or known.class_type(name)
    return made is not None and made.kind is Kind.TENSOR


SYMBOLIC: Final = (
    member(*_READ)
    | chained_call()
    | mentions(_makes_one)
    | defines(COMPUTE_MASK)
    | from_other_files(Kind.TENSOR)
)
"""A trigger: without what this asks for, nothing in a source is known to be a symbolic tensor."""


RUN_WITH_VALUES: Final = (Context.CALL, Context.LOSS_OR_METRIC, Context.TRAIN_LOOP)
"""Where tensors have values: what layers, losses and steps of training are called with."""

REFUSED: Final = "ValueError: A KerasTensor cannot be used as input to a TensorFlow function."


def is_symbolic(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether an expression surely is a symbolic tensor, or several."""
    found = module.type_of(node)
    return found is not None and found.kind is Kind.TENSOR


def holds_symbolic(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it is a symbolic tensor, or a list in which there surely is one."""
    if _is_or_lists(module.type_of(node)):
        return True
    if isinstance(node, cst.List | cst.Tuple):
        return any(_is_or_lists(module.type_of(each.value)) for each in node.elements)
    return False


def _is_or_lists(found: Type | None) -> bool:
    if found is None:
        return False
    return found.kind is Kind.TENSOR or (
        found.kind is Kind.LIST and found.item is not None and found.item.kind is Kind.TENSOR
    )


def is_inferable_reshape_size(module: Module, call: cst.Call) -> cst.Subscript | None:
    """Return ``shape(x)[0]`` in ``reshape(x, (shape(x)[0], 3))``, where -1 also works.

    ``call`` is the call of ``shape``. None where another size is left open already, or where the
    tensor is another one.
    """
    size = module.parent(call)
    if not isinstance(size, cst.Subscript) or size.value is not call or len(call.args) != 1:
        return None
    element = module.parent(size)
    shape = None if element is None else module.parent(element)
    argument = None if shape is None else module.parent(shape)
    reshape = None if argument is None else module.parent(argument)
    if not isinstance(shape, cst.List | cst.Tuple) or not isinstance(reshape, cst.Call):
        return None
    name = module.qualified(reshape.func) or ""
    if name.rpartition(".")[2] not in _RESHAPES or len(reshape.args) != 2:
        return None
    if not reshape.args[0].value.deep_equals(call.args[0].value):
        return None
    return size if all(_is_known_size(module, each) for each in _others(shape, size)) else None


def has_other_sizes_known(module: Module, size: cst.Subscript) -> bool:
    """Say whether all sizes beside ``size`` are known: none can be -1."""
    element = module.parent(size)
    shape = None if element is None else module.parent(element)
    return isinstance(shape, cst.List | cst.Tuple) and all(
        isinstance(each, cst.Integer) for each in _others(shape, size)
    )


def _others(shape: cst.List | cst.Tuple, size: cst.Subscript) -> list[cst.BaseExpression]:
    return [each.value for each in shape.elements if each.value is not size]


def _is_known_size(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether a size is surely not -1, and no other unknown one."""
    match node:
        case cst.Integer() | cst.Name():
            return True
        case cst.BinaryOperation():
            return _is_known_size(module, node.left) and _is_known_size(module, node.right)
        case cst.Attribute():
            return module.qualified(node) is None
        case cst.Subscript(value=cst.Attribute(attr=cst.Name(value="shape"))):
            return True
    return False


def infer_size_fix(module: Module, size: cst.Subscript, applicability: Applicability) -> Fix:
    """Return the fix that writes -1 for one size of a new shape."""
    source = module.source(size)
    edit = Edit(
        module.span(size), ("-1",), Precedence.UNARY, required_precedence(module.parent(size), size)
    )
    return Fix(
        f"Write `-1` instead of `{source}`: it follows from the other sizes",
        (edit,),
        applicability,
        unsafe_because="another size of the new shape may be -1, and only one can be left open",
    )
