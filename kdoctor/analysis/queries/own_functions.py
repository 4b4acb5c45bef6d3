"""Queries for calls of functions of the user's own, by what decorates them or what they call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import libcst as cst

from kdoctor.analysis.calls import binding_of, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import decorated_by
from kdoctor.analysis.queries.call_query import CallQuery
from kdoctor.analysis.queries.calls import calls_found
from kdoctor.analysis.queries.matches import Call
from kdoctor.analysis.tensors.symbolic import holds_symbolic
from kdoctor.syntax import Module
from kdoctor.syntax.package import AN_OBJECT, ParameterCallees
from kdoctor.syntax.parametrized import pytest_parameter_values
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts


class HandingOn(Call):
    """A call with a symbolic tensor that goes on to ``symbol``.

    ``sure``: whenever it runs; ``to_objects``: it also goes on to objects, which may be layers.
    """

    sure: bool
    to_objects: bool


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
    """Calls with a symbolic tensor that a function of another file hands on.

    To something of whose dotted name ``where`` holds: that is the ``symbol`` of the match. Where
    pytest passes the function, all that it passes must be such. What is called may also be an
    instance of another file's class: ``Scale(2)(x)``.
    """

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        for call in module.nodes(cst.Call):
            if not call.args:
                continue
            callees = _called(module, call.func)
            found = [_taken(module, each, call, where) for each in callees]
            taken = [each for each in found if each is not None]
            if taken and len(taken) == len(found):
                made = HandingOn(module, facts, call)
                made.symbol = taken[0][0]
                made.sure = all(sure for _, sure in taken)
                made.to_objects = any(_calls_objects(module, each) for each in callees)
                yield made

    def hand_on(quick: QuickFacts, name: str, *, of_instance: bool) -> bool:
        found = quick.parameter_callees(name, of_instance=of_instance)
        return any(all(map(where, names)) for _, names, _ in found)

    def may_call(quick: QuickFacts, _: TargetFacts) -> Iterator[QuickCall]:
        for name, calls in quick.calls_by_meaning.items():
            if hand_on(quick, name, of_instance=False):
                yield from calls
        for call in quick.calls:
            for made in _may_make(quick, call.node.func):
                if any(hand_on(quick, each, of_instance=True) for each in quick.meant_by(made)):
                    yield call
        if "parametrize" in quick.attributes:
            yield from (each for each in quick.calls if isinstance(each.node.func, ast.Name))

    return calls_found(find, may_call).even(hidden=True).passing_symbolic()


def _may_make(quick: QuickFacts, callee: ast.expr) -> Iterator[ast.expr]:
    """Yield the classes that may have made what is called."""
    made = quick.values_of(callee) if isinstance(callee, ast.Name) else [callee]
    yield from (each.func for each in made if isinstance(each, ast.Call))


def _taken(
    module: Module, callee: cst.BaseExpression, call: cst.Call, where: Callable[[str], bool]
) -> tuple[str, bool] | None:
    """Return what the function hands the tensor to, and whether it surely does.

    None if that is nothing that is asked about.
    """
    for position, names, sure in _callees(module, callee):
        given = call.args[: position + 1]
        if len(given) <= position or any(each.star or each.keyword for each in given):
            continue
        if all(map(where, names)) and holds_symbolic(module, given[-1].value):
            return names[0], sure
    return None


def _callees(module: Module, callee: cst.BaseExpression) -> ParameterCallees:
    """Return what a function of another file, or an object of its class, calls."""
    made = value_of(module, callee)
    is_instance = isinstance(made, cst.Call)
    function = made.func if isinstance(made, cst.Call) else callee
    if not isinstance(function, cst.Name | cst.Attribute):
        return ()
    return module.parameter_callees(function, of_instance=is_instance)


def _calls_objects(module: Module, callee: cst.BaseExpression) -> bool:
    return any(AN_OBJECT in names for _, names, _ in _callees(module, callee))


def _called(module: Module, callee: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return what may be called: the callee, or all that pytest passes for it."""
    bound = binding_of(module, callee)
    return list(pytest_parameter_values(bound) if bound else ()) or [callee]
