"""Python's garbage collector waits while a file is examined.

A tree is hundreds of thousands of objects, which the collector would walk again and again while it
grows: more than a third of the time of a scan. It dies with the last reference to its module, so
that the collector has little to do. It comes between two files, for what was made lately only.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from msgspec import Struct, field

from kdoctor.engine.orders import Orders, Task

T = TypeVar("T")

_MUCH = 50_000  # objects that may have died in rings: a few MB


class _Waiting(Struct):
    """Who makes it wait: it is one for the process, in which several threads may scan at once."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    holders: int = 0
    was_enabled: bool = False
    staying: int | None = None  # objects that came with the first file: modules and tables


_WAITING = _Waiting()


@contextmanager
def collector_waits() -> Iterator[None]:
    """Keep the collector from running within; after it, what the user has set holds again."""
    with _WAITING.lock:
        if _WAITING.holders == 0:
            _WAITING.was_enabled = gc.isenabled()
            gc.disable()
        _WAITING.holders += 1
    try:
        yield
    finally:
        with _WAITING.lock:
            _WAITING.holders -= 1
            if _WAITING.holders == 0 and _WAITING.was_enabled:
                gc.enable()


def collect_where_due() -> None:
    """Let it do what it has missed, where that is much, unless the user wants no collector."""
    made = gc.get_count()[0]
    _WAITING.staying = made if _WAITING.staying is None else min(made, _WAITING.staying)
    if _WAITING.was_enabled and made - _WAITING.staying > _MUCH:
        gc.collect(0)
        _WAITING.staying = 0


def one_by_one(
    work: Callable[[Orders, Sequence[Task]], list[T]], orders: Orders, tasks: Iterable[Task]
) -> Iterator[T]:
    """Yield what comes of each task; after each, the collector does what it has missed."""
    with collector_waits():
        for task in tasks:
            yield from work(orders, [task])
            collect_where_due()


def give_back() -> None:
    """Let the system have the memory of the trees that died, where C's library tells how.

    libcst's parser allocates through it, and glibc keeps what lies between blocks still in use.
    """
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@cache
def _malloc_trim() -> Callable[[int], int] | None:
    if sys.platform != "linux":
        return None
    import ctypes  # noqa: PLC0415 - not before there was a tree

    return getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
