"""Work that is spread over processes."""

from __future__ import annotations

import ctypes
import gc
import json
import multiprocessing
import os
import platform
import subprocess
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from kdoctor.engine.schedule import gc_control, process_pool
from kdoctor.engine.schedule.compressed import Compressed
from kdoctor.engine.schedule.dispatch import _chunks, min_parallel_bytes, run
from kdoctor.engine.schedule.task import ScanOptions, Source, Task
from kdoctor.errors import KdoctorError
from kdoctor.keras_api import newest_target

ORDERS = ScanOptions(newest_target())
FEW = (
    process_pool._MAX_CHUNKS_PER_WORKER - 8
)  # chunks: a worker could take them all before it makes room for another


def is_glibc():
    return sys.platform == "linux" and platform.libc_ver()[0] == "glibc"


def tasks(number, size, lot=""):
    return [Task(Source(f"{lot}{each}.py"), size) for each in range(number)]


def lot_of(path):
    return path.rstrip("0123456789.py")


@pytest.fixture
def marks(tmp_path, monkeypatch):
    """A folder that workers know, too: they leave a file there for each task that they have begun."""
    monkeypatch.setenv("MARKS", str(tmp_path))
    return tmp_path


def wait_until(holds):
    """Wait for another process, however little of the machine it gets."""
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def paths_and_processes_once_shared(scan_options, some):
    """Do nothing here before another process has begun something of the same lot."""
    marks = Path(os.environ["MARKS"])
    if multiprocessing.parent_process() is None:
        lots = {lot_of(task.source.path) for task in some}
        wait_until(lambda: lots <= {lot_of(each.name) for each in marks.iterdir()})
    for task in some:
        (marks / task.source.path).touch()
    return paths_and_processes(scan_options, some)


def paths_and_processes_but_slowly_here(scan_options, some):
    if multiprocessing.parent_process() is None:
        time.sleep(0.2)  # this process must not have done all before the other has begun
    return paths_and_processes(scan_options, some)


def paths_and_processes(_scan_options, some):
    return [(task.source.path, os.getpid()) for task in some]


def are_untouched(_scan_options, some):
    return [gc.get_freeze_count() > 10_000 for _ in some]


def die(_scan_options, some):
    if multiprocessing.parent_process() is not None:
        os._exit(1)
    time.sleep(0.2)  # this process must not have done all before the other has begun
    return list(some)


def test_results_stand_in_the_order_of_the_tasks():
    work = tasks(50, 100_000)
    for jobs in (1, 3):
        results = run(paths_and_processes, ORDERS, work, jobs)
        assert [path for path, _ in results] == [task.source.path for task in work]


def test_the_collector_passes_over_what_processes_share_while_they_do():
    before = gc.get_freeze_count()
    assert set(run(are_untouched, ORDERS, tasks(50, 100_000), 2)) == {True}
    assert gc.get_freeze_count() <= before


def test_little_work_starts_no_process():
    results = run(paths_and_processes, ORDERS, tasks(20, 1000), 4)
    assert {process for _, process in results} == {os.getpid()}


@pytest.mark.usefixtures("marks")
def test_much_work_is_spread_over_no_more_processes_than_allowed():
    results = run(paths_and_processes_once_shared, ORDERS, tasks(50, 100_000), 3)
    doers = {process for _, process in results}
    assert os.getpid() in doers
    assert 2 <= len(doers) <= 3


def test_chunks_are_small_so_that_all_end_together():
    sizes = [sum(task.size for task in chunk) for chunk in _chunks(tasks(1000, 5_000), 2)]
    assert sum(sizes) == 5_000_000
    assert max(sizes) < 0.02 * sum(sizes)
    # Not smaller than is worth it, nor larger than memory wants it.
    assert len(list(_chunks(tasks(100, 5_000), 2))) == 10
    assert max(map(len, _chunks(tasks(1000, 500_000), 2))) == 1


def printed_alone(function):
    """Return what a function of this module prints in a process of its own."""
    code = f"import {__name__}; {__name__}.{function.__name__}()"
    folder = Path(__file__).parent
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


def print_results_of_small_lots():
    process_pool._MAX_CHUNKS_PER_WORKER = 4
    ready = []
    work = paths_and_processes_but_slowly_here
    results = run(work, ORDERS, tasks(20, 50_000), 2, preload=ready.append)
    print(json.dumps([os.getpid(), results, len(ready)]))


@pytest.mark.skipif(sys.platform != "linux", reason="only a fork is worth it")
def test_workers_make_room_for_new_ones_before_they_have_grown():
    # In a process of its own: with a thread around, which another test may have left, nothing forks.
    process, results, times_ready = json.loads(printed_alone(print_results_of_small_lots))
    assert [path for path, _ in results] == [f"{each}.py" for each in range(20)]
    shares = Counter(process for _, process in results)
    assert shares.pop(process) > 1
    assert len(shares) > 1
    assert max(shares.values()) <= 4
    assert times_ready == len(shares)


