"""Forms of lists and tuples, with what their parts may be: for batches of several arrays.

The gate looks up what is assigned to names and attributes. The rule follows the parts by itself, so
that the exact tree has ``ANYTHING`` for them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.queries.forms import Expression, form_of
from kdoctor.memoize import once
from kdoctor.syntax.ast_walk import leaf_of, nodes_in
from kdoctor.syntax.quick_facts import QuickFacts

ANYTHING: Final = Expression("")
"""The form of what may be anything."""


class OneOf(Struct, frozen=True):
    """What a name or an attribute may stand for: something of one of these forms."""

    forms: tuple[object, ...]


def form_with_parts(node: cst.BaseExpression) -> object:
    """Return the form of an expression, with names, attributes and calls in it as ``ANYTHING``."""
    if not isinstance(node, cst.List | cst.Tuple):
        return form_of(node)
    parts = [
        ANYTHING
        if isinstance(each, cst.StarredElement)
        or isinstance(each.value, cst.Name | cst.Attribute | cst.Call)
        else form_of(each.value)
        for each in node.elements
    ]
    return parts if isinstance(node, cst.List) else tuple(parts)


def may_have_parts(quick: QuickFacts, node: ast.expr) -> object:
    """Return the form that an expression may have, with what the file assigns to its parts."""
    if not isinstance(node, ast.List | ast.Tuple):
        return form_of(node)
    parts = [_part(quick, each) for each in node.elts]
    return parts if isinstance(node, ast.List) else tuple(parts)


def _part(quick: QuickFacts, node: ast.expr) -> object:
    match node:
        case ast.Name(id=name):
            if name in _unpacked(quick):
                return ANYTHING
            return OneOf(tuple(_value(quick, each) for each in quick.values_of(node)))
        case ast.Attribute(attr=member):
            kept = _kept(quick).get(member, ()) if member in quick.stores else ()
            return OneOf(tuple(_value(quick, each) for each in kept))
    return _value(quick, node)


def _value(quick: QuickFacts, node: ast.expr) -> object:
    match node:
        case ast.Name():
            return ANYTHING
        case ast.Attribute(attr=member):
            return ANYTHING if member in quick.stores else form_of(node)
        case ast.Call(func=function) if leaf_of(function) in _functions(quick):
            return ANYTHING
    return form_of(node)


@once
def _functions(quick: QuickFacts) -> frozenset[str]:
    return frozenset(each.name for each in quick.nodes.get(ast.FunctionDef, ()))


@once
def _unpacked(quick: QuickFacts) -> frozenset[str]:
    """Return the names that are assigned together with others: ``x, y = pair``."""
    return frozenset(
        each.id
        for target, _ in _assigned(quick)
        if isinstance(target, ast.Tuple | ast.List)
        for each in nodes_in(target)
        if isinstance(each, ast.Name)
    )


@once
def _kept(quick: QuickFacts) -> dict[str, list[ast.expr]]:
    """Return what is assigned to attributes, by their name; the whole where a part is."""
    found: dict[str, list[ast.expr]] = {}
    for target, value in _assigned(quick):
        several = isinstance(target, ast.Tuple | ast.List)
        values = value.elts if several and isinstance(value, ast.Tuple | ast.List) else [value]
        for each in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            if isinstance(each, ast.Attribute):
                found.setdefault(each.attr, []).extend(values)
    return found


def _assigned(quick: QuickFacts) -> Iterator[tuple[ast.expr, ast.expr]]:
    for assign in quick.nodes.get(ast.Assign, ()):
        yield from ((target, assign.value) for target in assign.targets)
    for each in quick.nodes.get(ast.AnnAssign, ()):
        if each.value is not None:
            yield each.target, each.value
