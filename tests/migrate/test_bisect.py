"""Changes that lose a test, and those that make one pass, are found by applying parts of them."""

from __future__ import annotations

import random

import pytest

from kdoctor.migrate.bisect import keep, needed


@pytest.mark.parametrize("seed", range(20))
def test_exactly_what_loses_a_test_is_dropped(seed):
    draw = random.Random(seed)  # noqa: S311
    changes = list(range(draw.randrange(1, 40)))
    bad = set(draw.sample(changes, draw.randrange(0, min(4, len(changes)) + 1)))
    asked = []

    def lost_with(some):
        asked.append(list(some))
        return [f"test {each}" for each in some if each in bad]

    parted = keep(changes, lost_with)
    assert parted.kept == tuple(each for each in changes if each not in bad)
    assert parted.dropped == tuple((each, (f"test {each}",)) for each in sorted(bad))
    assert len(asked) <= 1 + 12 * max(1, len(bad))


def test_of_two_that_do_not_go_together_the_first_is_kept():
    parted = keep([1, 2, 3], lambda some: ["t"] if {1, 3} <= set(some) else [])
    assert parted.kept == (1, 2)
    assert [change for change, _ in parted.dropped] == [3]


def test_nothing_is_asked_where_there_is_nothing():
    assert keep([], lambda _: pytest.fail("asked")).kept == ()
    assert needed([], lambda _: pytest.fail("asked")) == []


@pytest.mark.parametrize("seed", range(20))
def test_exactly_what_is_needed_is_found(seed):
    draw = random.Random(seed)  # noqa: S311
    changes = list(range(draw.randrange(1, 40)))
    wanted = set(draw.sample(changes, draw.randrange(1, min(4, len(changes)) + 1)))
    assert set(needed(changes, lambda some: wanted <= set(some))) == wanted
