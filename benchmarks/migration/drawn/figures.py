"""Counts of what works on Keras 2 and on Keras 3, before and after the fixes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

Outcome = dict[str, Any]
Items = dict[str, dict[str, Outcome]]  # of each file, what was tried: `program` writes them

TOLERANCE = 1e-3


class Figures(msgspec.Struct, frozen=True):
    """What was tried in one repository, and how much of it gives on Keras 3 what Keras 2 gives."""

    keras2: int  # what runs there
    before: int
    safe: int
    unsafe: int
    gap: int  # of what runs on Keras 2, what differs or fails before a fix
    cured_safe: int
    cured_unsafe: int
    lost: int  # was right before, and is not after either of the fixes


class Left(msgspec.Struct, frozen=True):
    """One thing of the gap that is not right after the unsafe fixes, or was lost."""

    path: str
    tried: str
    lost: bool
    wanted: Any
    got: Outcome | None  # the first error: the file's import, if that fails


def figures(keras2: Items, before: Items, safe: Items, unsafe: Items) -> Figures:
    """Count one repository."""
    tried = [(path, key) for path, key, _ in _working(keras2)]
    right = {
        name: {each for each in tried if is_right(keras2, items, *each)}
        for name, items in (("before", before), ("safe", safe), ("unsafe", unsafe))
    }
    gap = set(tried) - right["before"]
    return Figures(
        keras2=len(tried),
        before=len(right["before"]),
        safe=len(right["safe"]),
        unsafe=len(right["unsafe"]),
        gap=len(gap),
        cured_safe=len(gap & right["safe"]),
        cured_unsafe=len(gap & right["unsafe"]),
        lost=len(right["before"] - (right["safe"] & right["unsafe"])),
    )


def summary(rows: Sequence[Figures]) -> str:
    """Return the gap of several repositories, and how much of it is cured."""
    gap = sum(row.gap for row in rows)
    told = f"gap {gap}, lost {sum(row.lost for row in rows)}"
    cured = {"safe": [row.cured_safe for row in rows], "unsafe": [row.cured_unsafe for row in rows]}
    for name, counts in cured.items() if gap else ():
        shares = [count / row.gap for count, row in zip(counts, rows, strict=True) if row.gap]
        mean = sum(shares) / len(shares)
        told += f"; {name} {sum(counts) / gap:.0%}, mean of {len(shares)} {mean:.0%}"
    return told


def left(keras2: Items, before: Items, after: Items) -> Iterator[Left]:
    """Yield what of Keras 2 the code after a fix does not do."""
    for path, key, outcome in _working(keras2):
        if not is_right(keras2, after, path, key):
            lost = is_right(keras2, before, path, key)
            yield Left(path, key, lost, outcome["told"], _first_error(after.get(path, {}), key))


def is_right(keras2: Items, items: Items, path: str, key: str) -> bool:
    """Say whether one thing that was tried gives what it gave on Keras 2."""
    got = items.get(path, {}).get(key)
    return bool(got and got["ok"] and _alike(got["told"], keras2[path][key]["told"]))


def _working(items: Items) -> Iterator[tuple[str, str, Outcome]]:
    for path, tried in items.items():
        for key, outcome in tried.items():
            if outcome["ok"]:
                yield path, key, outcome


def _first_error(tried: dict[str, Outcome], key: str) -> Outcome | None:
    for each in (key, key.partition(".")[0].partition("()")[0], "import"):
        if each in tried and (each == key or not tried[each]["ok"]):
            return tried[each]
    return None


def _alike(one: Any, other: Any) -> bool:
    if not isinstance(one, list) or not isinstance(other, list):
        return bool(one == other)
    if one[:1] == ["trained"] == other[:1] and "random" in one:
        return "random" in other and one[1] == other[1]  # the numbers are drawn
    if len(one) == 2 == len(other) and one[0] == "num" == other[0]:
        return _near(one[1], other[1])
    return len(one) == len(other) and all(map(_alike, one, other))


def _near(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str):  # infinite, or not a number
        return bool(one == other)
    return bool(abs(one - other) <= TOLERANCE * max(TOLERANCE, abs(other)))
