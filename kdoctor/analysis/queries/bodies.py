"""What stands in a function, as one value for both trees: for ``body=`` of a query."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.models.sublayers import GROW, attributes_read
from kdoctor.analysis.queries.forms import form_of
from kdoctor.analysis.queries.signatures import signature_of
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import ast_dotted_name, inner_nodes, nodes_in
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.libcst_walk import descendants, returned_in
from kdoctor.syntax.quick_facts import QuickFacts


class Assigned(Struct, frozen=True):
    """An assignment to a name or an attribute, or an addition to a list of that name.

    ``target`` and ``names``, those in the value, are dotted names as written; ``called`` are those
    of what is called in the value, as imported. ``form`` is that of the value.
    """

    target: str
    form: object
    names: frozenset[str]
    called: frozenset[str]


class Body(Struct, frozen=True):
    """What is written in a function.

    ``parameters`` are those by position, ``self`` among them. ``attributes`` are all, ``read``
    those whose values are asked for. ``indexed`` are the names of which items are read,
    ``unpacked`` those that are assigned to several targets at once. ``returned`` are the forms of
    what is returned.
    """

    parameters: tuple[str, ...]

    attributes: frozenset[str]
    read: frozenset[str]
    indexed: frozenset[str]
    unpacked: frozenset[str]
    assigned: tuple[Assigned, ...]
    returned: tuple[object, ...]


@once
def body_of(module: Module, node: cst.FunctionDef) -> Body:
    """Return the body of a method."""
    inside = list(descendants(node.body))

    def assigned(target: cst.BaseExpression, value: cst.BaseExpression) -> Assigned:
        parts = list(descendants(value))
        named = (each for each in parts if isinstance(each, cst.Name | cst.Attribute))
        called = (module.qualified(each.func) for each in parts if isinstance(each, cst.Call))
        return Assigned(
            dotted_name(target) or "",
            form_of(value),
            frozenset(filter(None, map(dotted_name, named))),
            frozenset(filter(None, called)),
        )

    return Body(
        parameters=tuple(each.name for each in signature_of(node).by_position),
        attributes=frozenset(each.attr.value for each in inside if isinstance(each, cst.Attribute)),
        read=frozenset(attributes_read(node)),
        indexed=frozenset(
            each.value.value
            for each in inside
            if isinstance(each, cst.Subscript) and isinstance(each.value, cst.Name)
        ),
        unpacked=frozenset(
            each.value.value
            for each in inside
            if isinstance(each, cst.Assign) and isinstance(each.value, cst.Name)
            if any(isinstance(one.target, cst.Tuple | cst.List) for one in each.targets)
        ),
        assigned=tuple(assigned(*pair) for each in inside for pair in _values_kept(each)),
        returned=tuple(form_of(each) for each in returned_in(node) if each is not None),
    )


def _values_kept(node: cst.CSTNode) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    match node:
        case cst.Assign(targets=targets, value=value):
            yield from ((each.target, value) for each in targets)
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=how))) if how in GROW:
            yield from ((owner, each.value) for each in node.args)
        case cst.AugAssign(target=target, value=value):
            yield target, value


@once
def may_be_body_of(quick: QuickFacts, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Body:
    """Return the same of Python's own tree."""
    nodes = [each for line in node.body for each in nodes_in(line)]
    kept = [pair for each in nodes for pair in _may_be_kept(each)]
    grown = {target for target, _ in kept}

    def assigned(target: ast.expr, value: ast.expr) -> Assigned:
        parts = nodes_in(value)
        named = (each for each in parts if isinstance(each, ast.Name | ast.Attribute))
        called = (quick.meant_by(each.func) for each in parts if isinstance(each, ast.Call))
        return Assigned(
            ast_dotted_name(target) or "",
            form_of(value),
            frozenset(filter(None, map(ast_dotted_name, named))),
            frozenset[str]().union(*called),
        )

    attributes = [each for each in nodes if isinstance(each, ast.Attribute)]
    return Body(
        parameters=tuple(each.name for each in signature_of(node).by_position),
        attributes=frozenset(each.attr for each in attributes),
        read=frozenset(
            each.attr for each in attributes if isinstance(each.ctx, ast.Load) and each not in grown
        ),
        indexed=frozenset(
            each.value.id
            for each in nodes
            if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name)
        ),
        unpacked=frozenset(
            each.value.id
            for each in nodes
            if isinstance(each, ast.Assign) and isinstance(each.value, ast.Name)
            if any(isinstance(one, ast.Tuple | ast.List) for one in each.targets)
        ),
        assigned=tuple(assigned(*pair) for pair in kept),
        returned=tuple(
            form_of(each.value)
            for each in inner_nodes(node)
            if isinstance(each, ast.Return) and each.value is not None
        ),
    )


def _may_be_kept(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((each, value) for each in targets)
        case ast.Call(func=ast.Attribute(value=owner, attr=how), args=given) if how in GROW:
            yield from ((owner, each) for each in given)
        case ast.AugAssign(target=target, value=value):
            yield target, value


Asks = Callable[[Body], bool]
"""A question about the body of a method."""
