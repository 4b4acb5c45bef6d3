"""Syntactic values of nodes: arguments, numbers, parameters, stored attributes."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import evaluated
from kdoctor.syntax.scopes import Binding, BindingKind, Scope
from kdoctor.value_types import Context


def positional_arguments(call: cst.Call) -> list[cst.BaseExpression]:
    """Return the positional arguments up to the first ``*args``."""
    found = []
    for argument in call.args:
        if argument.star or argument.keyword is not None:
            break
        found.append(argument.value)
    return found


def argument_of(call: cst.Call, position: int, keyword: str) -> cst.BaseExpression | None:
    """Return the value that a call passes for a parameter, by keyword or by position."""
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value == keyword:
            return argument.value
    positional = positional_arguments(call)
    return positional[position] if len(positional) > position else None


def values_of_member(cls: cst.ClassDef, member: str) -> Iterator[cst.BaseExpression]:
    """Yield what a class assigns to ``self.member``, other than None."""
    return (value for name, value in attributes_assigned_in(cls) if name == member)


def attributes_assigned_in(cls: cst.ClassDef) -> Iterator[tuple[str, cst.BaseExpression]]:
    """Yield the attributes that a class assigns, with values other than None."""
    for each in descendants(cls):
        if not isinstance(each, cst.Assign):
            continue
        for target in each.targets:
            stored = target.target
            is_none = isinstance(each.value, cst.Name) and each.value.value == "None"
            if isinstance(stored, cst.Attribute) and not is_none:
                yield stored.attr.value, each.value


def number_of(node: cst.BaseExpression) -> float | None:
    """Return the number that a literal stands for, or None."""
    if isinstance(node, cst.Integer | cst.Float):
        value = evaluated(node)
        return value if isinstance(value, int | float) else None
    return None


def is_prediction(module: Module, node: cst.Name) -> bool:
    """Say whether it is ``y_pred`` of a loss or metric: what a model gives, floats."""
    owner = module.scope_of(node).owner(node.value)
    bindings = owner.bindings.get(node.value, []) if owner else []
    if len(bindings) != 1 or bindings[0].kind is not BindingKind.PARAMETER:
        return False
    if module.context_of(node) is not Context.LOSS_OR_METRIC:
        return False
    names = parameters_of(bindings[0].scope)
    return names.index(node.value) == 1 if node.value in names else False


def parameters_of(scope: Scope) -> list[str]:
    """Return the names of a function's parameters; none for other scopes."""
    if not isinstance(scope.node, cst.FunctionDef | cst.Lambda):
        return []
    params = scope.node.params
    names = [each.name.value for each in (*params.posonly_params, *params.params)]
    return names[1:] if names[:1] == ["self"] else names


def has_number_as_default(binding: Binding) -> bool:
    """Say whether it is a parameter like ``delta=1.0``: a setting, no tensor."""
    default = default_of(binding)
    return default is not None and number_of(default) is not None


def default_of(binding: Binding) -> cst.BaseExpression | None:
    """Return the default of a parameter."""
    function = binding.scope.node
    if not isinstance(function, cst.FunctionDef | cst.Lambda):
        return None
    params = function.params
    for each in (*params.posonly_params, *params.params, *params.kwonly_params):
        if each.name.value == binding.name:
            return each.default
    return None


def rank_as_written(made: cst.BaseExpression) -> int | None:
    """Return how many sizes `self.add_weight(…)` is given, by keyword or as its one tuple."""
    is_weight = (
        isinstance(made, cst.Call)
        and isinstance(made.func, cst.Attribute)
        and made.func.attr.value == "add_weight"
    )
    if not isinstance(made, cst.Call) or not is_weight:
        return None
    named = argument_of(made, len(made.args), "shape")
    shapes = [
        each
        for each in (named, *positional_arguments(made))
        if isinstance(each, cst.Tuple | cst.List)
    ]
    if len(shapes) != 1 or any(isinstance(e, cst.StarredElement) for e in shapes[0].elements):
        return None
    return len(shapes[0].elements)


def elements_in(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield what a list, tuple or dict holds, at any depth; a value that is none of them itself."""
    match node:
        case cst.List() | cst.Tuple() | cst.Dict():
            for each in node.elements:
                yield from elements_in(each.value)
        case _:
            yield node
