"""Work that is spread over processes."""

from __future__ import annotations

import multiprocessing
import os
import time

import pytest

from kdoctor.engine.orders import Orders, Source, Task
from kdoctor.engine.processes import Packed
from kdoctor.engine.workers import _chunks, run
from kdoctor.errors import KdoctorError
from kdoctor.keras_api import newest_target

ORDERS = Orders(newest_target())


def tasks(number, size):
    return [Task(Source(f"{each}.py"), size) for each in range(number)]


def paths_and_processes_slowly(orders, some):
    time.sleep(0.01)
    return paths_and_processes(orders, some)


def paths_and_processes(_orders, some):
    return [(task.source.path, os.getpid()) for task in some]


def die(_orders, some):
    if multiprocessing.parent_process() is not None:
        os._exit(1)
    time.sleep(0.2)  # this process must not have done all before the other has begun
    return list(some)


def test_results_stand_in_the_order_of_the_tasks():
    work = tasks(50, 100_000)
    for jobs in (1, 3):
        results = run(paths_and_processes, ORDERS, work, jobs)
        assert [path for path, _ in results] == [task.source.path for task in work]


def test_little_work_starts_no_process():
    results = run(paths_and_processes, ORDERS, tasks(20, 1000), 4)
    assert {process for _, process in results} == {os.getpid()}


def test_much_work_is_spread_over_no_more_processes_than_allowed():
    results = run(paths_and_processes_slowly, ORDERS, tasks(50, 100_000), 3)
    processes = {process for _, process in results}
    assert os.getpid() in processes
    assert 2 <= len(processes) <= 3


def test_the_last_chunks_are_small_so_that_all_end_together():
    sizes = [sum(task.size for task in chunk) for chunk in _chunks(tasks(1000, 5_000), 2)]
    assert sum(sizes) == 5_000_000
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 2 * sizes[-1]


def test_results_that_wait_are_kept_as_bytes_of_few():
    results = [(f"{number}.py", "the same sentence " * 20) for number in range(100)]
    packed = Packed(results)
    assert list(packed) == results
    assert len(packed) == 100
    assert len(packed.data) < 2_000


def test_progress_is_told_up_to_the_last_task():
    told = []
    run(paths_and_processes, ORDERS, tasks(50, 100_000), 2, lambda *numbers: told.append(numbers))
    assert told == sorted(told)
    assert told[-1] == (50, 50)


def test_a_worker_that_dies_is_a_sentence():
    with pytest.raises(KdoctorError, match="--jobs 1"):
        run(die, ORDERS, tasks(50, 100_000), 2)
