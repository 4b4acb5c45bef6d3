"""Queries for generator functions of the file whose batches go to a model."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.forms import form_of
from kdoctor.analysis.queries.matches import Match, Where
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.training.generators import generator_calls_fed, may_feed_functions
from kdoctor.analysis.triggers import Trigger
from kdoctor.model import Confidence
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import inner_nodes
from kdoctor.syntax.libcst_walk import own_nodes
from kdoctor.syntax.quick_facts import QuickFacts


class Generator(Match):
    """A function of the file that makes batches: ``calls`` are those of it that feed a model.

    ``feeds`` are the methods of the model that they are given to.
    """

    node: cst.FunctionDef

    def __init__(self, module: Module, facts: TargetFacts, node: cst.FunctionDef) -> None:
        super().__init__(
            module, facts, node, symbol="keras.Model.fit", confidence=Confidence.LIKELY
        )
        self.calls: list[cst.Call] = []
        self.feeds: set[str] = set()

    @property
    def yields(self) -> list[cst.Yield]:
        """What it yields, in source order."""
        return [each for each in own_nodes(self.node.body) if isinstance(each, cst.Yield)]


def generators(*fed_to: str, yielding: Where) -> Query[Generator]:
    """Functions whose batches go to one of these methods of a model.

    ``yielding`` is asked of the form of what they yield, of which one must fit.
    """

    def find(module: Module, facts: TargetFacts) -> Iterator[Generator]:
        found: dict[cst.FunctionDef, Generator] = {}
        for use, call, function in generator_calls_fed(module):
            made = found.setdefault(function, Generator(module, facts, function))
            made.calls.append(call)
            made.feeds.add(use.member)
        for each in found.values():
            if not each.feeds.isdisjoint(fed_to) and any(_gives(one) for one in each.yields):
                yield each

    def _gives(node: cst.Yield) -> bool:
        value = node.value
        return isinstance(value, cst.BaseExpression) and yielding(form_of(value))

    def holds(quick: QuickFacts, _: TargetFacts) -> bool:
        fitting = {
            each
            for each in quick.nodes.get(ast.Yield, ())
            if each.value is not None and yielding(form_of(each.value))
        }
        names = may_feed_functions(quick, fed_to) if fitting else ()
        return any(
            function.name in names and not fitting.isdisjoint(inner_nodes(function))
            for function in quick.nodes.get(ast.FunctionDef, ())
        )

    return Query(find, Trigger.needing(fed_to, holds))
