"""Work that somebody else's executor does: nothing lost, nothing twice, and a sentence else."""

from __future__ import annotations

import os
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from multiprocessing import get_context
from pathlib import Path

import pytest

import kdoctor
from kdoctor.engine.schedule import dispatch, remote_executor, remote_worker
from kdoctor.errors import KdoctorError, UsageProblem

FILES = 12
OLD = "from keras import backend as K\n\n\ndef loss(a, b):\n    return K.sum(a - b)\n"


pytestmark = pytest.mark.usefixtures("tree")


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Files of which each is a chunk of its own; one is known only through the module beside it."""
    monkeypatch.setattr(dispatch, "_MAX_CHUNK_FILES", 1)
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text("")
    Path("compat.py").write_text("from keras import backend as K\n")
    Path("hidden.py").write_text("from compat import K\n\nprint(K.sum([1]))\n")
    for number in range(FILES):
        Path(f"old_{number:02}.py").write_text(OLD)
    return tmp_path


class Inline(Executor):
    """Does at once what is submitted. ``troubles`` are raised instead, one a submission."""

    def __init__(self, *troubles):
        self.troubles = list(troubles)
        self.futures = []
        self.calls = []

    def submit(self, function, /, *arguments):
        future = Future()
        self.futures.append(future)
        self.calls.append(arguments)
        trouble = self.troubles.pop(0) if self.troubles else None
        if trouble is None:
            try:
                future.set_result(function(*arguments))
            except OSError as error:
                future.set_exception(error)
        elif trouble == "cancelled":
            future.cancel()
        elif trouble != "silent":
            future.set_exception(trouble)
        return future


def test_threads_find_the_same():
    with ThreadPoolExecutor(4) as pool:
        assert kdoctor.scan(["."], executor=pool) == kdoctor.scan(["."], jobs=1)


def test_processes_with_another_working_folder_find_the_same(tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    here = kdoctor.scan(["."], jobs=1)
    assert {finding.place.path for finding in here.findings} >= {"hidden.py", "old_00.py"}
    with ProcessPoolExecutor(
        1, get_context("spawn"), initializer=os.chdir, initargs=(elsewhere,)
    ) as pool:
        assert kdoctor.scan(["."], executor=pool) == here
        Path("old_00.py").write_text("from keras import ops\n")
        Path("compat.py").write_text("from numpy import sum as K\n")
        again = kdoctor.scan(["."], executor=pool)
        fixed = kdoctor.fix(["."], executor=pool)
    assert {finding.place.path for finding in again.findings}.isdisjoint({"hidden.py", "old_00.py"})
    assert fixed == kdoctor.fix(["."], jobs=1)


def test_a_fix_by_an_executor_writes_the_same():
    fixed = kdoctor.fix(["."], executor=Inline())
    assert fixed == kdoctor.fix(["."])
    assert fixed.files
    assert kdoctor.fix(["."], executor=Inline(), apply=True).written
    assert Path("old_03.py").read_bytes() == fixed.files[3].after


def test_what_a_lost_worker_had_is_sent_again():
    lost = Inline(ConnectionError("worker died"), None, "cancelled", MemoryError(), None, OSError())
    assert kdoctor.scan(["."], executor=lost) == kdoctor.scan(["."])
    assert len(lost.calls) == FILES + 2 + 4
    # An engine that knows equal calls again, as Dask does, would give the old failure back.
    assert len(set(lost.calls)) == len(lost.calls)


def test_what_no_worker_survives_is_done_here(monkeypatch):
    monkeypatch.setattr(dispatch, "_MAX_CHUNK_FILES", 100)
    bad = Inline(*[ConnectionError("worker died")] * 100)
    assert kdoctor.scan(["."], executor=bad) == kdoctor.scan(["."])
    assert len(bad.calls) == 3


def test_answers_that_never_come_are_not_waited_for(monkeypatch):
    monkeypatch.setattr(remote_executor, "_FIRST_RESULT_TIMEOUT", 0.01)
    silent = Inline(*["silent"] * 3)
    assert kdoctor.scan(["."], executor=silent) == kdoctor.scan(["."])
    assert all(future.cancelled() for future in silent.futures[:3])


def test_an_answer_is_waited_for_as_long_as_others_come():
    class Slow(Future):
        """Comes last: each time that it was waited for in vain, one of the others has come."""

        def exception(self, timeout=None):
            if len(executor.waiting) == 1:
                executor.do(self)
            elif not self.done():
                executor.do(list(executor.waiting)[1])
                raise TimeoutError
            return super().exception(timeout)

    class Reluctant(Executor):
        def __init__(self):
            self.waiting = {}

        def submit(self, function, /, *arguments):
            future = Future() if self.waiting else Slow()
            self.waiting[future] = function, arguments
            return future

        def do(self, future):
            function, arguments = self.waiting.pop(future)
            future.set_result(function(*arguments))

    executor = Reluctant()
    assert kdoctor.scan(["."], executor=executor) == kdoctor.scan(["."])
    assert not executor.waiting


def test_an_executor_that_broke_is_a_sentence():
    broken = Inline(None, None, BrokenExecutor("a child process\nterminated"))
    with pytest.raises(
        KdoctorError, match="executor has failed: BrokenExecutor: a child process term"
    ):
        kdoctor.scan(["."], executor=broken)


def test_an_executor_that_is_shut_down_is_a_sentence():
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(KdoctorError, match="after shutdown"):
        kdoctor.scan(["."], executor=pool)


def test_workers_of_another_version_are_a_sentence(monkeypatch):
    monkeypatch.setattr(remote_executor, "version", lambda: "kdoctor 0.0.9 on Python 3.11")
    with pytest.raises(
        UsageProblem, match=r"has kdoctor .*, but this machine has kdoctor 0\.0\.9 on"
    ):
        kdoctor.scan(["."], executor=Inline())


def test_workers_without_kdoctor_are_a_sentence():
    error = RuntimeError("Error during deserialization of the task graph.")
    error.__cause__ = ModuleNotFoundError("No module named 'kdoctor'")
    with pytest.raises(UsageProblem, match="install it on them"):
        kdoctor.scan(["."], executor=Inline(error))


def test_workers_that_do_not_see_the_files_are_a_sentence(monkeypatch):
    class Elsewhere(Inline):
        def submit(self, function, /, *arguments):
            with monkeypatch.context() as there:
                there.setattr(
                    remote_worker, "Path", lambda *parts: Path("/nonexistent", *parts[1:])
                )
                return super().submit(function, *arguments)

    with pytest.raises(UsageProblem, match=r"compat\.py: not found on .*same paths"):
        kdoctor.scan(["."], executor=Elsewhere())


def test_a_file_that_is_gone_meanwhile_is_told_of_as_ever():
    class Late(Inline):
        def submit(self, function, /, *arguments):
            Path("old_05.py").unlink(missing_ok=True)
            return super().submit(function, *arguments)

    result = kdoctor.scan(["."], executor=Late())
    assert [(file.path, file.why) for file in result.unreadable] == [
        ("old_05.py", "cannot be read: No such file or directory")
    ]
    assert len({finding.place.path for finding in result.findings}) == FILES - 1 + 1


def test_ctrl_c_takes_back_what_was_sent():
    def interrupt(done, _):
        if done == 3:
            raise KeyboardInterrupt

    executor = Inline(None, None, None, *["silent"] * 100)
    with pytest.raises(KeyboardInterrupt):
        kdoctor.scan(["."], executor=executor, progress=interrupt)
    assert all(future.cancelled() for future in executor.futures[3:])


def test_jobs_do_not_go_with_an_executor():
    with pytest.raises(UsageProblem, match="pass only one of them"):
        kdoctor.scan(["."], executor=Inline(), jobs=2)
