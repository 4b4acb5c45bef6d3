"""Paths that a function or method of the file is given, and hands on: ``agent.save("dqn.h5")``."""

from __future__ import annotations

import ast
from functools import partial

from kdoctor.rules.facts import Facts
from kdoctor.rules.saving._glimpsed import uses
from kdoctor.rules.triggers import Trigger
from kdoctor.syntax.glimpse import Called, Glimpse
from kdoctor.syntax.nodes import parameters_of


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
