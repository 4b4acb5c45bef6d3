"""Run chunks of tasks in several processes, this one included.

What is to be done, and what is found, is kept in bytes: until all is done, and the other processes
have given back their memory.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing.context import BaseContext
from types import FrameType
from typing import Generic, TypeVar

from msgspec import Struct

from kdoctor import own_process
from kdoctor.documents import resend_signal_hook, uninterrupted
from kdoctor.engine.schedule.compressed import Compressed
from kdoctor.engine.schedule.gc_control import gc_frozen, limit_malloc_arenas, run_sequentially
from kdoctor.engine.schedule.task import ScanOptions, Task
from kdoctor.errors import KdoctorError

T = TypeVar("T")

# Chunks, for each worker, after which they make room for new ones: what they remember, and what
# lies unused between it, grows. New ones share what this process has. All wait for the last one:
# not too often.
_MAX_CHUNKS_PER_WORKER = 48
_INITIAL_CHUNKS = 2  # chunks, for each process, that are known before the workers begin
_SPLITS_PER_CHUNK = 4  # of a chunk, where one process would else soon wait for another
_Chunk = tuple[int, Compressed[Task]]  # with the number of its first task


def run_in_processes(
    work: Callable[[ScanOptions, Sequence[Task]], list[T]],
    scan_options: ScanOptions,
    chunks: Iterable[Iterable[Task]],
    processes: int,
    preload: Callable[[ScanOptions], None] | None,
) -> Iterator[tuple[int, Compressed[T]]]:
    """Yield each chunk's results with the index of its first task, as they complete.

    Raises:
        KdoctorError: a process died.
    """
    context = _context()
    # To begin with; the others may not be found yet.
    numbered = _numbered(chunks)
    waiting = deque(islice(numbered, _INITIAL_CHUNKS * processes))
    forks = context.get_start_method() == "fork"
    most = _MAX_CHUNKS_PER_WORKER * (processes - 1) if forks else sys.maxsize
    if forks:  # here is no thread yet but this
        limit_malloc_arenas()
    while waiting:
        if forks and preload is not None:
            preload(scan_options.aimed(next(iter(waiting[0][1]))))
        with gc_frozen():
            pool = ProcessPoolExecutor(processes - 1, context, _init_worker)
            line = _ChunkQueue(
                waiting, pool, processes, partial(_in_worker, work, scan_options), most
            )
            here = partial(run_sequentially, work, scan_options)
            yield from _with_workers(pool, processes, line, numbered, here)


def _numbered(chunks: Iterable[Iterable[Task]]) -> Iterator[_Chunk]:
    number = 0
    for chunk in map(Compressed, chunks):
        yield number, chunk
        number += len(chunk)


def _with_workers(
    pool: ProcessPoolExecutor,
    processes: int,
    line: _ChunkQueue[T],
    more: Iterable[_Chunk],
    work: Callable[[Iterable[Task]], Iterable[T]],
) -> Iterator[tuple[int, Compressed[T]]]:
    """Yield the results of a pool's workers and of this process.

    The workers have started when ``more`` is consumed.

    Raises:
        KdoctorError: a process died.
    """
    done = False
    try:
        with uninterrupted():  # a process that is only half started cannot be ended
            for _ in range(processes):  # one waits, so that no worker does
                line.send()
        for chunk in more:
            line.add(chunk)
        yield from _run_queue(line, work)
        done = True
    except BrokenProcessPool as error:
        raise KdoctorError(
            "a worker process died, probably out of memory; --jobs 1 uses no worker processes"
        ) from error
    finally:
        with uninterrupted():
            if not done:
                _abort_workers(pool)
            pool.shutdown(wait=True, cancel_futures=True)


class _ChunkQueue(Generic[T]):
    """The waiting chunks. Workers take from the start, this process from the end.

    Files that stand side by side import each other: who has read the one knows it for the other.
    The workers take so many at ``most``; this process then goes on until they are done. Where that
    is soon, or little is left, parts of chunks are taken: so all end at about the same time.
    """

    def __init__(
        self,
        waiting: deque[_Chunk],
        pool: ProcessPoolExecutor,
        processes: int,
        work: Callable[[Compressed[Task]], Compressed[T]],
        most: int,
    ) -> None:
        self._waiting = waiting
        self._left = most
        self._sent: deque[tuple[int, Future[Compressed[T]]]] = deque()
        self._pool = pool
        self._processes = processes
        self._work = work
        self._lock = threading.Lock()  # the pool's own thread sends, too

    def send(self, done: Future[Compressed[T]] | None = None) -> None:
        """Send the next chunk to the workers; when it is done, they get another."""
        # A pool that ends, or is broken, tells of it with its lock held (Python 3.12.1 and later):
        # to ask it for more would wait for ever.
        if done is not None and (done.cancelled() or done.exception() is not None):
            return
        with self._lock:
            if not self._waiting or not self._left:
                return
            number, chunk = self._first()
            self._left -= 1
            try:
                future = self._pool.submit(self._work, chunk)
            except RuntimeError:
                return  # the pool is broken or closed, as what was sent before tells
            self._sent.append((number, future))
        future.add_done_callback(self.send)

    def add(self, chunk: _Chunk) -> None:
        """Queue a chunk, or send it at once if the workers are idle."""
        with self._lock:
            self._waiting.append(chunk)
            busy = sum(not future.done() for _, future in self._sent)
        if busy < self._processes:
            self.send()

    def last(self) -> _Chunk | None:
        """Take the last chunk; None if there is none, or workers are idle."""
        with self._lock:
            if not self._left and all(future.done() for _, future in self._sent):
                return None
            return self._last() if self._waiting else None

    def _first(self) -> _Chunk:
        chunk = self._waiting.popleft()
        if self._are_many or len(chunk[1]) == 1:
            return chunk
        first, rest = _split(chunk, _split_point(chunk))
        self._waiting.appendleft(rest)
        return first

    def _last(self) -> _Chunk:
        chunk = self._waiting.pop()
        if (self._left and self._are_many) or len(chunk[1]) == 1:
            return chunk
        rest, last = _split(chunk, len(chunk[1]) - _split_point(chunk))
        self._waiting.append(rest)
        return last

    @property
    def _are_many(self) -> bool:
        return len(self._waiting) >= self._processes

    def first_sent(self, *, wait: bool) -> tuple[int, Compressed[T]] | None:
        """Return the result of the chunk that was sent first; None if it is not done."""
        with self._lock:
            if not self._sent or not (wait or self._sent[0][1].done()):
                return None
            place, future = self._sent.popleft()
        return place, future.result()


def _split_point(chunk: _Chunk) -> int:
    return max(1, len(chunk[1]) // _SPLITS_PER_CHUNK)


def _split(chunk: _Chunk, place: int) -> tuple[_Chunk, _Chunk]:
    number, tasks = chunk[0], list(chunk[1])
    return (number, Compressed(tasks[:place])), (number + place, Compressed(tasks[place:]))


def _run_queue(
    line: _ChunkQueue[T], work: Callable[[Iterable[Task]], Iterable[T]]
) -> Iterator[tuple[int, Compressed[T]]]:
    """Yield results as they arrive; run chunks here that no worker has started."""
    while True:
        found = line.first_sent(wait=False)
        if found is None and (mine := line.last()) is not None:
            place, chunk = mine
            found = place, Compressed(work(chunk))
        found = found or line.first_sent(wait=True)
        if found is None:
            return
        yield found


def _context() -> BaseContext:
    """Fork if that is safe (no other threads): the child then has all modules loaded."""
    if sys.platform == "linux" and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


_STOP = getattr(signal, "SIGUSR1", None)  # Windows has none: there, a worker ends its chunk first


class _Stopped(BaseException):
    """Raised in a worker whose result is no longer needed. Not caught by rules."""


class _Worker(Struct):
    """The state of a worker process."""

    working: bool = False
    stopped: bool = False


_WORKER = _Worker()


def _init_worker() -> None:
    """Leave Ctrl-C to the parent, and abort a chunk when the parent says so.

    To kill a worker would not do: it may be writing a result, and the parent waits for its end.
    """
    own_process.claim()
    gc.freeze()  # where it was forked, that is done; what a spawned one begins with stays, too
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _STOP is not None:
        signal.signal(_STOP, _abort_chunk)
        sys.unraisablehook = resend_signal_hook(_STOP, _Stopped)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Exit if the parent was killed: otherwise the worker would wait for it forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _abort_chunk(_number: int, _frame: FrameType | None) -> None:
    _WORKER.stopped = True
    if _WORKER.working:
        raise _Stopped


def _in_worker(
    work: Callable[[ScanOptions, Sequence[Task]], list[T]],
    scan_options: ScanOptions,
    chunk: Iterable[Task],
) -> Compressed[T]:
    try:
        _WORKER.working = True
        if _WORKER.stopped:
            raise _Stopped
        return Compressed(run_sequentially(work, scan_options, chunk))
    finally:
        _WORKER.working = False


def _abort_workers(pool: ProcessPoolExecutor) -> None:
    """Make the workers abort their chunks."""
    # The executor has no public way to its processes.
    for process in list((pool._processes or {}).values()):  # noqa: SLF001
        if _STOP is not None and process.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, _STOP)
