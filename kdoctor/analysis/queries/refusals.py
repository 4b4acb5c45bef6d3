"""Queries for statements that end the import of their module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.matches import Match
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.triggers import Trigger
from kdoctor.model import Confidence
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickFacts

_VERSION: Final = "version"
_EXITS: Final = frozenset({"_exit", "exit", "quit"})


class Refusal(Match):
    """A statement that certainly ends the import: it raises, or leaves the program."""

    node: cst.BaseSmallStatement


def refusals() -> Query[Refusal]:
    """Statements by which a module refuses the target: of an ``if``, or an ``assert`` of versions.

    What else a script asserts is about its data.
    """

    def find(module: Module, facts: TargetFacts) -> Iterator[Refusal]:
        asserted = (each for each in module.nodes(cst.Assert) if _speaks_of_versions(each.test))
        statements: list[cst.If | cst.Assert] = [*module.nodes(cst.If), *asserted]
        for stop in filter(None, map(module.refusal, statements)):
            yield Refusal(module, facts, stop, symbol="raise", confidence=Confidence.CERTAIN)

    return Query(find, Trigger(_may_refuse))


def _speaks_of_versions(test: cst.BaseExpression) -> bool:
    return any(
        isinstance(each, cst.Name) and _VERSION in each.value.lower() for each in descendants(test)
    )


def _may_refuse(quick: QuickFacts, _: TargetFacts) -> bool:
    modules = (scope for scope in quick.scopes if isinstance(scope, ast.Module))
    return any(_may_stop_in(each) for module in modules for each in module.body)


def _may_stop_in(statement: ast.stmt) -> bool:
    """Say whether a statement of the module, or one inside of it, is or ends with a stop."""
    match statement:
        case ast.Assert(test=test):
            return any(
                _VERSION in (getattr(each, "id", "") + getattr(each, "attr", "")).lower()
                for each in ast.walk(test)
            )
        case ast.If(body=body, orelse=orelse):
            last = (body[-1], *orelse[-1:])
            return any(map(_may_stop_in, (*body, *orelse))) or any(map(_may_be_a_stop, last))
    return False


def _may_be_a_stop(last: ast.stmt) -> bool:
    match last:
        case ast.Raise():
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))):
            return name in _EXITS
    return False
