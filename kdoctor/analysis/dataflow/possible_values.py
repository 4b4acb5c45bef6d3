"""Possible values of a name: from several bindings, or from the file's calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import binding_of, is_hidden, passed, value_of
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.dataflow.uses import names_of_variable
from kdoctor.syntax import Module
from kdoctor.syntax.displays import elements_of
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.scopes import Binding, BindingKind

MAX_VALUES: Final = 8
_SCOPES: Final = (cst.FunctionDef, cst.ClassDef, cst.Lambda)


def values_of_name(module: Module, name: cst.Name) -> Sequence[cst.BaseExpression]:
    """Return every value a name may be bound to, nothing if one is unknown."""
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
        elif binding.kind is BindingKind.LOOP and (looped := elements_of(value)) is not None:
            found += looped
        else:
            return []
    return found if len(found) <= MAX_VALUES else []


def parameter_of(module: Module, node: cst.BaseExpression | None) -> cst.Param | None:
    """Return the parameter that an expression is, if it was not reassigned."""
    match binding_of(module, node):
        case Binding(kind=BindingKind.PARAMETER, node=cst.Param() as parameter):
            return parameter
    return None


def values_passed_to(
    module: Module, node: cst.BaseExpression | None
) -> Sequence[cst.BaseExpression]:
    """Return the arguments and the default that the file gives for a parameter.

    Nothing where the function decides by what it got: it may have its own way with that.
    """
    parameter = parameter_of(module, node)
    points_to = points_to_of(module)
    function = None if parameter is None else points_to.function_around(parameter)
    if parameter is None or function is None or _decides_by(function, parameter):
        return ()
    calls = [each for each in points_to.callers(function) if not module.is_guarded(each)]
    given = [points_to.passed(call, parameter) for call in calls]
    found = [parameter.default if each is None else each for each in given]
    return list(dict.fromkeys(each for each in found if each is not None))


def default_in_use(module: Module, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return a parameter's default, if some call may rely on it.

    Of a class that other files make objects of, it is what they get.
    """
    parameter = parameter_of(module, node)
    if parameter is None or parameter.default is None:
        return None
    points_to = points_to_of(module)
    function = points_to.function_around(parameter)
    if function is None or _decides_by(function, parameter):
        return None
    given = [points_to.passed(call, parameter) for call in points_to.callers(function)]
    return parameter.default if not given or None in given else None


def all_arguments_of(module: Module, parameter: cst.Param) -> Sequence[cst.BaseExpression]:
    """Return all values a parameter can get, nothing if that is unknown.

    It is known of a function inside another, or of a private one of the module, that is only
    called: not handed on, not taken by another file, not decorated.
    """
    function = module.parent(module.parent(parameter) or parameter)
    if not isinstance(function, cst.FunctionDef) or not _is_called_here_alone(module, function):
        return ()
    params = function.params
    in_order = [*params.posonly_params, *params.params]
    if parameter not in (*in_order, *params.kwonly_params):
        return ()  # `*values`
    place = in_order.index(parameter) if parameter in in_order else None
    found: list[cst.BaseExpression] = []
    for name in names_of_variable(module, function.name):
        call = module.parent(name)
        if name is function.name:
            continue
        is_call = isinstance(call, cst.Call) and call.func is name
        bound = [each.node for each in module.bindings_at(name)]
        if not isinstance(call, cst.Call) or not is_call or bound != [function]:
            return ()
        value = passed(call, parameter.name.value, place) or parameter.default
        if value is None or is_hidden(call):
            return ()
        found.append(value)
    return found


def _is_called_here_alone(module: Module, function: cst.FunctionDef) -> bool:
    name = function.name.value
    around = next((each for each in module.ancestors(function) if isinstance(each, _SCOPES)), None)
    if function.decorators:
        return False
    if around is None:
        is_private = name.startswith("_") and not name.endswith("_")
        return is_private and not module.name_may_be_imported_elsewhere(name)
    return isinstance(around, cst.FunctionDef)


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
