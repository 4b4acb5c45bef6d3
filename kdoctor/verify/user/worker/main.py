"""Run each job in a fork of its own, and watch it until it ends.

The frameworks are imported once, before any user code. A fork that hangs, exits or uses too much
memory costs only its own job. Several run at once, as many as the request allows.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import os
import pickle
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from . import sandbox
from .endings import how_it_ended

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_POLL = 0.02  # seconds
_IDLE = 0.1  # share of CPU time below which a process counts as idle
_CHECK_INTERVAL = 0.5  # seconds between two checks of what a fork has written
_MAX_WRITTEN, _MAX_FILES = 2**30, 10_000
_COMPLETE = 87  # the exit status of a fork whose answer is complete


def main(side_name: str, shim: str, folder: str, sandboxed: str) -> None:
    """Load a side; run the jobs of the file named on stdin; write a line of JSON for each.

    If user code is to be ``sandboxed`` and this system cannot do that, only report what is missing.
    """
    sys.dont_write_bytecode = True
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # keeps framework output apart from answers
    sandbox.adopt_orphans()
    lacking = sandbox.missing(Path(folder)) if sandboxed else []
    if lacking:
        _send(answers, {"missing": lacking})
        return
    from .frameworks import load

    # Frozen: if the collector touched these objects, forks would no longer share their memory.
    gc.disable()
    side = load(side_name, shim)
    gc.freeze()
    gc.enable()
    _send(answers, {"ready": side.versions})
    request = json.loads(Path(os.fsdecode(sys.stdin.buffer.read())).read_text("utf-8"))
    request["sandboxed"] = bool(sandboxed)
    _Forks(side, Path(folder), request, answers).work()


def _send(answers: Any, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


class _Forks:
    """The running jobs; however a fork ends, its job gets an answer."""

    def __init__(self, side: Any, folder: Path, request: dict[str, Any], answers: Any) -> None:
        self._side, self._folder, self._answers = side, folder, answers
        self._request = request
        self._running: dict[int, _Fork] = {}

    def work(self) -> None:
        """Run all jobs, with as many at once as requested."""
        signal.signal(signal.SIGTERM, self._end)
        waiting = iter(self._request["jobs"])
        while True:
            free = self._request["at_once"] - len(self._running)
            for job in itertools.islice(waiting, free):
                self._start(job)
            if not self._running:
                return
            self._collect()
            time.sleep(_POLL)

    def _start(self, job: dict[str, Any]) -> None:
        name = f"{self._side.name}-{job['id']}"
        home = self._folder / name
        shutil.rmtree(home, ignore_errors=True)  # left by a worker that died
        home.mkdir()
        _send(self._answers, {"began": job["id"]})
        pid = os.fork()
        if not pid:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.close(self._answers.fileno())  # or user code could write answers
            job["reference"] = self._request["reference"]
            _child(job, self._side, self._folder, home, self._request)
        verdict = self._folder / f"{name}.json"
        self._running[pid] = _Fork(pid, job["id"], verdict, self._request["limits"])

    def _collect(self) -> None:
        """Report the forks that have ended."""
        for fork in list(self._running.values()):
            why = fork.end()
            if why is None:
                continue
            del self._running[fork.pid]
            sandbox.end_all(fork.pid)
            sandbox.end_orphans(self._running)
            _send(self._answers, {"job": fork.job, **fork.answer(why)})

    def _end(self, _number: int, _frame: Any) -> None:
        for pid in self._running:
            sandbox.end_all(pid)
        sandbox.end_orphans(())
        os._exit(1)


def _child(
    job: dict[str, Any], side: Any, folder: Path, home: Path, request: dict[str, Any]
) -> None:
    """Run the job, then end the process in any case."""
    status = 1
    # The measurements before the fix, the reference files, and what the job is about.
    read = [str(folder / f"{job.get('repeats')}-{job['id']}.pickle"), request["reference"]]
    read += job.get("reads", ())
    try:
        name = f"{side.name}-{job['id']}"
        # Opened before entering the sandbox, which allows writing only in the home folder.
        with contextlib.ExitStack() as files:
            out = files.enter_context((folder / f"{name}.json").open("w", encoding="utf-8"))
            record = files.enter_context((folder / f"{name}.pickle").open("wb"))
            sandbox.enter(home, request["limits"], read, confine=request["sandboxed"])
            answer, kept = _ran(job, side, folder)
            sandbox.leave()
            pickle.dump(kept, record)
            json.dump(answer, out)
        status = _COMPLETE
    except BaseException:  # noqa: BLE001 - a bug in the worker; the exit status reports it
        traceback.print_exc()
    finally:
        os._exit(status)


def _ran(job: dict[str, Any], side: Any, folder: Path) -> tuple[dict[str, Any], Any]:
    """Run a job by what it is about: a saved model may be run on a Python that is old."""
    if "saved_model" in job:
        from .saved_models import run
    else:
        from .running import run
    return run(job, side, folder)


class _Fork:
    """A process that runs a job, watched until it ends."""

    def __init__(self, pid: int, job: int, verdict: Path, limits: dict[str, float]) -> None:
        self.pid, self.job = pid, job
        self._verdict, self._limits = verdict, limits
        self._home = verdict.with_suffix("")
        self._idle, self._used, self._at = 0.0, -1.0, time.monotonic()
        self._next_check = self._at + _CHECK_INTERVAL
        self._max_memory = limits["memory"] + _memory_of(os.getpid())

    def end(self) -> str | None:
        """Return why it has no answer, "" if it has one, or None while it is running."""
        done, status = os.waitpid(self.pid, os.WNOHANG)
        if done:
            return _how(status)
        why = self._exceeded()
        if why is not None:
            sandbox.end_all(self.pid)
            os.waitpid(self.pid, 0)
        return why

    def answer(self, why: str) -> dict[str, Any]:
        """Return its answer, or the reason why there is none."""
        if why == "":
            # User code may have changed or deleted the file.
            with contextlib.suppress(OSError, ValueError, RecursionError):
                found = json.loads(self._verdict.read_text("utf-8"))
                if isinstance(found, dict) and "state" in found:
                    return found
        return {"state": "ended", "error": why or "its process ended before it finished"}

    def _exceeded(self) -> str | None:
        seconds, memory = self._limits["seconds"], self._limits["memory"]
        now = time.monotonic()
        state, used = _clock_of(self.pid)
        # Waiting for a core or a disk is not idling; being stopped is.
        if state not in {"R", "D"} and used - self._used < _IDLE * (now - self._at):
            self._idle += now - self._at
        self._used, self._at = used, now
        if used > seconds:
            return f"it did not finish within {seconds:g} s of CPU time"
        if self._idle > seconds:
            return f"it was idle for {seconds:g} s"
        if _memory_of(self.pid) > self._max_memory:
            return f"it used more than {memory / 2**30:.1f} GiB of memory"
        if now > self._next_check:
            self._next_check = now + _CHECK_INTERVAL
            return _exceeded_in(self._home)
        return None


def _exceeded_in(folder: Path) -> str | None:
    """Return an error if a folder contains too much; it may change at the same time."""
    size = 0
    # Not `rglob`, which raises if a folder is deleted while it is listed.
    names = (Path(at, name) for at, *both in os.walk(folder) for name in itertools.chain(*both))
    for number, each in enumerate(names):
        with contextlib.suppress(OSError):
            size += each.lstat().st_size
        if size > _MAX_WRITTEN:
            return f"it wrote more than {_MAX_WRITTEN / 2**30:g} GiB"
        if number > _MAX_FILES:
            return f"it wrote more than {_MAX_FILES} files"
    return None


def _how(status: int) -> str:
    # As `os.waitstatus_to_exitcode` does it, since Python 3.9.
    code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return "" if code == _COMPLETE else f"its process {how_it_ended(code)}"


def _clock_of(pid: int) -> tuple[str, float]:
    """Return the state of a process and its CPU seconds."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    except OSError:  # no /proc: only the resource limits apply
        return "", 0.0
    fields = text.rpartition(")")[2].split()
    return fields[0], (int(fields[11]) + int(fields[12])) / _TICKS


def _memory_of(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0.0
