"""Queries for calls by what stands at their positions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final

from kdoctor.analysis.calls import is_hidden, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.forms import form_of, possible_forms
from kdoctor.analysis.queries.matches import Call
from kdoctor.analysis.queries.parts import ANYTHING
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.triggers import Trigger
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts

Place = tuple[str, int]
"""The dotted name of what is called, and a position, from 0."""

_MAX_VALUES: Final = 8  # values that are looked at of one name


def calls_by_position(
    where: Callable[[TargetFacts, Place, object], bool],
    *,
    among: Callable[[TargetFacts, Place], bool] = lambda _facts, _place: True,
) -> Query[Call]:
    """Calls of names of Keras 3 in which ``where`` holds of the form at one of the positions.

    It can hold at those positions alone of which ``among`` holds. Not of calls that are hidden or
    guarded.
    """
    may_hold_at = lru_cache(maxsize=4096)(among)

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        for each in module.references:
            call, split = each.call, split_root(each.name)
            if call is None or split is None or not facts.runs_keras_3(split[0]):
                continue
            given = [value_of(module, one.value) for one in call.args if one.keyword is None]
            if is_hidden(call) or module.is_guarded(call):
                continue
            if any(where(facts, (each.name, at), form_of(one)) for at, one in enumerate(given)):
                yield Call(module, facts, call, reference=each)

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        return any(
            where(facts, (name, at), form)
            for name, calls in quick.calls_by_meaning.items()
            if split_root(name) is not None
            for called in calls
            for at, given in enumerate(called.node.args)
            if may_hold_at(facts, (name, at))
            for form in _forms(quick, given)
        )

    return Query(find, Trigger(holds))


def _forms(quick: QuickFacts, given: ast.expr) -> Iterable[object]:
    """Return what an argument may be; of a name with many values, something that is not known."""
    if isinstance(given, ast.Name) and len(quick.values_of(given)) > _MAX_VALUES:
        return (ANYTHING,)
    return possible_forms(quick, given)
