"""Layers of several inputs, and what their `compute_output_shape` makes of the list of shapes."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.queries.bodies import Body
from kdoctor.analysis.queries.forms import Expression
from kdoctor.syntax.libcst_walk import own_nodes, returned_in


def returned_by(function: cst.FunctionDef) -> list[cst.BaseExpression]:
    """Return what a method itself returns."""
    return [each for each in returned_in(function) if each is not None]


def mixes_shapes(shape: cst.FunctionDef) -> bool:
    """Say whether it makes one shape of numbers and of what are shapes where inputs are several.

    ``return (input_shape[0], 3)``, where nothing else is asked of ``input_shape``.
    """
    if len(shape.params.params) != 2 or shape.decorators:
        return False
    name = shape.params.params[1].name.value
    returned = returned_by(shape)
    given = [list(_elements(each)) for each in returned]
    of_shapes = [each for parts in given for each in parts if _index(each, name) is not None]
    names = [each for each in own_nodes(shape.body) if _is_name(each, name)]
    return (
        bool(returned)
        and all(
            any(_index(each, name) is not None for each in parts)
            and any(isinstance(each, cst.Integer) for each in parts)
            for parts in given
        )
        and len(names) == len(of_shapes)
    )


def _elements(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the elements of a tuple or list, be it that two are added."""
    match node:
        case cst.BinaryOperation(operator=cst.Add()):
            yield from _elements(node.left)
            yield from _elements(node.right)
        case cst.Tuple() | cst.List():
            yield from (each.value for each in node.elements if isinstance(each, cst.Element))


def takes_several(call: cst.FunctionDef) -> bool:
    """Say whether the inputs are several for sure: they are taken apart, and nothing else.

    The first thing done with them is to unpack them, or all that is done is to take one of them,
    and another.
    """
    if len(call.params.params) < 2:
        return False
    inputs = call.params.params[1].name.value
    return _unpacks(call, inputs) or _takes_each(call, inputs)


def _unpacks(call: cst.FunctionDef, inputs: str) -> bool:
    for each in own_nodes(call.body):
        if _is_name(each, inputs):
            return False
        if isinstance(each, cst.Assign):
            return _is_name(each.value, inputs) and isinstance(
                each.targets[0].target, cst.Tuple | cst.List
            )
    return False


def _takes_each(call: cst.FunctionDef, inputs: str) -> bool:
    nodes = list(own_nodes(call.body))
    taken = [index for each in nodes if (index := _index(each, inputs)) is not None]
    return len(set(taken)) > 1 and len(taken) == sum(_is_name(each, inputs) for each in nodes)


def _is_name(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _index(node: cst.CSTNode, name: str) -> int | None:
    """Return which element of what has this name an expression takes."""
    match node:
        case cst.Subscript(
            value=cst.Name(value=owner),
            slice=[cst.SubscriptElement(slice=cst.Index(cst.Integer() as at))],
        ) if owner == name:
            return at.evaluated_value
    return None


def takes_apart(call: Body) -> bool:
    """Say whether a method unpacks its inputs, or takes one of them."""
    return not (call.indexed | call.unpacked).isdisjoint(call.parameters[1:2])


def gives_as_is(shape: Body) -> bool:
    """Say whether a method gives back its parameter, and does nothing else."""
    return (
        bool(shape.returned)
        and all(
            isinstance(each, Expression)
            and each.kind == "Name"
            and (each.name,) == shape.parameters[1:2]
            for each in shape.returned
        )
        and not shape.assigned
    )


def gives_a_shape(shape: Body) -> bool:
    """Say whether a method gives back a name, or a shape that is written out or added up."""
    return any(
        isinstance(each, list | tuple)
        or (isinstance(each, Expression) and each.kind in {"Name", "BinOp"})
        for each in shape.returned
    )
