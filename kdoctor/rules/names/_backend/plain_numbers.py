"""Which expressions are plain numbers of Python, which `K.get_value` gave back as they were."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kdoctor.once import once
from kdoctor.rules.names._backend.reading import has_number_as_default, stored_by
from kdoctor.rules.own_classes import class_around
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import Binding, BindingKind

_MAKERS = frozenset({"float", "int", "len"})
_DEEPEST = 8  # steps from name to name


def is_plain_number(module: Module, node: cst.BaseExpression, steps: int = _DEEPEST) -> bool:
    """Say whether it surely is a number of Python's own."""
    match node:
        case cst.BaseNumber():
            return True
        case cst.UnaryOperation(operator=cst.Minus() | cst.Plus(), expression=inner):
            return is_plain_number(module, inner, steps)
        case cst.BinaryOperation(left=left, right=right):
            return is_plain_number(module, left, steps) and is_plain_number(module, right, steps)
        case cst.IfExp(body=body, orelse=orelse):
            return is_plain_number(module, body, steps) and is_plain_number(module, orelse, steps)
        case cst.Call(func=cst.Name() as function):
            return _is_maker(module, function)
        case cst.Name() if steps:
            bindings = module.bindings_at(node)
            values = [_value(each) for each in bindings]
            return bool(values) and all(
                value is not None and is_plain_number(module, value, steps - 1) for value in values
            )
    return False


def may_be_plain_number(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether something tells that it may be one: one of the values that a name has, a default.

    Of most expressions nothing does.
    """
    match node:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=member)):
            around = class_around(module, node)
            return around is not None and _may_be_kept(module, around, member)
    return _is_one_of(module, [node])


@once
def _may_be_kept(module: Module, cls: cst.ClassDef, member: str) -> bool:
    return _is_one_of(module, [*_stored(module, cls).get(member, ())])


def _is_one_of(module: Module, waiting: list[cst.BaseExpression]) -> bool:
    """Say whether one of these may be a plain number, or what they are made of."""
    seen = set(waiting)
    for each in waiting:  # it grows meanwhile
        if is_plain_number(module, each):
            return True
        bindings = module.bindings_at(each) if isinstance(each, cst.Name) else ()
        if any(map(_has_number_as_default, bindings)):
            return True
        for value in (*_given(module, each), *map(_value, bindings)):
            if value is not None and value not in seen:
                seen.add(value)
                waiting.append(value)
    return False


def _given(module: Module, node: cst.BaseExpression) -> Sequence[cst.BaseExpression]:
    match node:
        case cst.IfExp(body=body, orelse=orelse):
            return body, orelse
        case cst.BooleanOperation(left=left, right=right):
            return left, right
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=member)):
            around = class_around(module, node)
            return () if around is None else _stored(module, around).get(member, ())
    return ()


def becomes_plain_number(module: Module, call: cst.Call) -> bool:
    """Say whether what a call gives goes into ``float(…)`` or ``int(…)`` at once."""
    argument = module.parent(call)
    around = None if argument is None else module.parent(argument)
    match around:
        case cst.Call(func=cst.Name(value="float" | "int") as function):
            return around.func is not argument and _is_maker(module, function)
    return False


def _is_maker(module: Module, function: cst.Name) -> bool:
    return function.value in _MAKERS and not module.bindings_at(function)


def _value(binding: Binding) -> cst.BaseExpression | None:
    is_whole = binding.kind is BindingKind.ASSIGN and not binding.path
    return binding.value if is_whole else None


def _has_number_as_default(binding: Binding) -> bool:
    return binding.kind is BindingKind.PARAMETER and has_number_as_default(binding)


@once
def _stored(module: Module, cls: cst.ClassDef) -> dict[str, list[cst.BaseExpression]]:
    """Return what a class stores in attributes, other than None, by their names."""
    del module  # it keeps the answer
    found: dict[str, list[cst.BaseExpression]] = {}
    for member, value in stored_by(cls):
        found.setdefault(member, []).append(value)
    return found
