"""Files to results: in this process, or in several where the work is worth their start-up."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from kdoctor.documents import uninterrupted
from kdoctor.engine.collecting import collect_where_due, collector_waits, give_back
from kdoctor.engine.orders import Orders, Task
from kdoctor.errors import KdoctorError

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from concurrent.futures.process import ProcessPoolExecutor
    from multiprocessing.context import BaseContext

T = TypeVar("T")

# libcst takes about a second for a megabyte; a worker process about a quarter of that to start.
_WORTH_A_PROCESS = 400_000  # bytes of source
_CHUNK_BYTES = 200_000
_CHUNK_FILES = 32


def run(  # noqa: PLR0913 - what to do, on what, by whom
    work: Callable[[Orders, Sequence[Task]], list[T]],
    orders: Orders,
    tasks: Sequence[Task],
    workers: int | Executor | None,
    progress: Callable[[int, int], None] | None = None,
    *,
    get_ready: Callable[[Orders], None] | None = None,
) -> list[T]:
    """Return ``work``'s results in the order of the tasks, whoever does it.

    ``workers`` is the greatest number of processes, None for one a core, or an executor that takes
    their place. ``progress`` is called with the numbers of files done and to do. ``get_ready`` is
    called before processes are forked: they share what it has made.

    Raises:
        KdoctorError: a worker process died, or the executor takes no work.
    """
    chunks = list(_chunks(tasks))
    results: list[T] = []
    for done in _done(work, orders, chunks, workers, get_ready):
        results += done
        if progress is not None:
            progress(len(results), len(tasks))
    return results


def _done(
    work: Callable[[Orders, Sequence[Task]], list[T]],
    orders: Orders,
    chunks: Sequence[Sequence[Task]],
    workers: int | Executor | None,
    get_ready: Callable[[Orders], None] | None,
) -> Iterator[list[T]]:
    if workers is None or isinstance(workers, int):
        return _in_turn(work, orders, chunks, _processes(chunks, workers), get_ready)
    from kdoctor.engine.executors import in_turn  # noqa: PLC0415

    return in_turn(work, orders, chunks, workers)


def _in_turn(
    work: Callable[[Orders, Sequence[Task]], list[T]],
    orders: Orders,
    chunks: Sequence[Sequence[Task]],
    processes: int,
    get_ready: Callable[[Orders], None] | None,
) -> Iterator[list[T]]:
    if processes == 1:
        with collector_waits():
            for number, chunk in enumerate(chunks):
                if number:
                    give_back()
                for task in chunk:
                    yield work(orders, [task])
                    collect_where_due()
        return
    # Imported where processes are worth it: the imports alone take longer than a small scan.
    from concurrent.futures.process import (  # noqa: PLC0415
        BrokenProcessPool,
        ProcessPoolExecutor,
    )

    context = _context()
    if get_ready is not None and context.get_start_method() == "fork":
        get_ready(orders.aimed(chunks[0][0]))
    pool = ProcessPoolExecutor(processes, context, initializer=_become_worker)
    done = False
    try:
        with uninterrupted():  # a process that is only half started cannot be ended
            futures = [pool.submit(_in_worker, work, orders, chunk) for chunk in chunks]
        for future in futures:
            yield future.result()
        done = True
    except BrokenProcessPool as error:
        raise KdoctorError(
            "a worker process died, probably for want of memory; --jobs 1 does without them"
        ) from error
    finally:
        with uninterrupted():
            if not done:
                _stop(pool)
            pool.shutdown(wait=True, cancel_futures=True)


def _processes(chunks: Sequence[Sequence[Task]], jobs: int | None) -> int:
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    worth = 1 + sum(task.size for chunk in chunks for task in chunk) // _WORTH_A_PROCESS
    return max(1, min(jobs or cores, worth, len(chunks)))


def _chunks(tasks: Sequence[Task]) -> Iterator[list[Task]]:
    """Split the tasks into runs that are large enough to be worth sending, and no larger."""
    chunk: list[Task] = []
    size = 0
    for task in tasks:
        if chunk and (size + task.size > _CHUNK_BYTES or len(chunk) == _CHUNK_FILES):
            yield chunk
            chunk, size = [], 0
        chunk.append(task)
        size += task.size
    if chunk:
        yield chunk


def _context() -> BaseContext:
    """Fork where it is safe: the child then has all modules. With threads around it is not."""
    import multiprocessing  # noqa: PLC0415

    if sys.platform == "linux" and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


_STOP = getattr(signal, "SIGUSR1", None)  # Windows has none: there, a worker ends its chunk first


class _Stopped(BaseException):
    """The result of this worker is not wanted any more. No rule may catch it."""


class _Worker(Struct):
    """What a worker process is at."""

    working: bool = False
    stopped: bool = False


_WORKER = _Worker()


def _become_worker() -> None:
    """Leave ctrl-C to the parent, and give a chunk up where the parent says so.

    To kill a worker would not do: it may be writing a result, and the parent waits for its end.
    What the parent had made stays: the collector need not walk it, nor copy it in doing so.
    """
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _STOP is not None:
        signal.signal(_STOP, _give_up)


def _give_up(_number: int, _frame: FrameType | None) -> None:
    _WORKER.stopped = True
    if _WORKER.working:
        raise _Stopped


def _in_worker(
    work: Callable[[Orders, Sequence[Task]], list[T]], orders: Orders, chunk: Sequence[Task]
) -> list[T]:
    try:
        _WORKER.working = True
        if _WORKER.stopped:
            raise _Stopped
        with collector_waits():
            return work(orders, chunk)
    finally:
        _WORKER.working = False
        give_back()


def _stop(pool: ProcessPoolExecutor) -> None:
    """Let the workers give up what they are at."""
    # The executor has no public way to its processes.
    for process in list((pool._processes or {}).values()):  # noqa: SLF001
        if _STOP is not None and process.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, _STOP)
