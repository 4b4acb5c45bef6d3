"""Run work on files, in this process or in several if that pays."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

from kdoctor.engine.schedule.gc_control import gc_frozen, gc_paused, run_sequentially
from kdoctor.engine.schedule.task import ScanOptions, Task

if TYPE_CHECKING:
    from concurrent.futures import Executor


T = TypeVar("T")

# libcst takes about a second for a megabyte; a worker process about a quarter of that to start.
_MIN_BYTES_PER_PROCESS = 400_000  # bytes of source
_MAX_CHUNK_BYTES = 200_000
_MAX_CHUNK_FILES = 32
# Chunks are small enough that all processes end at about the same time.
_MIN_CHUNK_BYTES = 50_000
_MIN_CHUNKS_PER_PROCESS = 32  # chunks, at the least, that fall to each process


def run(  # noqa: PLR0913 - what to do, on what, by whom
    work: Callable[[ScanOptions, Sequence[Task]], list[T]],
    scan_options: ScanOptions,
    tasks: Iterable[Task],
    workers: int | Executor | None,
    progress: Callable[[int, int], None] | None = None,
    *,
    preload: Callable[[ScanOptions], None] | None = None,
) -> list[T]:
    """Return ``work``'s results in task order, whichever process computes them.

    The tasks may be found while they are asked for: processes begin when
    ``min_parallel_bytes`` are known.
    ``workers`` is the greatest number of processes, None for one a core, or an executor that takes
    their place. ``progress`` is called with the numbers of files done and to do. ``preload`` is
    called whenever processes are about to be forked: they share what it has made.

    Raises:
        KdoctorError: a worker process died, or the executor takes no work.
    """
    results_by_start: dict[int, Collection[T]] = {}
    done = 0
    counted = _Counted(tasks)
    for place, results in _done(work, scan_options, iter(counted), workers, preload):
        results_by_start[place] = results
        done += len(results)
        if progress is not None:
            progress(done, counted.number)
    with gc_paused():  # what is unpacked here stays
        return [result for place in sorted(results_by_start) for result in results_by_start[place]]


def _done(
    work: Callable[[ScanOptions, Sequence[Task]], list[T]],
    scan_options: ScanOptions,
    tasks: Iterator[Task],
    workers: int | Executor | None,
    preload: Callable[[ScanOptions], None] | None,
) -> Iterator[tuple[int, Collection[T]]]:
    """Yield the results of chunks of tasks with their positions, as they arrive.

    When the first ones come, all tasks are known.
    """
    if workers is not None and not isinstance(workers, int):
        from kdoctor.engine.schedule.remote_executor import run_on_executor  # noqa: PLC0415

        return enumerate(run_on_executor(work, scan_options, list(_chunks([*tasks])), workers))
    first = list(_take_min_bytes(_max_processes(workers), tasks))
    processes = _processes(first, workers)
    if processes == 1:
        return enumerate(
            [result] for result in _run_in_process(work, scan_options, [*first, *tasks])
        )
    # Imported where processes are worth it: the imports alone take longer than a small scan.
    from kdoctor.engine.schedule.process_pool import run_in_processes  # noqa: PLC0415

    chunks = chain(_chunks(first, processes), _lazy_chunks(tasks, processes))
    return run_in_processes(work, scan_options, chunks, processes, preload)


class _Counted:
    """Iterates over tasks; ``number`` counts those taken so far."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._tasks = tasks
        self.number = 0

    def __iter__(self) -> Iterator[Task]:
        for task in self._tasks:
            self.number += 1
            yield task


def _take_min_bytes(processes: int, tasks: Iterator[Task]) -> Iterator[Task]:
    """Yield tasks until they are worth several processes; leave the rest."""
    number = size = 0
    while number < processes or size < min_parallel_bytes(processes):
        task = next(tasks, None)
        if task is None:
            return
        number += 1
        size += task.size
        yield task


def _run_in_process(
    work: Callable[[ScanOptions, Sequence[Task]], list[T]],
    scan_options: ScanOptions,
    tasks: Collection[Task],
) -> Iterator[T]:
    with gc_paused():
        results = chain.from_iterable(
            run_sequentially(work, scan_options, chunk) for chunk in _chunks(tasks)
        )
        yield from islice(results, 1)
        with gc_frozen():  # the modules and tables that came with the first file
            yield from results


def min_parallel_bytes(workers: int | Executor | None) -> int:
    """Return how many bytes of source justify several processes, 0 for none."""
    if workers is not None and not isinstance(workers, int):
        return 0
    return _MIN_BYTES_PER_PROCESS * (_max_processes(workers) - 1)


def _max_processes(jobs: int | None) -> int:
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return jobs or cores


def _processes(tasks: Collection[Task], jobs: int | None) -> int:
    worth = 1 + sum(task.size for task in tasks) // _MIN_BYTES_PER_PROCESS
    return max(1, min(_max_processes(jobs), worth, len(tasks)))


def _lazy_chunks(tasks: Iterable[Task], processes: int) -> Iterator[list[Task]]:
    """Split the tasks when the first chunk is requested."""
    yield from _chunks([*tasks], processes)


def _chunks(tasks: Collection[Task], processes: int = 0) -> Iterator[list[Task]]:
    """Split the tasks into the smallest chunks that are worth sending.

    ``processes`` is how many share them; 0 where that is not known.
    """
    most = _MAX_CHUNK_BYTES
    if processes:
        share = sum(task.size for task in tasks) // (_MIN_CHUNKS_PER_PROCESS * processes)
        most = max(_MIN_CHUNK_BYTES, min(_MAX_CHUNK_BYTES, share))
    chunk: list[Task] = []
    size = 0
    for task in tasks:
        if chunk and (size + task.size > most or len(chunk) == _MAX_CHUNK_FILES):
            yield chunk
            chunk, size = [], 0
        chunk.append(task)
        size += task.size
    if chunk:
        yield chunk
