"""The shape of a symbolic tensor is a tuple, which never equals a list."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, files, reads
from kdoctor.analysis.queries.conditions import member, word
from kdoctor.analysis.tensors.may_shapes import GIVEN_A_SHAPE, may_be_a_shape
from kdoctor.analysis.tensors.shapes import is_shape_tuple
from kdoctor.analysis.tensors.symbolic import SYMBOLIC, is_symbolic
from kdoctor.analysis.triggers import Operator, Trigger, may_hold, some_operator
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Edit, Finding, NoFix, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

if TYPE_CHECKING:
    from kdoctor.syntax.may_types import MayTypes
    from kdoctor.syntax.symbol_table import Namespace

_TYPES = ways_also_by_1("tensorflow.TensorShape")
_ADDING = 'TypeError: can only concatenate tuple (not "list") to tuple'
_ADDED = 'TypeError: can only concatenate list (not "tuple") to list'


# Of a list that is added or compared there is much; the other side tells by its type.
def _may_meet(quick: QuickFacts, facts: TargetFacts) -> bool:
    return some_operator(quick, facts, _may_meet_a_list) or (
        "TensorShape" in quick.words and may_hold(quick, facts, partial(_may_be_asked, quick))
    )


def _may_meet_a_list(possible: MayTypes, node: Operator, space: Namespace) -> bool:
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add):
        return False
    second = node.right if isinstance(node, ast.BinOp) else node.comparators[0]
    return any(
        isinstance(other, ast.List) and _may_be_a_shape(possible, shape, space)
        for shape, other in ((node.left, second), (second, node.left))
    )


def _may_be_a_shape(possible: MayTypes, node: ast.expr, space: Namespace) -> bool:
    match node:
        case ast.BinOp(left=left, right=right):
            return any(_may_be_a_shape(possible, each, space) for each in (left, right))
        case ast.Call(func=ast.Attribute(attr="get_shape")):
            return False  # as `_is_one` has it
    return may_be_a_shape(possible, node, space)


def _may_be_asked(quick: QuickFacts, possible: MayTypes) -> bool:
    """Say whether the type of what may be a shape is asked for."""
    symbol_table = possible.symbol_table
    return any(
        called.places > 1
        and may_be_a_shape(
            possible, called.node.args[0], symbol_table.places.get(called.node, symbol_table.module)
        )
        for called in quick.calls_by_leaf.get("isinstance", ())
    )


@rule(
    "KD415",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=files((member("shape") & SYMBOLIC) | word(*GIVEN_A_SHAPE), Trigger(_may_meet)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each shape that meets a list."""
    module = file.module
    for read in file.find(reads("shape", on=Kind.TENSOR)):
        shape = _with_slice(module, read.node)
        if _is_type_check(module, shape, module.parent(shape)):
            yield file.finding(
                "the shape of a symbolic tensor is a tuple: this is False on Keras 3",
                at=shape,
                symbol="KerasTensor.shape",
                help="Write `isinstance(x.shape, tuple)`.",
                fix=NoFix("the code that uses the shape has to change with it"),
            )
    for node, sides, adds in _operations(module):
        for shape, other in (sides, sides[::-1]):
            if (
                isinstance(other, cst.List)
                and _is_a_shape(module, shape)
                and _is_one(module, shape, other)
                and not module.is_guarded(node)
            ):
                yield _meets(file, shape, other, adds=adds)


def _operations(
    module: Module,
) -> Iterator[tuple[cst.CSTNode, tuple[cst.BaseExpression, cst.BaseExpression], bool]]:
    """Yield what is added, and what is compared."""
    for node in module.nodes(cst.BinaryOperation):
        if isinstance(node.operator, cst.Add):
            yield node, (node.left, node.right), True
    for compared in module.nodes(cst.Comparison):
        match compared.comparisons:
            case [
                cst.ComparisonTarget(operator=cst.Equal() | cst.NotEqual(), comparator=second),
                *_,
            ]:
                yield compared, (compared.left, second), False


def _is_a_shape(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it is a shape that is a tuple, or what comes of adding something to one."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return any(
            _is_a_shape(module, shape) and isinstance(other, cst.List | cst.Tuple)
            for shape, other in ((node.left, node.right), (node.right, node.left))
        )
    return is_shape_tuple(module, node)


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


def _meets(file: File, shape: cst.BaseExpression, other: cst.List, *, adds: bool) -> Finding:
    module = file.module
    span = module.span(other)
    is_first = module.span(shape).start < span.start
    single = len(other.elements) == 1 and module.comma_after(other.elements[0]) is None
    comma = "," if single else ""
    return file.finding(
        f"the shape is a tuple: {_ADDING if is_first else _ADDED}"
        if adds
        else "the shape is a tuple, which never equals a list: the result is the same for every "
        "shape",
        symbol="KerasTensor.shape" if ".shape" in module.source(shape) else "Layer.build",
        at=other,
        severity=Severity.ERROR if adds else Severity.CHANGE,
        help="Use a tuple.",
        fix=file.fix(
            "Use a tuple",
            Edit(Span(span.start, span.start + 1), ("(",)),
            Edit(Span(span.end - 1, span.end), (f"{comma})",)),
        )
        if other.elements
        else NoFix(f"`{module.source(shape)}` is combined with an empty list"),
    )
