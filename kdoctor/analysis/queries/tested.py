"""Queries for expressions whose value is asked for: by a condition, a loop, a function."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.call_query import CallQuery
from kdoctor.analysis.queries.matches import Call, Match
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.queries.sorts import Site, Sort
from kdoctor.analysis.triggers import Trigger, may_hold
from kdoctor.model import Confidence
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import conditions_in, nodes_in
from kdoctor.syntax.may_types import MayTypes
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.symbol_table import Condition, Loop

_CONDITIONS: Final = (ast.If, ast.While, ast.IfExp, ast.Assert)
_Asked = tuple[ast.Call | Condition | Loop, ast.expr]
"""Where an expression stands, and the expression."""
_ORDERING: Final = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)


def is_tested(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it is compared with None, or (a part of) a condition itself."""
    match module.parent(node):
        case cst.Comparison(
            left=left,
            comparisons=[
                cst.ComparisonTarget(
                    operator=cst.Is() | cst.IsNot() | cst.Equal() | cst.NotEqual(),
                    comparator=cst.Name(value="None"),
                )
            ],
        ):
            return left is node
    inner: cst.CSTNode = node
    for each in module.ancestors(node):
        match each:
            case cst.UnaryOperation(operator=cst.Not()) | cst.BooleanOperation():
                inner = each
            case cst.If(test=test) | cst.While(test=test) | cst.IfExp(test=test):
                return test is inner
            case cst.Assert(test=test):
                return test is inner
            case _:
                return False
    return False


def tests(*members: str) -> Trigger:
    """An attribute of one of these names stands in a condition, or is compared."""
    return Trigger(
        lambda quick, _: any(
            isinstance(each, ast.Attribute) and each.attr in members
            for each in chain(
                (compared.left for compared in quick.nodes.get(ast.Compare, ())),
                chain.from_iterable(
                    nodes_in(condition.test)
                    for kind in _CONDITIONS
                    for condition in quick.nodes.get(kind, ())
                ),
            )
        )
    )


class Tested(Match):
    """An expression that a condition needs the value of: ``x`` of ``if x and y``."""

    node: cst.BaseExpression


class Iterated(Match):
    """An expression that a loop or a comprehension runs over."""

    node: cst.BaseExpression


def decisions(of: Sort) -> Query[Tested]:
    """Conditions, and parts of them, of such a sort, or an order comparison of one: ``if x > 0``.

    Not in code that is guarded.
    """

    def find(module: Module, facts: TargetFacts) -> Iterator[Tested]:
        for test in (
            *(each.test for each in module.nodes(cst.If)),
            *(each.test for each in module.nodes(cst.While)),
            *(each.test for each in module.nodes(cst.IfExp)),
            *(each.test for each in module.nodes(cst.Assert)),
        ):
            for each in _parts(test):
                if not any(of.is_one(module, one) for one in _asked(each)):
                    continue
                if not module.is_guarded(each):
                    yield Tested(module, facts, each, symbol="", confidence=Confidence.LIKELY)

    def asked(quick: QuickFacts, _: TargetFacts) -> Iterator[_Asked]:
        for kind in _CONDITIONS:
            for condition in quick.nodes.get(kind, ()):
                for each in conditions_in(condition.test):
                    match each:
                        case ast.Compare(
                            left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]
                        ):
                            yield condition, left
                            yield condition, each.comparators[0]
                        case _:
                            yield condition, each

    return Query(find, _some(asked, of))


def loops(of: Sort) -> Query[Iterated]:
    """What loops and comprehensions run over, of such a sort; not in code that is guarded."""

    def find(module: Module, facts: TargetFacts) -> Iterator[Iterated]:
        for each in (
            *(loop.iter for loop in module.nodes(cst.For)),
            *(loop.iter for loop in module.nodes(cst.CompFor)),
        ):
            if of.is_one(module, each) and not module.is_guarded(each):
                yield Iterated(module, facts, each, symbol="", confidence=Confidence.LIKELY)

    def asked(quick: QuickFacts, _: TargetFacts) -> Iterator[_Asked]:
        for kind in (ast.For, ast.comprehension):
            yield from ((loop, loop.iter) for loop in quick.nodes.get(kind, ()))

    return Query(find, _some(asked, of))


def given_first(calls: CallQuery, of: Sort) -> Query[Call]:
    """Of these calls those whose first argument is of such a sort: ``len(x)``."""

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        for call in calls.find(module, facts):
            given = call.node.args[:1]
            if any(not each.star and of.is_one(module, each.value) for each in given):
                yield call

    def asked(quick: QuickFacts, facts: TargetFacts) -> Iterator[_Asked]:
        for called in calls.may_find(quick, facts):
            firsts = (*called.node.args[:1], *(e.value for e in called.node.keywords[:1]))
            yield from ((called.node, each) for each in firsts)

    return Query(find, calls.trigger & _some(asked, of))


def _parts(test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the conditions that ``and``, ``or`` and ``not`` join to one."""
    match test:
        case cst.BooleanOperation(left=left, right=right):
            yield from _parts(left)
            yield from _parts(right)
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            yield from _parts(inner)
        case _:
            yield test


def _asked(condition: cst.BaseExpression) -> tuple[cst.BaseExpression, ...]:
    """Return what a condition needs the value of: both sides of an order comparison."""
    match condition:
        case cst.Comparison(comparisons=[one]) if isinstance(one.operator, _ORDERING):
            return condition.left, one.comparator
    return (condition,)


def _some(
    asked: Callable[[QuickFacts, TargetFacts], Iterable[_Asked]],
    of: Sort,
) -> Trigger:
    """Return the trigger for files in which something that is asked may be of a sort."""

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        def speaks(possible: MayTypes) -> bool:
            table = possible.symbol_table
            return any(
                of.may_be_one(Site(quick, possible, table.places.get(place, table.module)), each)
                for place, each in asked(quick, facts)
            )

        return may_hold(quick, facts, speaks)

    return Trigger(holds)
