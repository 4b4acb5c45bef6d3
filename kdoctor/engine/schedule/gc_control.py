"""Pause Python's garbage collector while files are examined.

A tree is hundreds of thousands of objects, which the collector would walk again and again while it
grows: more than a third of the time of a scan. It dies with the last reference to its module, so
that the collector has little to do. It comes between two files, for what was made lately only.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import groupby
from typing import TypeVar

from msgspec import Struct, field

from kdoctor.engine.schedule.task import ScanOptions, Task

T = TypeVar("T")

_GC_THRESHOLD = 100_000  # objects that may have died in rings: ten MB
# Bytes of source, of all files or of one, after which some MB lie between blocks still in use.
_TRIM_AFTER_BYTES = 300_000
_TRIM_AFTER_FILE_BYTES = 30_000
# Objects: less than any program has, more than Python 3.12 itself sets aside.
_MAX_USUAL_FROZEN = 2_000
_ARENA_MAX = -8  # M_ARENA_MAX in malloc.h


class _GCState(Struct):
    """The users of the pause: the collector is shared by all threads of the process."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    holders: int = 0
    was_enabled: bool = False
    read: int = 0  # bytes of source, since memory was given back
    is_alone: bool = False  # nothing but kdoctor runs in this process


_GC_STATE = _GCState()


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the garbage collector; restore the caller's setting afterwards."""
    with _GC_STATE.lock:
        if _GC_STATE.holders == 0:
            _GC_STATE.was_enabled = gc.isenabled()
            gc.disable()
        _GC_STATE.holders += 1
    try:
        yield
    finally:
        with _GC_STATE.lock:
            _GC_STATE.holders -= 1
            if _GC_STATE.holders == 0 and _GC_STATE.was_enabled:
                gc.enable()


def collect_if_due() -> None:
    """Run the collector if much garbage is possible, unless the user disabled it."""
    if _GC_STATE.was_enabled and gc.get_count()[0] > _GC_THRESHOLD:
        gc.collect(0)


@contextmanager
def gc_frozen() -> Iterator[None]:
    """Freeze existing objects (modules, tables) so that the collector skips them.

    It need not walk over them. And to walk over objects is to write to them: what was made before a
    fork is shared until somebody does.
    """
    # What others have frozen is not ours to unfreeze.
    was_frozen = gc.get_freeze_count() > _MAX_USUAL_FROZEN
    gc.freeze()
    try:
        yield
    finally:
        if not was_frozen:
            gc.unfreeze()


def run_sequentially(
    work: Callable[[ScanOptions, Sequence[Task]], list[T]],
    scan_options: ScanOptions,
    tasks: Iterable[Task],
) -> Iterator[T]:
    """Yield the result of each task; collect garbage between tasks.

    Those of one folder have their turns; what comes of them stays in order.
    """
    with gc_paused():
        for _, beside in groupby(tasks, key=lambda task: os.path.dirname(task.source.path)):  # noqa: PTH120
            places = [*enumerate(beside)]
            found: dict[int, list[T]] = {}
            for place, task in sorted(places, key=lambda each: each[1].priority):
                found[place] = work(scan_options, [task])
                collect_if_due()
                trim_heap_if_due(task.size)
            for place, _ in places:
                yield from found[place]


def trim_heap_if_due(read: int) -> None:
    """Return glibc's freed memory to the system, after many bytes of source.

    A process that goes on with small files would keep what a large one took beside another that
    is at a large one.
    """
    _GC_STATE.read += read
    if _GC_STATE.read > _TRIM_AFTER_BYTES or read > _TRIM_AFTER_FILE_BYTES:
        _GC_STATE.read = 0
        trim = _malloc_trim()
        if trim is not None:
            trim(0)


def claim_process() -> None:
    """Declare that this process is kdoctor's own: global settings may be changed."""
    _GC_STATE.is_alone = True


def limit_malloc_arenas() -> None:
    """Let new threads share one heap, in a process that is kdoctor's own.

    glibc gives each its own, and what dies there would be kept out of reach of the others, in each
    process that is forked. Python runs one thread at a time: none waits for another. But it cannot
    be taken back, and other programs may have threads that would wait.
    """
    mallopt = _of_glibc("mallopt") if _GC_STATE.is_alone else None
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)


@cache
def _malloc_trim() -> Callable[[int], int] | None:
    return _of_glibc("malloc_trim")


def _of_glibc(name: str) -> Callable[..., int] | None:
    if sys.platform != "linux":
        return None
    import ctypes  # noqa: PLC0415 - in long runs only

    return getattr(ctypes.CDLL(None), name, None)  # musl has none
