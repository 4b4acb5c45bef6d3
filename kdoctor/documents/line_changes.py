"""Line diff of two texts, in time linear in the number of lines.

``difflib`` alone takes a step for each pair of equal lines, again for each stretch that it finds:
for 500 equal lines some minutes. It is asked for what is small. What is large is first split at the
lines that each side has once (Cohen's patience diff).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

_MAX_COMPARED_LINES = 200  # lines of one side that are compared with as many of the other
_MAX_PAIRS_PER_LINE = 4  # equal lines of the other side, for each line
_MAX_DEPTH = 16  # of stretches between lines that each side has once


class Stretch(Struct, frozen=True):
    """Lines ``start`` to ``end`` of the old text, for which the new one has others."""

    start: int
    end: int
    new_start: int
    new_end: int


def changes(old: Sequence[str], new: Sequence[str]) -> Iterator[Stretch]:
    """Yield the stretches that differ, in order.

    >>> [(each.start, each.end) for each in changes(["a", "b", "c"], ["a", "x", "c", "d"])]
    [(1, 2), (3, 3)]
    """
    yield from _changes(old, new, Stretch(0, len(old), 0, len(new)), 0)


def pairs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield (new row, old row) of lines that are the same line, changed or not."""
    row, new_row = 0, 0
    for each in changes(old, new):
        yield from zip(range(new_row, each.new_start), range(row, each.start), strict=True)
        yield from zip(
            range(each.new_start, each.new_end), range(each.start, each.end), strict=False
        )
        row, new_row = each.end, each.new_end
    yield from zip(range(new_row, len(new)), range(row, len(old)), strict=True)


def _changes(
    old: Sequence[str], new: Sequence[str], within: Stretch, depth: int
) -> Iterator[Stretch]:
    start, end, new_start, new_end = within.start, within.end, within.new_start, within.new_end
    while start < end and new_start < new_end and old[start] == new[new_start]:
        start, new_start = start + 1, new_start + 1
    while start < end and new_start < new_end and old[end - 1] == new[new_end - 1]:
        end, new_end = end - 1, new_end - 1
    left = Stretch(start, end, new_start, new_end)
    if start == end and new_start == new_end:
        return
    before, after = old[start:end], new[new_start:new_end]
    if set(before).isdisjoint(after):
        yield left
        return
    if _is_small(before, after):
        yield from _by_difflib(before, after, left)
        return
    anchors = _once_in_each(before, after) if depth < _MAX_DEPTH else []
    if not anchors:
        yield from _row_by_row(before, after, left)
        return
    row, new_row = start, new_start
    for one, other in [*anchors, (end - start, new_end - new_start)]:
        gap = Stretch(row, start + one, new_row, new_start + other)
        yield from _changes(old, new, gap, depth + 1)
        row, new_row = start + one + 1, new_start + other + 1


def _is_small(old: Sequence[str], new: Sequence[str]) -> bool:
    if len(old) > _MAX_COMPARED_LINES or len(new) > _MAX_COMPARED_LINES:
        return False
    times = Counter(new)
    return sum(times[each] for each in old) <= _MAX_PAIRS_PER_LINE * (len(old) + len(new))


def _by_difflib(old: Sequence[str], new: Sequence[str], at: Stretch) -> Iterator[Stretch]:
    import difflib  # noqa: PLC0415 - only of use where something was changed

    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            yield Stretch(at.start + i1, at.start + i2, at.new_start + j1, at.new_start + j2)


def _once_in_each(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return where lines stand that each side has once: as many of them as are in order in both."""
    times, new_times = Counter(old), Counter(new)
    places = {line: row for row, line in enumerate(new) if new_times[line] == 1}
    found = [
        (row, places[line]) for row, line in enumerate(old) if times[line] == 1 and line in places
    ]
    # The longest run that grows: of each length the one that ends first, and what stood before it.
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, new_row) in enumerate(found):
        length = bisect_left(ends, new_row)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [new_row]
        last[length : length + 1] = [number]
    run: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        run.append(found[number])
        number = before[number]
    return run[::-1]


def _row_by_row(old: Sequence[str], new: Sequence[str], at: Stretch) -> Iterator[Stretch]:
    """Compare lines that stand at the same places, where there are as many."""
    if len(old) != len(new):
        yield at
        return
    row = 0
    while row < len(old):
        if old[row] == new[row]:
            row += 1
            continue
        first = row
        while row < len(old) and old[row] != new[row]:
            row += 1
        yield Stretch(at.start + first, at.start + row, at.new_start + first, at.new_start + row)
