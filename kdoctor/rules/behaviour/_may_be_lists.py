"""Cheap over-approximation of the expressions that ``Lists`` may find to be lists of arrays."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kdoctor.syntax.ast_walk import ast_dotted_name
from kdoctor.syntax.quick_facts import QuickFacts


def may_be_a_list(quick: QuickFacts, part: ast.expr) -> bool:
    """Say whether a part of a batch may be one, by what is assigned to its name or attribute."""
    if isinstance(part, ast.Name) and _is_unpacked(quick, part.id):
        return True
    return any(_may_give_one(quick, value) for value in _values_of(quick, part))


def _may_give_one(quick: QuickFacts, value: ast.expr) -> bool:
    match value:
        case ast.List(elts=elements):
            return not any(map(_is_number, elements))
        case ast.ListComp() | ast.Name() | ast.BinOp(op=ast.Add()):
            return True
        case ast.Attribute(attr=member):
            return member in quick.stores
        case ast.Call(func=function):
            leaf = (ast_dotted_name(function) or "").rpartition(".")[2]
            return leaf == "list" or any(
                each.name == leaf for each in quick.nodes.get(ast.FunctionDef, ())
            )
    return False


def _values_of(quick: QuickFacts, part: ast.expr) -> Iterator[ast.expr]:
    if not isinstance(part, ast.Attribute):
        yield from quick.values_of(part)
    elif part.attr in quick.stores:
        for target, value in _assigned(quick):
            yield from _kept_as(part.attr, target, value)


def _assigned(quick: QuickFacts) -> Iterator[tuple[ast.expr, ast.expr]]:
    for assign in quick.nodes.get(ast.Assign, ()):
        yield from ((target, assign.value) for target in assign.targets)
    for assign in quick.nodes.get(ast.AnnAssign, ()):
        if assign.value is not None:
            yield assign.target, assign.value


def _kept_as(member: str, target: ast.expr, value: ast.expr) -> Iterator[ast.expr]:
    """Yield what an attribute of that name may get where ``value`` is assigned to ``target``."""
    match target:
        case ast.Attribute(attr=name) if name == member:
            yield value
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            if any(isinstance(each, ast.Attribute) and each.attr == member for each in targets):
                yield from value.elts if isinstance(value, ast.Tuple | ast.List) else [value]


def _is_unpacked(quick: QuickFacts, name: str) -> bool:
    """Say whether a name is one of several that are assigned to at once."""
    return any(
        isinstance(target, ast.Tuple | ast.List)
        and any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(target))
        for assign in quick.nodes.get(ast.Assign, ())
        for target in assign.targets
    )


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in {int, float, complex}
