"""Queries for calls of functions of the user's own, by what decorates them or what they call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import libcst as cst

from kdoctor.analysis.calls import binding_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import decorated_by
from kdoctor.analysis.queries.call_query import CallQuery
from kdoctor.analysis.queries.calls import calls_found
from kdoctor.analysis.queries.matches import Call
from kdoctor.analysis.tensors.symbolic import holds_symbolic
from kdoctor.syntax import Module
from kdoctor.syntax.parametrized import pytest_parameter_values
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts


class CallOfOwn(Call):
    """A call of a function of the file, by its name: ``function``."""

    function: cst.FunctionDef


def calls_of_decorated(*names: str) -> CallQuery:
    """Calls of functions of the file that a decorator of one of these dotted names changes.

    Only of those that are called by a name that nothing else binds.
    """
    wanted = frozenset(names)

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        for call in module.nodes(cst.Call):
            if not isinstance(call.func, cst.Name):
                continue
            bound = module.scope_of(call.func).bindings_of(call.func.value)
            function = bound[0].node if len(bound) == 1 else None
            if not isinstance(function, cst.FunctionDef):
                continue
            if not wanted.isdisjoint(decorated_by(module, function)):
                found = CallOfOwn(module, facts, call)
                found.function = function
                yield found

    def may_call(quick: QuickFacts, _: TargetFacts) -> Iterator[QuickCall]:
        for function in quick.nodes.get(ast.FunctionDef, ()):
            decorators = (getattr(each, "func", each) for each in function.decorator_list)
            if any(not wanted.isdisjoint(quick.meant_by(each)) for each in decorators):
                called = quick.calls_by_leaf.get(function.name, ())
                yield from (each for each in called if isinstance(each.node.func, ast.Name))

    return calls_found(find, may_call)


def calls_handing_on(where: Callable[[str], bool]) -> CallQuery:
    """Calls with a symbolic tensor that a function of another file surely hands on.

    To something of whose dotted name ``where`` holds: that is the ``symbol`` of the match. Where
    pytest passes the function, all that it passes must be such.
    """

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        for call in module.nodes(cst.Call):
            if not call.args or not isinstance(call.func, cst.Name | cst.Attribute):
                continue
            found = [_taken(module, each, call, where) for each in _called(module, call.func)]
            if found and None not in found:
                made = Call(module, facts, call)
                made.symbol = found[0] or ""
                yield made

    def may_call(quick: QuickFacts, _: TargetFacts) -> Iterator[QuickCall]:
        for name, calls in quick.calls_by_meaning.items():
            if any(where(callee) for _, callee in quick.parameter_callees(name)):
                yield from calls
        if "parametrize" in quick.attributes:
            yield from (each for each in quick.calls if isinstance(each.node.func, ast.Name))

    return calls_found(find, may_call).even(hidden=True).passing_symbolic()


def _taken(
    module: Module, function: cst.BaseExpression, call: cst.Call, where: Callable[[str], bool]
) -> str | None:
    """Return what the function hands the tensor to, None if nothing that is asked about."""
    for position, name in module.parameter_callees_in_project(function):
        given = call.args[: position + 1]
        if len(given) <= position or any(each.star or each.keyword for each in given):
            continue
        if where(name) and holds_symbolic(module, given[-1].value):
            return name
    return None


def _called(module: Module, callee: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return what may be called: the callee, or all that pytest passes for it."""
    bound = binding_of(module, callee)
    return list(pytest_parameter_values(bound) if bound else ()) or [callee]
