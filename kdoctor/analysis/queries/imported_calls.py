"""Queries for calls of what is imported: functions of Keras, and of any other package."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import chain

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.call_query import Callee, CallParts, CallQuery, always
from kdoctor.analysis.queries.matches import Call
from kdoctor.analysis.triggers import said_of_names
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module


def functions(*names: str, within: str = "") -> CallQuery:
    """Calls of functions of Keras 3, named without their root: ``utils.get_file``.

    Or of all that is in the module ``within``.
    """
    wanted = frozenset(names)
    words = {name.rpartition(".")[2] for name in (*names, within) if name}

    def is_one(facts: TargetFacts, name: str) -> bool:
        split = split_root(name)
        if split is None or not facts.runs_keras_3(split[0]):
            return False
        return split[1] in wanted or bool(within and split[1].startswith(f"{within}."))

    return imported_calls(is_one, *words)


def imported(*names: str) -> CallQuery:
    """Calls of what has one of these dotted names, of whatever package: ``numpy.array``."""
    wanted = frozenset(names)
    return imported_calls(
        lambda _, name: name in wanted, *(name.rpartition(".")[2] for name in names)
    )


def imported_calls(where: Callable[[TargetFacts, str], bool], *last_names: str) -> CallQuery:
    """Calls of what has a dotted name of which ``where`` holds, of whatever package.

    ``last_names`` are the last parts that such names can have, none where they can be any.
    """

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        for each in module.references:
            if each.call is not None and where(facts, each.name):
                yield Call(module, facts, each.call, reference=each)

    said = said_of_names(where)
    return CallQuery(
        CallParts(
            Callee(
                find,
                lambda quick, facts: chain.from_iterable(
                    quick.calls_by_meaning[name]
                    for name in said(facts).among(quick.calls_by_meaning.keys())
                ),
                always,
                frozenset(last_names),
            )
        )
    )


def calls_of(where: Callable[[TargetFacts, str, Collection[str]], bool]) -> CallQuery:
    """Calls of imported things; ``where`` is asked of their dotted name and the keywords."""

    def find(module: Module, facts: TargetFacts) -> Iterator[Call]:
        for each in module.references:
            if each.call is None:
                continue
            keywords = {given.keyword.value for given in each.call.args if given.keyword}
            if where(facts, each.name, keywords):
                yield Call(module, facts, each.call, reference=each)

    return CallQuery(
        CallParts(
            Callee(
                find,
                lambda quick, facts: (
                    each
                    for name, found in quick.calls_by_meaning.items()
                    for each in found
                    if where(facts, name, each.keywords)
                ),
                always,
                frozenset(),
            )
        )
    )