def print_heaps():
    gc_control.claim_process()
    print_heaps_of_a_program_that_has_others()


def print_heaps_of_a_program_that_has_others():
    run(paths_and_processes_but_slowly_here, ORDERS, tasks(20, 50_000), 2)
    libc = ctypes.CDLL(None)
    libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
    libc.fflush(None)


@pytest.mark.skipif(not is_glibc(), reason="others have no heap for each thread")
def test_threads_beside_the_processes_have_no_heaps_of_their_own():
    assert printed_alone(print_heaps).count("<heap nr=") == 1


@pytest.mark.skipif(not is_glibc(), reason="others have no heap for each thread")
def test_threads_of_a_program_that_calls_kdoctor_keep_their_own_heaps():
    assert printed_alone(print_heaps_of_a_program_that_has_others).count("<heap nr=") > 1


@pytest.mark.usefixtures("marks")
def test_files_side_by_side_are_done_by_one_process():
    results = run(paths_and_processes_once_shared, ORDERS, tasks(FEW, 50_000), 2)
    doers = [process for _, process in results]
    turns = sum(one != other for one, other in pairwise(doers))
    assert len(set(doers)) == 2
    assert turns == 1
    assert doers[-1] == os.getpid()


@pytest.mark.usefixtures("marks")
def test_the_last_chunks_are_shared_in_parts():
    work = tasks(80, 1000)
    chunks = [work[start : start + 8] for start in range(0, 80, 8)]
    lots = dict(
        process_pool.run_in_processes(paths_and_processes_once_shared, ORDERS, chunks, 2, None)
    )
    done = [path for start in sorted(lots) for path, _ in lots[start]]
    assert done == [task.source.path for task in work]
    sizes = sorted(map(len, lots.values()))
    assert sizes[:4] == [1, 1, 1, 1]
    assert sizes[-4:] == [8, 8, 8, 8]


def test_processes_begin_before_all_tasks_are_found():
    at_work = []

    def found():
        for task in tasks(50, 100_000):
            at_work.append(len(multiprocessing.active_children()))
            yield task

    results = run(paths_and_processes, ORDERS, found(), 2)
    assert [path for path, _ in results] == [f"{each}.py" for each in range(50)]
    assert at_work[0] == 0
    assert at_work[-1] == 1


def test_what_is_found_later_is_done_by_all(marks):
    def found():
        yield from tasks(20, 50_000)
        given = min_parallel_bytes(2) // 50_000  # the workers begin when so much is known
        wait_until(lambda: len([*marks.iterdir()]) >= given)
        yield from tasks(20, 50_000, "later")

    results = run(paths_and_processes_once_shared, ORDERS, found(), 2)
    assert len({process for path, process in results if lot_of(path) == "later"}) == 2


@pytest.mark.usefixtures("marks")
def test_one_large_task_at_the_start_does_not_keep_the_others_from_being_shared():
    work = [Task(Source("large.py"), 1_000_000), *tasks(FEW, 50_000)]
    results = run(paths_and_processes_once_shared, ORDERS, work, 2)
    assert len({process for _, process in results}) == 2


def test_what_goes_wrong_while_tasks_are_found_ends_the_workers():
    def found():
        yield from tasks(50, 50_000)
        raise KdoctorError("a setting cannot be what it is")

    with pytest.raises(KdoctorError, match="a setting"):
        run(paths_and_processes, ORDERS, found(), 2)
    assert not multiprocessing.active_children()


def test_results_that_wait_are_kept_as_bytes_of_few():
    results = [(f"{number}.py", "the same sentence " * 20) for number in range(100)]
    packed = Compressed(results)
    assert list(packed) == results
    assert len(packed) == 100
    assert len(packed.data) < 2_000


def test_progress_is_told_up_to_the_last_task():
    told = []
    run(paths_and_processes, ORDERS, tasks(50, 100_000), 2, lambda *numbers: told.append(numbers))
    assert told == sorted(told)
    assert told[-1] == (50, 50)


def test_progress_is_told_within_a_large_folder_too():
    begun = []
    done = []

    def note(scan_options, some):
        begun.extend(some)
        return paths_and_processes(scan_options, some)

    run(note, ORDERS, tasks(100, 1000), 1, lambda *_: done.append(len(begun)))
    assert done[0] < 50


def test_a_worker_that_dies_is_a_sentence():
    with pytest.raises(KdoctorError, match="--jobs 1"):
        run(die, ORDERS, tasks(50, 100_000), 2)
