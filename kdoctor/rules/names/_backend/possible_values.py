"""What an expression may be by the values that its name has: an `if`, a default, an attribute."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from kdoctor.rules.names._backend.reading import default_of, values_of_member
from kdoctor.rules.own_classes import class_around
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import Binding, BindingKind

Asked = Callable[[Module, cst.BaseExpression], bool]
_DEEPEST = 8  # steps from name to name


def surely(module: Module, node: cst.BaseExpression, is_it: Asked, steps: int = _DEEPEST) -> bool:
    """Say whether an expression is such a thing, or a name for one, whatever value it has."""
    if is_it(module, node):
        return True
    match node:
        case cst.IfExp(body=body, orelse=orelse):
            return all(surely(module, each, is_it, steps) for each in (body, orelse))
        case cst.Name() if steps:
            values = [value_of_binding(each) for each in module.bindings_at(node)]
            return bool(values) and all(
                value is not None and surely(module, value, is_it, steps - 1) for value in values
            )
    return False


def perhaps(module: Module, node: cst.BaseExpression, is_it: Asked, steps: int = _DEEPEST) -> bool:
    """Say whether something tells that it may be one: one of the values that a name has, a default.

    Of most expressions nothing does.
    """
    if is_it(module, node):
        return True
    if not steps:
        return False
    match node:
        case cst.IfExp(body=body, orelse=orelse):
            given = [body, orelse]
        case cst.BooleanOperation(left=left, right=right):
            given = [left, right]
        case cst.Name():
            bindings = module.bindings_at(node)
            parameters = [each for each in bindings if each.kind is BindingKind.PARAMETER]
            defaults = map(default_of, parameters)
            if any(each is not None and is_it(module, each) for each in defaults):
                return True
            given = [value for each in bindings if (value := value_of_binding(each)) is not None]
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=member)):
            given = list(_kept(module, node, member))
        case _:
            return False
    return any(perhaps(module, each, is_it, steps - 1) for each in given)


def value_of_binding(binding: Binding) -> cst.BaseExpression | None:
    """Return what an assignment gives a name as a whole."""
    is_whole = binding.kind is BindingKind.ASSIGN and not binding.path
    return binding.value if is_whole else None


def _kept(module: Module, node: cst.CSTNode, member: str) -> Iterator[cst.BaseExpression]:
    """Yield what the class around stores in an attribute."""
    around = class_around(module, node)
    if around is not None:
        yield from values_of_member(around, member)
