"""Queries for the data that go to a model, and for generator functions that give them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Final

import libcst as cst

from kdoctor.analysis.class_glimpses import method_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.calls import calls
from kdoctor.analysis.queries.matches import Argument, Match, Where
from kdoctor.analysis.queries.parts import form_with_parts, may_have_parts
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.training.generators import (
    FED,
    generator_calls_fed,
    may_feed,
    may_feed_functions,
)
from kdoctor.analysis.triggers import Trigger, may_hold
from kdoctor.model import Confidence
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import inner_nodes
from kdoctor.syntax.libcst_walk import own_nodes
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

HAS_GENERATORS: Final = Trigger(lambda quick, _: bool(quick.nodes.get(ast.Yield)))
"""A function of the file is a generator."""


class Generator(Match):
    """A function of the file that makes batches: ``calls`` are those of it that feed a model.

    ``feeds`` are the methods of the model that they are given to, in the order of the calls.
    """

    node: cst.FunctionDef

    def __init__(self, module: Module, facts: TargetFacts, node: cst.FunctionDef) -> None:
        super().__init__(
            module, facts, node, symbol="keras.Model.fit", confidence=Confidence.LIKELY
        )
        self.calls: list[cst.Call] = []
        self.feeds: list[str] = []

    @property
    def yields(self) -> list[cst.Yield]:
        """What it yields, in source order."""
        return [each for each in own_nodes(self.node.body) if isinstance(each, cst.Yield)]


def generators(*fed_to: str, yielding: Where) -> Query[Generator]:
    """Functions whose batches go to one of these methods of a model.

    ``yielding`` is asked of the form of what they yield, with its parts (see ``parts``): one must
    fit.
    """
    methods = frozenset(fed_to)

    def find(module: Module, facts: TargetFacts) -> Iterator[Generator]:
        found: dict[cst.FunctionDef, Generator] = {}
        for use, call, function in generator_calls_fed(module):
            made = found.setdefault(function, Generator(module, facts, function))
            made.calls.append(call)
            made.feeds.append(use.member)
        for each in found.values():
            given = (one.value for one in each.yields)
            if not methods.isdisjoint(each.feeds) and any(
                isinstance(one, cst.BaseExpression) and yielding(form_with_parts(one))
                for one in given
            ):
                yield each

    def holds(quick: QuickFacts, _: TargetFacts) -> bool:
        fitting = {
            each
            for each in quick.nodes.get(ast.Yield, ())
            if each.value is not None and yielding(may_have_parts(quick, each.value))
        }
        names = may_feed_functions(quick, fed_to) if fitting else ()
        return any(
            function.name in names and not fitting.isdisjoint(inner_nodes(function))
            for function in quick.nodes.get(ast.FunctionDef, ())
        )

    return Query(find, Trigger.needing(methods, holds))


def data(*methods: str) -> Query[Argument]:
    """The data that these methods of a model are given: by ``x``, ``generator`` and the like."""
    given = (
        calls(method, on=Kind.MODEL).even(hidden=True).argument(name, None if index else 0)
        for method in methods
        for index, name in enumerate(FED[method])
    )
    return reduce(or_, given)


def fed_by(*names: str, objects_with: str) -> Trigger:
    """What is called so, or is of a package that is called so, may make the data of a model.

    So may a class of the file that has a method ``objects_with``, or a function that is decorated,
    where there is such a class.
    """
    wanted = frozenset(names)

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        own = {
            each.name
            for each in quick.nodes.get(ast.ClassDef, ())
            if method_of(each, objects_with) is not None
        }
        if own:
            own.update(each.name for each in quick.nodes[ast.FunctionDef] if each.decorator_list)
        groups = [quick.calls_by_leaf.get(name, ()) for name in wanted | own]
        groups += [
            calls
            for name, calls in quick.calls_by_meaning.items()
            if name.partition(".")[0] in wanted
        ]
        made = {called.node for calls in groups for called in calls}
        return bool(made) and may_hold(
            quick, facts, lambda possible: may_feed(quick, possible.symbol_table, made)
        )

    return Trigger.needing({*wanted, objects_with}, holds)
