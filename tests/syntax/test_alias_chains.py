"""What names are bound to is found once, on a bounded stack, whoever asks first."""

from __future__ import annotations

import random

import pytest

from kdoctor.syntax.alias_chains import AliasCache, AliasChain, AliasChainOnce

Graph = dict[int, list[int]]


class Refused(Exception):
    pass


class Names:
    """Names that are bound to others; a name that is bound to none is what it is."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.kept = AliasCache(Refused)
        self.steps = self.deepest = self._depth = 0

    def value(self, name: int) -> frozenset[int] | None:
        following = AliasChain(self.kept, Refused)
        return following.answer(lambda: self._of(name, following))

    def strict_value(self, name: int) -> frozenset[int] | None:
        following = AliasChainOnce(self.kept, (None,))
        return following.answer(lambda: self._strict(name, following))

    def _of(self, name: int, following: AliasChain) -> frozenset[int]:
        return following.of(name, lambda: self._find(name, lambda each: self._of(each, following)))

    def _strict(self, name: int, following: AliasChain) -> frozenset[int] | None:
        def find() -> frozenset[int] | None:
            parts = self._find(name, lambda each: self._strict(each, following) or {None})
            return None if None in parts else parts

        return following.of(name, find)

    def _find(self, name, ask):
        self.steps += 1
        self._depth += 1
        self.deepest = max(self.deepest, self._depth)
        try:
            parts = self.graph[name]
            return frozenset().union(*map(ask, parts)) if parts else frozenset({name})
        finally:
            self._depth -= 1


CHAIN = {n: [n + 1, n + 1] if n < 999 else [] for n in range(1000)}


def test_a_long_chain_takes_no_deep_stack_and_each_name_no_more_than_a_few_steps():
    names = Names(CHAIN)
    assert names.value(0) == {999}
    assert names.deepest < 20
    assert names.steps < 3 * len(CHAIN)


def test_what_was_asked_before_changes_no_answer_and_is_not_found_again():
    names = Names(CHAIN)
    assert [names.value(n) for n in (0, 500, 998)] == [{999}] * 3
    before = names.steps
    assert [names.value(n) for n in range(1000)] == [{999}] * 1000
    assert names.steps == before


def test_in_a_ring_there_is_no_answer_and_what_leads_into_it_has_none():
    names = Names({0: [1], 1: [2], 2: [1, 3], 3: []})
    for each in (0, 1, 2):
        with pytest.raises(Refused):
            names.value(each)
    assert names.value(3) == {3}


def test_ways_through_rings_are_given_up_where_there_are_too_many():
    size = 12
    names = Names({n: [*range(size)] for n in range(size)})
    with pytest.raises(Refused):
        names.value(0)
    assert names.steps < 5000


def test_a_ring_of_any_length_is_unknown_to_all_in_it_at_once():
    size = 1000
    ring = Names({n: [(n + 1) % size] for n in range(size)})
    assert [ring.strict_value(n) for n in range(size)] == [None] * size
    assert ring.steps < 20 * size
    assert ring.deepest < 20


def test_rings_are_unknown_whoever_asks_first():
    for seed in range(200):
        draw = random.Random(seed)  # noqa: S311
        graph = {n: draw.sample(range(30), draw.choice((0, 1, 1, 2))) for n in range(30)}
        names = Names(graph), Names(graph)
        forth = {n: names[0].strict_value(n) for n in range(30)}
        back = {n: names[1].strict_value(n) for n in reversed(range(30))}
        assert forth == back, graph
