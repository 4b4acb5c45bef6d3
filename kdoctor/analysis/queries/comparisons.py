"""Queries for comparisons of two sides."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.forms import form_of
from kdoctor.analysis.queries.matches import Match, Where
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.triggers import Operator, Trigger, may_have_kind, some_operator
from kdoctor.model import Confidence
from kdoctor.syntax import Module
from kdoctor.syntax.may_types import MayTypes
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.symbol_table import Namespace
from kdoctor.value_types import Kind

_OPERATORS: Final[dict[str, tuple[type[cst.BaseCompOp], type[ast.cmpop]]]] = {
    "==": (cst.Equal, ast.Eq),
    "!=": (cst.NotEqual, ast.NotEq),
}


class Comparison(Match):
    """A comparison of two sides."""

    node: cst.Comparison

    def __init__(self, module: Module, facts: TargetFacts, node: cst.Comparison) -> None:
        super().__init__(module, facts, node, symbol="", confidence=Confidence.LIKELY)
        self.left = node.left
        self.right = node.comparisons[0].comparator


def comparisons(
    operator: str, *, of: Kind, against: Where, guarded: bool = False
) -> Query[Comparison]:
    """Comparisons of an object of this kind, by ``==`` or ``!=``.

    ``against`` is asked of the form of the other side; a name may have any.
    """
    exact, rough = _OPERATORS[operator]

    def find(module: Module, facts: TargetFacts) -> Iterator[Comparison]:
        for node in module.nodes(cst.Comparison):
            if len(node.comparisons) != 1 or not isinstance(node.comparisons[0].operator, exact):
                continue
            found = Comparison(module, facts, node)
            sides = ((found.left, found.right), (found.right, found.left))
            if any(_is_of(module, one, of) and _fits(other, against) for one, other in sides) and (
                guarded or not module.is_guarded(node)
            ):
                yield found

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        asked = {
            node: [one for one, other in _sides(node) if _may_fit(quick, other, against)]
            for node in quick.nodes.get(ast.Compare, ())
            if len(node.ops) == 1 and isinstance(node.ops[0], rough)
        }

        def speaks(possible: MayTypes, node: Operator, space: Namespace) -> bool:
            sides = asked.get(node, ()) if isinstance(node, ast.Compare) else ()
            return any(may_have_kind(possible, each, space, {of}) for each in sides)

        return any(asked.values()) and some_operator(quick, facts, speaks)

    return Query(find, Trigger(holds))


def _is_of(module: Module, node: cst.BaseExpression, kind: Kind) -> bool:
    found = module.type_of(node)
    return found is not None and found.kind is kind


def _fits(node: cst.BaseExpression, against: Where) -> bool:
    return isinstance(node, cst.Name) or against(form_of(node))


def _sides(node: ast.Compare) -> tuple[tuple[ast.expr, ast.expr], tuple[ast.expr, ast.expr]]:
    right = node.comparators[0]
    return (node.left, right), (right, node.left)


def _may_fit(quick: QuickFacts, node: ast.expr, against: Where) -> bool:
    if isinstance(node, ast.Name):
        values = quick.values_of(node)
        # What no assignment gives a value, a loop or a call does.
        return not values or any(
            isinstance(each, ast.Name) or against(form_of(each)) for each in values
        )
    return against(form_of(node))
