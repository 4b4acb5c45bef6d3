"""What differs between two texts is found in a time that grows with their lines."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kdoctor.documents.line_changes import changes, pairs

LINES = st.lists(st.sampled_from("abcdefgh"), max_size=300)


def rebuilt(old: Sequence[str], new: Sequence[str]) -> list[str]:
    text, at = [], 0
    for each in changes(old, new):
        text += [*old[at : each.start], *new[each.new_start : each.new_end]]
        at = each.end
    return [*text, *old[at:]]


@given(LINES, LINES)
def test_the_changes_make_one_text_of_the_other(old, new):
    assert rebuilt(old, new) == new


@given(st.lists(st.integers(0, 2000), unique=True, max_size=600), st.randoms())
def test_lines_that_each_side_has_once_are_found(numbers, random):
    old = [str(each) for each in numbers]
    new = [each if random.random() < 0.7 else f"{each}!" for each in old]
    assert rebuilt(old, new) == new
    assert all(old[each.start : each.end] != [] for each in changes(old, new))
    kept = len(old) - sum(each.end - each.start for each in changes(old, new))
    assert kept == sum(one == other for one, other in zip(old, new, strict=True))


class Counting(str):
    """A line that counts how often it is compared."""

    __slots__ = ()
    count = 0

    def __eq__(self, other: object) -> bool:
        Counting.count += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def one_changed(size: int) -> tuple[list[str], list[str]]:
    return ["same"] * size, ["same"] * (size // 2) + ["other"] + ["same"] * (size - size // 2 - 1)


def every_second(size: int) -> tuple[list[str], list[str]]:
    return (
        [f"{each}" for each in range(size)],
        [f"{each}{'!' * (each % 2)}" for each in range(size)],
    )


def every_second_of_few(size: int) -> tuple[list[str], list[str]]:
    return ["a", "b"] * (size // 2), ["a", "c"] * (size // 2)


def moved(size: int) -> tuple[list[str], list[str]]:
    return [f"{each}" for each in range(size)], [f"{each}" for each in range(size - 1, -1, -1)]


def of_other_lengths(size: int) -> tuple[list[str], list[str]]:
    return ["a", "b"] * (size // 2), ["a", "b", "c"] * (size // 2)


@pytest.mark.parametrize(
    "texts", [one_changed, every_second, every_second_of_few, moved, of_other_lengths]
)
def test_twice_the_lines_take_twice_the_comparisons(texts):
    def compared(size: int) -> int:
        old, new = ([Counting(each) for each in side] for side in texts(size))
        Counting.count = 0
        assert rebuilt(old, new) == new
        return Counting.count

    assert compared(4000) <= 2.4 * compared(2000)


def test_lines_are_paired_with_those_they_come_from():
    old = ["a", "b", "c", "d"]
    assert [*pairs(old, ["a", "x", "c", "new", "d"])] == [(0, 0), (1, 1), (2, 2), (4, 3)]
