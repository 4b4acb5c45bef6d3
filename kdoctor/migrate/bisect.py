"""Find the changes that lose a test, by applying ever smaller parts of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")


class Kept(Struct, Generic[T], frozen=True):
    """The changes that lose nothing together, and the others, each with what it loses."""

    kept: tuple[T, ...]
    dropped: tuple[tuple[T, tuple[str, ...]], ...] = ()


def keep(changes: Sequence[T], lost_with: Callable[[Sequence[T]], Sequence[str]]) -> Kept[T]:
    """Return the changes without those that lose a test.

    ``lost_with`` applies some changes, and no others, and says which tests are lost.

    >>> keep([1, 2, 3, 4], lambda some: ["t"] if 3 in some else [])
    Kept(kept=(1, 2, 4), dropped=((3, ('t',)),))
    """
    kept = list[T]()
    dropped = list[tuple[T, tuple[str, ...]]]()

    def add(some: Sequence[T]) -> None:
        lost = lost_with([*kept, *some])
        if not lost:
            kept.extend(some)
        elif len(some) == 1:
            dropped.append((some[0], tuple(lost)))
        else:
            middle = len(some) // 2
            add(some[:middle])
            add(some[middle:])

    if changes:
        add(changes)
    return Kept(tuple(kept), tuple(dropped))


def needed(changes: Sequence[T], is_enough: Callable[[Sequence[T]], bool]) -> list[T]:
    """Return the changes that are needed, all of which are enough.

    ``is_enough`` applies some changes, and no others, and says whether they are.

    >>> needed([1, 2, 3, 4], lambda some: {1, 3} <= set(some))
    [1, 3]
    """

    def of(some: Sequence[T], beside: Sequence[T]) -> list[T]:
        if len(some) <= 1:
            return list(some)
        middle = len(some) // 2
        first, second = some[:middle], some[middle:]
        if is_enough([*beside, *first]):
            return of(first, beside)
        if is_enough([*beside, *second]):
            return of(second, beside)
        of_first = of(first, [*beside, *second])
        return [*of_first, *of(second, [*beside, *of_first])]

    return of(changes, ())
