"""What a name may hold where it is read: it is bound several times, or the file's calls pass it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst

from kdoctor.rules.calls import value_of
from kdoctor.rules.origins import origins_of
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import BindingKind
from kdoctor.syntax.walk import descendants

MOST_VALUES: Final = 8


def values_of_name(module: Module, name: cst.Name) -> Sequence[cst.BaseExpression]:
    """Return each of the values that a name may be bound to, nothing where one is not known."""
    single = value_of(module, name)
    if single is not name:
        return [single]
    found: list[cst.BaseExpression] = []
    for binding in module.bindings_at(name):
        value = binding.value
        if value is None or binding.path:
            return []
        if binding.kind is BindingKind.ASSIGN:
            found.append(value)
        elif binding.kind is BindingKind.LOOP and isinstance(value, cst.List | cst.Tuple):
            if any(isinstance(each, cst.StarredElement) for each in value.elements):
                return []
            found += [each.value for each in value.elements]
        else:
            return []
    return found if len(found) <= MOST_VALUES else []


def parameter_of(module: Module, node: cst.BaseExpression | None) -> cst.Param | None:
    """Return the parameter that an expression is, as it came."""
    bound = module.bindings_at(node) if isinstance(node, cst.Name) else ()
    parameter = bound[0].node if len(bound) == 1 else None
    is_one = len(bound) == 1 and bound[0].kind is BindingKind.PARAMETER
    return parameter if is_one and isinstance(parameter, cst.Param) else None


def handed_on(module: Module, node: cst.BaseExpression | None) -> Sequence[cst.BaseExpression]:
    """Return what the file itself gives for a parameter: in calls, and by default.

    Nothing where the function decides by what it got: it may have its own way with that.
    """
    parameter = parameter_of(module, node)
    origins = origins_of(module)
    function = None if parameter is None else origins.function_around(parameter)
    if parameter is None or function is None or _decides_by(function, parameter):
        return ()
    calls = [each for each in origins.callers(function) if not module.is_guarded(each)]
    given = [origins.passed(call, parameter) for call in calls]
    found = [parameter.default if each is None else each for each in given]
    return list(dict.fromkeys(each for each in found if each is not None))


def used_default(module: Module, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the default of a parameter, where no call of the file shows that none is left to it.

    Of a class that other files make objects of, it is what they get.
    """
    parameter = parameter_of(module, node)
    if parameter is None or parameter.default is None:
        return None
    origins = origins_of(module)
    function = origins.function_around(parameter)
    if function is None or _decides_by(function, parameter):
        return None
    given = [origins.passed(call, parameter) for call in origins.callers(function)]
    return parameter.default if not given or None in given else None


def _decides_by(function: cst.FunctionDef, parameter: cst.Param) -> bool:
    """Say whether a function asks what it got: in a condition, or by a method of that."""
    name = parameter.name.value
    return any(
        isinstance(each, cst.Name) and each.value == name
        for test in _tests(function)
        for each in (test, *descendants(test))
    )


def _tests(function: cst.FunctionDef) -> Iterator[cst.CSTNode]:
    for each in descendants(function.body):
        match each:
            case cst.If() | cst.IfExp() | cst.While() | cst.Assert():
                yield each.test
            case cst.Match():
                yield each.subject
            case cst.BooleanOperation():
                yield each
