"""Paths that a function or method of the file is given, and hands on: ``agent.save("dqn.h5")``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial

import libcst as cst

from kdoctor.rules.facts import Facts
from kdoctor.rules.origins import origins_of
from kdoctor.rules.saving._glimpsed import uses
from kdoctor.rules.triggers import Trigger
from kdoctor.syntax import Module
from kdoctor.syntax.glimpse import Called, Glimpse
from kdoctor.syntax.nodes import parameters_of
from kdoctor.syntax.scopes import BindingKind


def handed_on(module: Module, path: cst.BaseExpression | None) -> Sequence[cst.BaseExpression]:
    """Return what the file itself gives for a path that is a parameter: in calls, by default."""
    bound = module.bindings_at(path) if isinstance(path, cst.Name) else ()
    parameter = bound[0].node if len(bound) == 1 else None
    if not isinstance(parameter, cst.Param) or bound[0].kind is not BindingKind.PARAMETER:
        return ()
    origins = origins_of(module)
    function = origins.function_around(parameter)
    calls = () if function is None else origins.callers(function)
    given = [origins.passed(call, parameter) for call in calls]
    found = [parameter.default if each is None else each for each in given]
    return list(dict.fromkeys(each for each in found if each is not None))


def hands_path(name: str, place: int = 0) -> Trigger:
    """What is called so, a method of a model maybe, gets a parameter of a function for its path."""
    return uses(partial(_is_parameter, place), name)


def _is_parameter(place: int, glimpse: Glimpse, _: Facts, called: Called) -> bool:
    given = [called.argument(keyword, place) for keyword in ("filepath", "path")]
    names = {each.id for each in given if isinstance(each, ast.Name)}
    return bool(names) and any(
        parameter.arg in names
        for function in glimpse.nodes.get(ast.FunctionDef, ())
        for parameter in parameters_of(function.args)
    )
