"""The shape of a symbolic tensor is a tuple, which never equals a list."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import passed, value_of
from kdoctor.analysis.queries import Read, reads
from kdoctor.analysis.queries.conditions import member, word
from kdoctor.analysis.queries.forms import is_list
from kdoctor.analysis.queries.operations import Operation, operations
from kdoctor.analysis.queries.sorts import of_form
from kdoctor.analysis.tensors.shape_queries import SUMMED_SHAPE
from kdoctor.analysis.tensors.shapes import GIVEN_A_SHAPE
from kdoctor.analysis.tensors.symbolic import SYMBOLIC, is_symbolic
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Confidence, Edit, Finding, NoFix, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_TYPES = ways_also_by_1("tensorflow.TensorShape")
_ADDING = 'TypeError: can only concatenate tuple (not "list") to tuple'
_ADDED = 'TypeError: can only concatenate list (not "tuple") to list'


# Of a list that is added or compared there is much; the other side tells by its type.
_MET: Final = operations("+", "==", "!=", of=of_form(is_list), with_=SUMMED_SHAPE)
_ASKED: Final = reads("shape", on=Kind.TENSOR)


@rule(
    "KD415",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=_MET.beside((member("shape") & SYMBOLIC) | word(*GIVEN_A_SHAPE))
    | _ASKED.beside(word("TensorShape"), word("isinstance")),
)
def check(found: Operation | Read) -> Finding | None:
    """Report each shape that meets a list."""
    module = found.module
    if isinstance(found, Operation):
        other, shape = found.one, found.other
        assert isinstance(other, cst.List)
        if not _is_one(module, shape, other):
            return None
        return _meets(found, shape, other, adds=isinstance(found.node, cst.BinaryOperation))
    shape = _with_slice(module, found.node)
    if not _is_type_check(module, shape, module.parent(shape)):
        return None
    return found.finding(
        "the shape of a symbolic tensor is a tuple: this is False on Keras 3",
        at=shape,
        symbol="KerasTensor.shape",
        confidence=Confidence.LIKELY,
        help="Write `isinstance(x.shape, tuple)`.",
        fix=NoFix("the code that uses the shape has to change with it"),
    )


def _is_one(module: Module, shape: cst.BaseExpression, other: cst.List) -> bool:
    """Say whether what a layer is given surely is one shape, not a list of several.

    Then a number is put beside its sizes, or one of them is worked with.
    """
    root, indices = shape, 0
    while isinstance(root, cst.Subscript | cst.BinaryOperation):
        if isinstance(root, cst.Subscript):
            is_slice = isinstance(root.slice[0].slice, cst.Slice)
            indices, root = indices + (not is_slice), root.value
        else:
            root = root.right if isinstance(root.left, cst.List | cst.Tuple) else root.left
    value = value_of(module, root)
    if value is not root:
        return _is_one(module, value, other)
    if isinstance(root, cst.Name) and _is_given_a_list(module, root):
        return False
    match root:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="get_shape"))):
            return False  # a symbolic tensor has no such method: that is told by another rule
        case cst.Name() | cst.Attribute() if not indices:
            pass
        case _:
            return True
    if (
        isinstance(root, cst.Attribute)
        and root.attr.value == "shape"
        and is_symbolic(module, root.value)
    ):
        return True
    return any(_is_a_size(each.value) for each in other.elements) or _is_worked_with(module, root)


def _is_given_a_list(module: Module, shape: cst.Name) -> bool:
    """Say whether the file itself calls the method with a list: an inner layer that is built."""
    around = list(module.ancestors(shape))
    method = next((each for each in around if isinstance(each, cst.FunctionDef)), None)
    cls = next((each for each in around if isinstance(each, cst.ClassDef)), None)
    return (
        method is not None
        and cls is not None
        and any(
            _is_made_a_list(value_of(module, given))
            for use in module.members_named(method.name.value)
            if use.called is not None and use.owner.cls in {cls.name.value, None}
            if (given := passed(use.called, shape.value, 0)) is not None
        )
    )


def _is_made_a_list(value: cst.BaseExpression) -> bool:
    match value:
        case cst.BinaryOperation(operator=cst.Add()):
            return any(map(_is_made_a_list, (value.left, value.right)))
        case cst.Call(func=cst.Name(value="list") | cst.Attribute(attr=cst.Name(value="as_list"))):
            return True
        case cst.Subscript(value=whole):
            return _is_made_a_list(whole)
    return isinstance(value, cst.List | cst.ListComp)


def _is_a_size(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Integer() | cst.UnaryOperation() | cst.Name(value="None"):
            return True
        case cst.BinaryOperation(operator=cst.Add()):
            return any(map(_is_a_size, (node.left, node.right)))  # a shape and a tuple are one
        case cst.BinaryOperation():
            return True
    return False


def _is_worked_with(module: Module, shape: cst.CSTNode) -> bool:
    """Say whether the method reads a size of a shape that it computes with."""
    around = next((e for e in module.ancestors(shape) if isinstance(e, cst.FunctionDef)), None)
    return around is not None and any(
        isinstance(each, cst.Subscript)
        and each.value.deep_equals(shape)
        and isinstance(each.slice[0].slice, cst.Index)
        and _is_computed(module, each)
        for each in descendants(around)
    )


def _is_computed(module: Module, size: cst.Subscript) -> bool:
    """Say whether a size is an operand, or an element of the `shape=` of a weight."""
    parent = module.parent(size)
    if isinstance(parent, cst.BinaryOperation):
        return not isinstance(parent.operator, cst.Add)
    display = module.parent(parent) if isinstance(parent, cst.Element) else None
    given = module.parent(display) if isinstance(display, cst.Tuple | cst.List) else None
    return (
        isinstance(given, cst.Arg)
        and given.keyword is not None
        and (given.keyword.value == "shape")
    )


def _with_slice(module: Module, shape: cst.Attribute) -> cst.BaseExpression:
    """Return ``x.shape[1:]`` where the shape is sliced, for that is a tuple too."""
    parent = module.parent(shape)
    is_slice = (
        isinstance(parent, cst.Subscript)
        and parent.value is shape
        and len(parent.slice) == 1
        and isinstance(parent.slice[0].slice, cst.Slice)
    )
    return parent if is_slice and isinstance(parent, cst.Subscript) else shape


def _is_type_check(module: Module, shape: cst.BaseExpression, parent: cst.CSTNode | None) -> bool:
    call = module.parent(parent) if isinstance(parent, cst.Arg) else None
    if not isinstance(call, cst.Call) or len(call.args) != 2 or call.args[0].value is not shape:
        return False
    if any(each.star or each.keyword for each in call.args):
        return False
    is_it = isinstance(call.func, cst.Name) and call.func.value == "isinstance"
    return is_it and module.qualified(call.args[1].value) in _TYPES


def _meets(found: Operation, shape: cst.BaseExpression, other: cst.List, *, adds: bool) -> Finding:
    module = found.module
    span = module.span(other)
    is_first = module.span(shape).start < span.start
    single = len(other.elements) == 1 and module.comma_after(other.elements[0]) is None
    comma = "," if single else ""
    return found.finding(
        f"the shape is a tuple: {_ADDING if is_first else _ADDED}"
        if adds
        else "the shape is a tuple, which never equals a list: the result is the same for every "
        "shape",
        symbol="KerasTensor.shape" if ".shape" in module.source(shape) else "Layer.build",
        at=other,
        severity=Severity.ERROR if adds else Severity.CHANGE,
        help="Use a tuple.",
        fix=found.fix(
            "Use a tuple",
            Edit(Span(span.start, span.start + 1), ("(",)),
            Edit(Span(span.end - 1, span.end), (f"{comma})",)),
        )
        if other.elements
        else NoFix(f"`{module.source(shape)}` is combined with an empty list"),
    )
