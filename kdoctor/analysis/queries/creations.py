"""Queries for calls that create objects, be it of a class of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.forms import form_of
from kdoctor.analysis.triggers import Trigger, calls_that_make, may_be_called_on, may_be_of
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts
from kdoctor.value_types import Kind


def creates(
    kind: Kind,
    keyword: Callable[[str], object],
    where: Callable[[TargetFacts, str, object], bool] | None = None,
) -> Trigger:
    """A call that passes such a keyword may create an object of this kind.

    It may be of the user's own class, or begin one: ``super().__init__(weights=w)``. ``where`` is
    asked of the keyword and the form of what is passed.
    """

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        asked = [
            called
            for each in filter(keyword, quick.keywords)
            for called in quick.calls_with(each)
            if where is None or where(facts, each, _form(called, each))
        ]
        return bool(asked) and _may_create(quick, facts, asked, kind)

    return Trigger(holds)


def _form(called: QuickCall, keyword: str) -> object:
    given = called.argument(keyword)
    assert given is not None
    return form_of(given)


def _may_create(
    quick: QuickFacts, facts: TargetFacts, asked: Iterable[QuickCall], kind: Kind
) -> bool:
    wanted = {each.node for each in asked}
    if any(each.node in wanted for _, each in calls_that_make(quick, facts, kind)):
        return True
    if may_be_of(quick, facts, [(each, each) for each in wanted], {kind}):
        return True
    starts = [each for each in asked if each.leaf == "__init__"]
    return may_be_called_on(quick, facts, starts, {kind})
