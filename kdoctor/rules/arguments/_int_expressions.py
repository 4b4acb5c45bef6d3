"""Expressions that are ints, and parameters for which a call in the same file passes one."""

from __future__ import annotations

import ast
from collections.abc import Collection

import libcst as cst

from kdoctor.analysis.calls import binding_of, passed, value_of
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import BindingKind

_LOOKS = frozenset({"hasattr", "isinstance", "iter", "len", "tuple", "type"})


def is_int(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether an expression, or what a name was bound to, is an int."""
    match value_of(module, node):
        case cst.Integer():
            return True
        case cst.Call(func=cst.Name(value="len" | "int")):
            return True
        case cst.Subscript(
            value=cst.Attribute(attr=cst.Name(value="shape")),
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer()))],
        ):
            return True
    return False


def an_int_is_passed(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether ``node`` is a parameter as it came, of a function called here with an int.

    Not where the function looks at what kind of thing it got: it may have its own way with ints.
    """
    if not isinstance(node, cst.Name):
        return False
    bound = binding_of(module, node)
    if bound is None or bound.kind is not BindingKind.PARAMETER:
        return False
    function = next(
        (each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef)), None
    )
    if function is None or function.decorators or _looked_at(function, node.value):
        return False
    names = [each.name.value for each in (*function.params.posonly_params, *function.params.params)]
    if node.value not in names:
        return False
    return any(
        is_int(module, given)
        for call in _calls(module, function)
        if (given := passed(call, node.value, names.index(node.value))) is not None
    )


def _looked_at(function: cst.FunctionDef, name: str) -> bool:
    return any(
        isinstance(each, cst.Call)
        and isinstance(each.func, cst.Name)
        and each.func.value in _LOOKS
        and any(
            isinstance(given.value, cst.Name) and given.value.value == name for given in each.args
        )
        for each in descendants(function.body)
    )


def _calls(module: Module, function: cst.FunctionDef) -> list[cst.Call]:
    found = []
    for each in module.nodes(cst.Call):
        if not isinstance(each.func, cst.Name):
            continue
        if each.func.value != function.name.value or any(given.star for given in each.args):
            continue
        bound = binding_of(module, each.func)
        if bound is not None and bound.node is function and not module.is_guarded(each):
            found.append(each)
    return found


def may_be_int(node: ast.expr | None) -> bool:
    """Say what ``is_int`` says of an expression of a glimpse that is no name."""
    match node:
        case ast.Constant(value=int()) | ast.Call(func=ast.Name(id="len" | "int")):
            return True
        case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant()):
            return True
    return False


def may_be_ints_by_name(quick: QuickFacts, names: Collection[ast.Name]) -> bool:
    """Say whether one of these names may be an int, or a parameter that gets one."""
    if any(may_be_int(value) for each in names for value in quick.values_of(each)):
        return True
    wanted = {each.id for each in names}
    places: dict[str, list[tuple[str, int]]] = {}
    for node in quick.nodes.get(ast.FunctionDef, ()) if wanted else ():
        for index, each in enumerate((*node.args.posonlyargs, *node.args.args)):
            if each.arg in wanted:
                places.setdefault(node.name, []).append((each.arg, index))
    return any(
        may_be_int(value)
        for function, taken in places.items()
        for called in quick.calls_by_leaf.get(function, ())
        if isinstance(called.node.func, ast.Name)
        for place in taken
        for value in quick.values_of(called.argument(*place))
    )
