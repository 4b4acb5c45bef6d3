"""Queries for names that are imported, or read through an import."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.matches import Name
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.triggers import Trigger, names
from kdoctor.syntax import Module


def references(
    *last_names: str, where: Callable[[TargetFacts, str], bool], guarded: bool = False
) -> Query[Name]:
    """Uses of names, imports among them, of whose dotted name ``where`` holds.

    ``last_names`` are the last parts that such names can have, none where they can be any.
    """

    def find(module: Module, facts: TargetFacts) -> Iterator[Name]:
        for each in module.references:
            if where(facts, each.name) and (guarded or not module.is_guarded(each.node)):
                yield Name(module, facts, each)

    trigger = names(where)
    if last_names:
        trigger = Trigger.among("words", last_names) & trigger
    return Query(find, trigger)
