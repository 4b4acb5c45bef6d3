"""Queries for functions of the file that are passed to a call."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.call_query import CallQuery
from kdoctor.analysis.queries.matches import Argument
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.queries.signatures import FormalSignature, signature_of
from kdoctor.analysis.triggers import Trigger
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts


class GivenFunction(Argument):
    """An argument that is a function of the file, or a lambda."""

    function: cst.FunctionDef | cst.Lambda


def functions_given(
    calls: CallQuery, *keywords: str, where: Callable[[FormalSignature], bool]
) -> Query[GivenFunction]:
    """Functions that such calls pass by one of these keywords, of whose signature ``where`` holds.

    No decorated ones: what is passed is then something else.
    """
    passing = calls.passing(*keywords)

    def is_one(node: ast.FunctionDef | ast.Lambda | cst.FunctionDef | cst.Lambda) -> bool:
        signature = signature_of(node)
        return not signature.is_decorated and where(signature)

    def find(module: Module, facts: TargetFacts) -> Iterator[GivenFunction]:
        for call in passing.find(module, facts):
            for name in keywords:
                given = call.argument(name)
                function = None if given is None else function_of(module, given.value)
                if given is not None and function is not None and is_one(function):
                    found = GivenFunction(call, name, given)
                    found.function = function
                    yield found

    def holds(quick: QuickFacts, _: TargetFacts) -> bool:
        functions = {each.name for each in quick.nodes.get(ast.FunctionDef, ()) if is_one(each)}
        return any(
            (isinstance(given, ast.Name) and given.id in functions)
            or any(isinstance(one, ast.Lambda) and is_one(one) for one in quick.values_of(given))
            for name in keywords
            for called in quick.calls_with(name)
            for given in (called.argument(name),)
        )

    return Query(find, Trigger(holds) & passing.trigger)


def function_of(module: Module, value: cst.BaseExpression) -> cst.FunctionDef | cst.Lambda | None:
    """Return the one function of this module that an expression stands for."""
    value = value_of(module, value)
    if isinstance(value, cst.Lambda):
        return value
    bound = module.bindings_at(value) if isinstance(value, cst.Name) else ()
    node = bound[0].node if len(bound) == 1 else None
    return node if isinstance(node, cst.FunctionDef) else None
