"""Syntactic values of nodes: arguments, numbers, parameters, stored attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from kdoctor.analysis.calls import passed, positional_arguments
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.displays import elements_of
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.scopes import Binding, BindingKind, Scope
from kdoctor.value_types import Context


def values_of_member(
    module: Module, cls: cst.ClassDef, member: str
) -> Sequence[cst.BaseExpression]:
    """Return what a class assigns to ``self.member``, other than None."""
    return _values_by_member(module, cls).get(member, ())


@once
def _values_by_member(
    module: Module,  # noqa: ARG001 - the answer is kept with it
    cls: cst.ClassDef,
) -> Mapping[str, Sequence[cst.BaseExpression]]:
    found: dict[str, list[cst.BaseExpression]] = {}
    for member, value in attributes_assigned_in(cls):
        found.setdefault(member, []).append(value)
    return found


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


def is_prediction(module: Module, node: cst.Name) -> bool:
    """Say whether it is ``y_pred`` of a loss or metric: what a model gives, floats."""
    bindings = module.bindings_at(node)
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
    return isinstance(default_of(binding), cst.Integer | cst.Float)


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
    shapes = [
        elements_of(each)
        for each in (passed(made, "shape"), *(each.value for each in positional_arguments(made)))
        if isinstance(each, cst.Tuple | cst.List)
    ]
    return len(shapes[0]) if len(shapes) == 1 and shapes[0] is not None else None


def elements_in(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield what a list, tuple or dict holds, at any depth; a value that is none of them itself."""
    match node:
        case cst.List() | cst.Tuple() | cst.Dict():
            for each in node.elements:
                yield from elements_in(each.value)
        case _:
            yield node
