"""Chunks to results in several processes, of which this one is one.

What is found is kept in bytes until all is done: it is a tenth of what it takes as objects, and by
then the other processes have given back their memory.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import zlib
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from multiprocessing.context import BaseContext
from multiprocessing.synchronize import Semaphore
from types import FrameType
from typing import Generic, TypeVar

from msgspec import Struct

from kdoctor.documents import uninterrupted
from kdoctor.engine.collecting import give_back, one_by_one
from kdoctor.engine.orders import Orders, Task
from kdoctor.engine.turns import share_turns
from kdoctor.errors import KdoctorError

T = TypeVar("T")


class Packed(Collection[T]):
    """Results as bytes; each look at them makes them anew."""

    def __init__(self, results: Iterable[T]) -> None:
        made = list(results)
        self._number = len(made)
        self.data = zlib.compress(pickle.dumps(made, pickle.HIGHEST_PROTOCOL), 1)

    def __len__(self) -> int:
        return self._number

    def __iter__(self) -> Iterator[T]:
        return iter(self._results())

    def __contains__(self, result: object) -> bool:
        return result in self._results()

    def _results(self) -> list[T]:
        results: list[T] = pickle.loads(zlib.decompress(self.data))  # noqa: S301 - of our own
        return results


def together(
    work: Callable[[Orders, Sequence[Task]], list[T]],
    orders: Orders,
    chunks: Sequence[Sequence[Task]],
    processes: int,
    get_ready: Callable[[Orders], None] | None,
) -> Iterator[Packed[T]]:
    """Yield the results of the chunks in order, done by so many processes, at least two.

    Raises:
        KdoctorError: a process died.
    """
    context = _context()
    if get_ready is not None and context.get_start_method() == "fork":
        get_ready(orders.aimed(chunks[0][0]))
    turns = context.Semaphore(processes // 2)
    pool = ProcessPoolExecutor(processes - 1, context, _become_worker, (turns,))
    share_turns(turns)
    done = False
    try:
        with uninterrupted():  # a process that is only half started cannot be ended
            errands = deque(
                _Errand(chunk, pool.submit(_in_worker, work, orders, chunk)) for chunk in chunks
            )
        yield from _shared(work, orders, errands)
        done = True
    except BrokenProcessPool as error:
        raise KdoctorError(
            "a worker process died, probably for want of memory; --jobs 1 does without them"
        ) from error
    finally:
        with uninterrupted():
            if not done:
                _stop(pool)
            share_turns(None)
            pool.shutdown(wait=True, cancel_futures=True)


def _shared(
    work: Callable[[Orders, Sequence[Task]], list[T]],
    orders: Orders,
    errands: deque[_Errand[T]],
) -> Iterator[Packed[T]]:
    """Yield the results in order; what no worker has begun meanwhile is done here."""
    ahead = iter(list(errands))
    while errands:
        first = errands[0]
        while not first.is_done:
            mine = next((errand for errand in ahead if errand.future.cancel()), None)
            if mine is None:
                break
            mine.done_here = Packed(one_by_one(work, orders, mine.chunk))
            give_back()
        yield first.result()
        errands.popleft()


class _Errand(Struct, Generic[T]):
    """A chunk, and who does it: a worker, unless this process takes it back."""

    chunk: Sequence[Task]
    future: Future[Packed[T]]
    done_here: Packed[T] | None = None

    @property
    def is_done(self) -> bool:
        return self.done_here is not None or self.future.done()

    def result(self) -> Packed[T]:
        return self.future.result() if self.done_here is None else self.done_here


def _context() -> BaseContext:
    """Fork where it is safe: the child then has all modules. With threads around it is not."""
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


def _become_worker(turns: Semaphore) -> None:
    """Leave ctrl-C to the parent, and give a chunk up where the parent says so.

    To kill a worker would not do: it may be writing a result, and the parent waits for its end.
    What the parent had made stays: the collector need not walk it, nor copy it in doing so.
    """
    gc.freeze()
    share_turns(turns)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _STOP is not None:
        signal.signal(_STOP, _give_up)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End where the parent was killed: it would be waited for, and listened to, for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _give_up(_number: int, _frame: FrameType | None) -> None:
    _WORKER.stopped = True
    if _WORKER.working:
        raise _Stopped


def _in_worker(
    work: Callable[[Orders, Sequence[Task]], list[T]], orders: Orders, chunk: Sequence[Task]
) -> Packed[T]:
    try:
        _WORKER.working = True
        if _WORKER.stopped:
            raise _Stopped
        return Packed(one_by_one(work, orders, chunk))
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
