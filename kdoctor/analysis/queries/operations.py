"""Queries for operators, by what meets there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain
from typing import Final

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.matches import Match
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.queries.sorts import Site, Sort
from kdoctor.analysis.triggers import Trigger, may_hold
from kdoctor.memoize import once
from kdoctor.model import Confidence
from kdoctor.syntax import Module
from kdoctor.syntax.may_types import MayTypes
from kdoctor.syntax.quick_facts import QuickFacts

_Operator = type[cst.BaseBinaryOp | cst.BaseCompOp]
_OPERATORS: Final[dict[str, tuple[_Operator, type[ast.operator | ast.cmpop]]]] = {
    "+": (cst.Add, ast.Add),
    "-": (cst.Subtract, ast.Sub),
    "*": (cst.Multiply, ast.Mult),
    "/": (cst.Divide, ast.Div),
    "//": (cst.FloorDivide, ast.FloorDiv),
    "%": (cst.Modulo, ast.Mod),
    "**": (cst.Power, ast.Pow),
    "@": (cst.MatrixMultiply, ast.MatMult),
    "==": (cst.Equal, ast.Eq),
    "!=": (cst.NotEqual, ast.NotEq),
    ">": (cst.GreaterThan, ast.Gt),
    ">=": (cst.GreaterThanEqual, ast.GtE),
    "<": (cst.LessThan, ast.Lt),
    "<=": (cst.LessThanEqual, ast.LtE),
}


SIGNS: Final = tuple(_OPERATORS)
"""All operators between two values: arithmetic, and comparisons of values."""


class Operation(Match):
    """An operator between ``one`` and ``other``, which are of the sorts that were asked for.

    ``is_first``: ``one`` is to the left.
    """

    node: cst.BinaryOperation | cst.Comparison

    def __init__(
        self,
        module: Module,
        facts: TargetFacts,
        node: cst.BinaryOperation | cst.Comparison,
        *,
        is_first: bool,
    ) -> None:
        super().__init__(module, facts, node, symbol="", confidence=Confidence.LIKELY)
        self.one, self.other = _sides(node) if is_first else _sides(node)[::-1]
        self.is_first = is_first


def operations(*signs: str, of: Sort, with_: Sort, guarded: bool = False) -> Query[Operation]:
    """Operators between values of two sorts, on either side: ``x + [1]``.

    Of a chain of comparisons the first. An operator may be found twice, once for each side. ``of``
    is asked first: let it be the cheaper question.
    """
    exact = tuple(_OPERATORS[each][0] for each in signs)
    rough = frozenset(_OPERATORS[each][1] for each in signs)

    def find(module: Module, facts: TargetFacts) -> Iterator[Operation]:
        nodes: Iterator[cst.BinaryOperation | cst.Comparison] = chain(
            module.nodes(cst.BinaryOperation), module.nodes(cst.Comparison)
        )
        for node in nodes:
            if not isinstance(_operator(node), exact):
                continue
            left, right = _sides(node)
            for one, other in ((left, right), (right, left)):
                if not of.is_one(module, one) or not with_.is_one(module, other):
                    continue
                if guarded or not module.is_guarded(node):
                    yield Operation(module, facts, node, is_first=one is left)

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        written = _operators(quick)
        asked = [each for sign in rough for each in written.get(sign, ())]

        def meet(possible: MayTypes, left: ast.expr, right: ast.expr, scope: ast.AST) -> bool:
            site = Site(quick, possible, possible.symbol_table.spaces[scope])
            return any(
                of.may_be_one(site, one) and with_.may_be_one(site, other)
                for one, other in ((left, right), (right, left))
            )

        return bool(asked) and may_hold(
            quick, facts, lambda possible: any(meet(possible, *each) for each in asked)
        )

    return Query(find, Trigger(holds))


@once  # several rules ask it
def _operators(
    quick: QuickFacts,
) -> dict[type[ast.AST], list[tuple[ast.expr, ast.expr, ast.AST]]]:
    """Return the two sides of each operator, and the scope, by the class of the operator."""
    found: dict[type[ast.AST], list[tuple[ast.expr, ast.expr, ast.AST]]] = {}
    for scope, nodes in quick.scopes.items():
        for node in nodes:
            if node.__class__ is ast.BinOp:
                found.setdefault(type(node.op), []).append((node.left, node.right, scope))
            elif node.__class__ is ast.Compare:
                sides = node.left, node.comparators[0], scope
                found.setdefault(type(node.ops[0]), []).append(sides)
    return found


def _operator(node: cst.BinaryOperation | cst.Comparison) -> cst.CSTNode:
    return node.operator if isinstance(node, cst.BinaryOperation) else node.comparisons[0].operator


def _sides(
    node: cst.BinaryOperation | cst.Comparison,
) -> tuple[cst.BaseExpression, cst.BaseExpression]:
    if isinstance(node, cst.BinaryOperation):
        return node.left, node.right
    return node.left, node.comparisons[0].comparator
