"""What rests on itself has one answer, whoever asks first, found in a bounded number of steps."""

from __future__ import annotations

import itertools
import random

from kdoctor.analysis.fixed_points import Expansion, GreatestFixedPoint

Graph = dict[int, list[int]]


class Counted:
    """A graph of names: each holds where all that it is bound to holds, and it is not refused."""

    def __init__(self, graph: Graph, refused: frozenset[int] = frozenset()) -> None:
        self.graph = graph
        self.refused = refused
        self.steps = 0
        self._answers: GreatestFixedPoint[int] = GreatestFixedPoint()
        self._made: Expansion[int, frozenset[int]] = Expansion()

    def holds(self, name: int) -> bool:
        return self._answers.holds(name, lambda: self._find(name))

    def _find(self, name: int) -> bool:
        self.steps += 1
        return name not in self.refused and all(map(self.holds, self.graph[name]))

    def made_of(self, name: int) -> frozenset[int]:
        return self._made.of(name, frozenset({name}), lambda: self._expand(name))

    def _expand(self, name: int) -> frozenset[int]:
        self.steps += 1
        parts = self.graph[name]
        return frozenset().union(*map(self.made_of, parts)) if parts else frozenset({name})


def along_all_paths(graph: Graph, refused: frozenset[int], name: int, path: frozenset[int]) -> bool:
    """Return what the definition says: what leads back to itself is as the others have it."""
    if name in path:
        return True
    further = path | {name}
    return name not in refused and all(
        along_all_paths(graph, refused, each, further) for each in graph[name]
    )


def drawn(seed: int, size: int) -> Graph:
    draw = random.Random(seed)  # noqa: S311
    return {n: draw.sample(range(size), draw.randint(0, 3)) for n in range(size)}


def test_each_answer_is_that_of_all_paths_whoever_asks_first():
    for seed in range(300):
        graph = drawn(seed, 7)
        refused = frozenset({seed % 7, seed % 3})
        expected = [along_all_paths(graph, refused, n, frozenset()) for n in graph]
        for order in ([*graph], [*reversed(graph)]):
            counted = Counted(graph, refused)
            found = {n: counted.holds(n) for n in order}
            assert [found[n] for n in graph] == expected, (graph, refused)


def test_what_is_made_of_itself_comes_to_itself_whoever_asks_first():
    for seed in range(300):
        graph = drawn(seed, 7)
        found = [
            {n: counted.made_of(n) for n in order}
            for order in itertools.islice(itertools.permutations(graph), 0, 5040, 1000)
            for counted in [Counted(graph)]
        ]
        assert all(each == found[0] for each in found), graph
        for name, parts in graph.items():
            if not parts or name in parts:
                assert found[0][name] == {name}


def test_the_steps_grow_as_the_source_does_and_no_faster():
    def steps(size: int) -> list[int]:
        full = {n: [*range(size)] for n in range(size)}
        chain = {n: [n + 1, n + 1] if n + 1 < size else [] for n in range(size)}
        counts = []
        for graph in (full, chain):
            for refused in (frozenset[int](), frozenset({size - 1})):
                counted = Counted(graph, refused)
                counted.holds(0)
                counts.append(counted.steps)
            counted = Counted(graph)
            counted.made_of(0)
            counts.append(counted.steps)
        return counts

    assert max(steps(400)) <= 4 * 400
    assert all(more <= 2.1 * less for more, less in zip(steps(400), steps(200), strict=True))
