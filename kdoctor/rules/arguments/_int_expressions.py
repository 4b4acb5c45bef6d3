"""Expressions that are ints, and parameters for which a call in the same file passes one."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import binding_of, passed, value_of
from kdoctor.analysis.queries.forms import Expression
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
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


def is_int_form(form: object) -> bool:
    """Say whether a form is, or may be, that of such an expression."""
    if isinstance(form, Expression):
        is_of_a_shape = (form.kind, form.name) == ("Subscript", "shape")
        return is_of_a_shape or (form.kind == "Call" and form.name in {"int", "len"})
    return isinstance(form, int)


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
