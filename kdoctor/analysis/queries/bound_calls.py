"""Queries for calls of Keras' own callables, bound to the parameters that the target gives them.

What a rule asks of a call, it asks of both trees: of a ``KerasCall`` or a ``Callee``, and of what
is ``Passed``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import arguments
from kdoctor.analysis.dataflow.keyword_dicts import HeldKeyword, held_keywords
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.keras_calls import KerasCall, keras_calls, partial_calls
from kdoctor.analysis.queries.callables import (
    Callee,
    callee_of,
    calls_with_others,
    gets_out_of_a_dict,
    may_call_it,
    passes,
)
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.analysis.queries.forms import Expression, form_of
from kdoctor.analysis.queries.matches import Match
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.triggers import Trigger, said_of_names
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts

Bound = KerasCall | Callee
"""Something of Keras that is called: in the exact tree, and in Python's own."""


NOTHING: Final = Expression("")
"""The form of what is not passed."""


class Passed(Struct, frozen=True):
    """What a call passes: its keywords, and what it passes by position.

    ``leaf`` is the last name of what is called, as it is written.
    """

    leaf: str
    by_keyword: Mapping[str, ast.expr] | Mapping[str, cst.BaseExpression]
    values: Sequence[ast.expr] | Sequence[cst.BaseExpression]
    is_starred: bool
    is_hidden: bool

    @property
    def keywords(self) -> Collection[str]:
        """The keywords that are passed."""
        return self.by_keyword.keys()

    @property
    def places(self) -> int:
        """The number of arguments by position."""
        return len(self.values)

    @property
    def forms(self) -> Iterator[object]:
        """The forms of the arguments by position."""
        return map(form_of, self.values)

    def form(self, name: str, place: int | None = None, depth: int = 3) -> object:
        """Return the form of an argument, ``NOTHING`` where it is not passed."""
        given = self.by_keyword.get(name)
        if given is None and place is not None and place < self.places:
            given = self.values[place]
        return NOTHING if given is None else form_of(given, depth)

    def has(self, name: str, place: int) -> bool:
        """Say whether an argument is passed, by keyword or at its place."""
        return name in self.keywords or self.places > place


class BoundCall(Match):
    """A call of something of Keras: ``bound`` tells what it took once and takes now."""

    node: cst.Call

    def __init__(self, module: Module, facts: TargetFacts, bound: KerasCall) -> None:
        super().__init__(
            module, facts, bound.call, symbol=bound.name, confidence=bound.confidence
        )  # fmt: skip
        self.bound = bound
        self.call = bound.call

    @property
    def passed(self) -> Passed:
        """What the call passes."""
        return passed_by(self.call)


class BoundKeyword(BoundCall):
    """A keyword that such a call passes: as ``arg``, or out of a dict that is ``held``."""

    def __init__(self, found: BoundCall, keyword: str, given: cst.Arg | HeldKeyword) -> None:
        super().__init__(found.module, found.facts, found.bound)
        self.keyword = keyword
        self.given = given
        self.value = given.value


def bound_calls(
    of: Callable[[Bound], object],
    where: Callable[[TargetFacts, Bound, Passed], bool],
    *,
    by_name: bool = False,
    written: str = "",
) -> Query[BoundCall]:
    """Calls of what ``of`` says of Keras, where ``where`` holds of what they pass.

    ``by_name``: only of classes and functions, also such that pass nothing. ``written`` is the last
    name as it is written, if it must be one: ``__init__``.
    """

    def find(module: Module, facts: TargetFacts) -> Iterator[BoundCall]:
        for each in keras_calls(module, facts):
            if (by_name and each.reference is None) or not of(each):
                continue
            passed = passed_by(each.call)
            is_one = written in ("", passed.leaf) and where(facts, each, passed)
            if is_one and not module.is_guarded(each.call):
                yield BoundCall(module, facts, each)

    def speaks(facts: TargetFacts, callee: Callee, called: QuickCall) -> bool:
        return (not written or called.leaf == written) and where(facts, callee, _may_pass(called))

    if not by_name:
        trigger = passes(speaks, of=of)
        return Query(find, attribute(written) & trigger if written else trigger)

    def concerns(facts: TargetFacts, name: str) -> bool:
        callee = callee_of(name, facts)
        return callee is not None and bool(of(callee))

    said = said_of_names(concerns)

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        return any(
            speaks(facts, callee, called)
            for name in said(facts).among(quick.calls_by_meaning.keys())
            if (callee := callee_of(name, facts)) is not None
            for called in quick.calls_by_meaning[name]
        )

    return Query(find, Trigger(holds))


def bound_keywords(
    of: Callable[[Bound], object], where: Callable[[TargetFacts, Bound, str], bool]
) -> Query[BoundKeyword]:
    """Keywords of which ``where`` holds, of calls of what ``of`` says, and of partials of it.

    Those that several calls get out of one dict are found once.
    """

    def find(module: Module, facts: TargetFacts) -> Iterator[BoundKeyword]:
        told: set[cst.CSTNode] = set()
        for bound in (*keras_calls(module, facts), *partial_calls(module, facts)):
            if not of(bound):
                continue
            call = BoundCall(module, facts, bound)
            for each in bound.call.args:
                keyword = "" if each.keyword is None else each.keyword.value
                if keyword and where(facts, bound, keyword) and not module.is_guarded(bound.call):
                    yield BoundKeyword(call, keyword, each)
            for held in held_keywords(module, bound.call):
                is_new = held.key not in told and not module.is_guarded(bound.call)
                if is_new and where(facts, bound, held.keyword):
                    told.add(held.key)
                    yield BoundKeyword(call, held.keyword, held)

    concerns = lru_cache(maxsize=4096)(of)

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        return any(
            concerns(callee)
            and any(where(facts, callee, each) for each in keywords)
            and may_call_it(quick, facts, callee, called)
            for callee, called, keywords in calls_with_others(quick, facts)
        )

    return Query(find, Trigger(holds) | gets_out_of_a_dict(where, of=of))


def passed_by(call: cst.Call) -> Passed:
    """Return what a call passes."""
    given = arguments(call)
    stars = {each.star for each in given}
    function = call.func
    leaf = function.attr if isinstance(function, cst.Attribute) else function
    return Passed(
        leaf.value if isinstance(leaf, cst.Name) else "",
        {each.keyword.value: each.value for each in given if each.keyword is not None},
        [each.value for each in given if each.keyword is None and each.star != "**"],
        "*" in stars,
        not stars <= {""},
    )


def _may_pass(called: QuickCall) -> Passed:
    return Passed(
        called.leaf,
        {each.arg: each.value for each in called.node.keywords if each.arg is not None},
        called.by_position,
        called.starred,
        called.is_hidden,
    )
