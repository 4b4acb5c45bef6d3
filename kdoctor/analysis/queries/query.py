"""A query: the candidates of a rule, and the question of the gate, from one statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from operator import and_
from typing import Generic, TypeVar

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.matches import File, Match
from kdoctor.analysis.triggers import Trigger
from kdoctor.syntax import Module

M_co = TypeVar("M_co", bound=Match, covariant=True)
N = TypeVar("N", bound=Match)


class Query(Generic[M_co]):
    """What a rule looks for.

    ``find`` yields the candidates of a module; ``trigger`` holds, of a file's quick facts, wherever
    it could yield one, and may hold elsewhere.
    """

    def __init__(
        self, find: Callable[[Module, TargetFacts], Iterator[M_co]], trigger: Trigger
    ) -> None:
        self._find = find
        self.trigger = trigger

    def find(self, module: Module, facts: TargetFacts) -> Iterator[M_co]:
        """Yield the candidates in source order."""
        return self._find(module, facts)

    def beside(self, *conditions: Trigger | Query[Match]) -> Query[M_co]:
        """Return the query for files in which all this is, too: ``beside(has_member("fit"))``.

        It narrows the gate. The rule itself asks for it where it matters.
        """
        return Query(self.find, _all_of(*conditions, self.trigger))  # they are asked for less

    def __or__(self, other: Query[N]) -> Query[M_co | N]:
        """Return the query for what one of both finds."""

        def find(module: Module, facts: TargetFacts) -> Iterator[M_co | N]:
            yield from self.find(module, facts)
            yield from other.find(module, facts)

        return Query(find, self.trigger | other.trigger)


def files(*conditions: Trigger | Query[Match]) -> Query[File]:
    """Files in which all this is: for rules that follow values through a whole file."""
    return Query(lambda module, facts: iter((File(module, facts),)), _all_of(*conditions))


def _all_of(*conditions: Trigger | Query[Match]) -> Trigger:
    return reduce(and_, (e.trigger if isinstance(e, Query) else e for e in conditions))
