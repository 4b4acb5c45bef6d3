"""Must- and may-analysis of an expression over the values of its names."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from kdoctor.analysis.models.user_classes import class_around
from kdoctor.analysis.node_values import attributes_assigned_in, default_of
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.displays import part_of
from kdoctor.syntax.scopes import Binding, BindingKind

Asked = Callable[[Module, cst.BaseExpression], bool]
_MAX_DEPTH = 8  # steps from name to name


def must_be(
    module: Module, node: cst.BaseExpression, is_it: Asked, steps: int = _MAX_DEPTH
) -> bool:
    """Say whether a predicate holds for every value that an expression can have."""
    if is_it(module, node):
        return True
    match node:
        case cst.IfExp(body=body, orelse=orelse):
            return all(must_be(module, each, is_it, steps) for each in (body, orelse))
        case cst.Name() if steps:
            values = [value_of_binding(each) for each in module.bindings_at(node)]
            return bool(values) and all(
                value is not None and must_be(module, value, is_it, steps - 1) for value in values
            )
    return False


def may_be(module: Module, node: cst.BaseExpression, is_it: Asked) -> bool:
    """Say whether a predicate holds for some value that an expression may have.

    Of most expressions nothing does.
    """
    match node:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=member)):
            around = class_around(module, node)
            return around is not None and _attribute_may_be(module, around, member, is_it)
    return _is_one_of(module, [node], is_it)


def value_of_binding(binding: Binding) -> cst.BaseExpression | None:
    """Return the value that an assignment gives to a name, if it is clear."""
    if binding.kind is not BindingKind.ASSIGN:
        return None
    return part_of(binding.value, binding.path)


@once
def _attribute_may_be(module: Module, cls: cst.ClassDef, member: str, is_it: Asked) -> bool:
    return _is_one_of(module, [*_stored(module, cls).get(member, ())], is_it)


def _is_one_of(module: Module, waiting: list[cst.BaseExpression], is_it: Asked) -> bool:
    """Say whether one of these may be such a thing, or what they are made of."""
    seen = set(waiting)
    for each in waiting:  # it grows meanwhile
        if is_it(module, each):
            return True
        for value in _constituents(module, each):
            if value not in seen:
                seen.add(value)
                waiting.append(value)
    return False


def _constituents(module: Module, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    match node:
        case cst.IfExp(body=left, orelse=right) | cst.BooleanOperation(left=left, right=right):
            yield left
            yield right
        case cst.Name():
            for each in module.bindings_at(node):
                is_parameter = each.kind is BindingKind.PARAMETER
                value = default_of(each) if is_parameter else value_of_binding(each)
                if value is not None:
                    yield value
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=member)):
            around = class_around(module, node)
            if around is not None:
                yield from _stored(module, around).get(member, ())


@once
def _stored(module: Module, cls: cst.ClassDef) -> dict[str, list[cst.BaseExpression]]:
    """Return what a class stores in attributes, other than None, by their names."""
    del module  # it keeps the answer
    found: dict[str, list[cst.BaseExpression]] = {}
    for member, value in attributes_assigned_in(cls):
        found.setdefault(member, []).append(value)
    return found
