"""One job after the other, each in a fork of its own that is watched to its end.

The frameworks are imported once, before any code of the user's; a fork that hangs, exits or eats
memory costs its own job only.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import pickle
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from . import sandbox

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_POLL = 0.02
_IDLE = 0.1  # of the time: one that only wakes up to sleep again waits
_THROUGH = 87  # the exit status of a fork whose answer is whole


def main(side_name: str, folder: str) -> None:
    """Do the jobs of ``jobs.json`` in ``folder``; write a line of JSON for each to stdout."""
    sys.dont_write_bytecode = True
    orders = json.loads(Path(folder, "jobs.json").read_text("utf-8"))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what frameworks print is no answer
    sandbox.adopt_orphans()
    from .frameworks import load

    # The frameworks are not looked through for garbage: forks share them as long as nobody does.
    gc.disable()
    side = load(side_name, orders["keras_2"])
    gc.freeze()
    gc.enable()
    _say(answers, {"ready": side.versions})
    for job in orders["jobs"]:
        job["reference"] = orders["reference"]
        _say(
            answers, {"job": job["id"], **_done(job, side, Path(folder), orders["limits"], answers)}
        )


def _say(answers: Any, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def _done(
    job: dict[str, Any], side: Any, folder: Path, limits: dict[str, float], answers: Any
) -> dict[str, Any]:
    """Run a job in a fork. Whatever becomes of that is part of the answer."""
    home = folder / f"{side.name}-{job['id']}"
    home.mkdir()
    verdict = folder / f"{side.name}-{job['id']}.json"
    pid = os.fork()
    if not pid:
        os.close(answers.fileno())  # what the user's code writes there would be taken for answers
        _child(job, side, folder, home, limits)
    signal.signal(signal.SIGTERM, lambda *_: _end_with(pid))
    try:
        ended = _watched(pid, limits)
    finally:
        sandbox.end_all(pid)
        sandbox.end_orphans()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if ended == "":
        with contextlib.suppress(ValueError):
            return dict(json.loads(verdict.read_text("utf-8")))
    why = ended or "it ended its process before it was through"
    return {"state": "cannot", "error": why, "ended": True}


def _end_with(pid: int) -> None:
    sandbox.end_all(pid)
    sandbox.end_orphans()
    os._exit(1)


def _child(
    job: dict[str, Any], side: Any, folder: Path, home: Path, limits: dict[str, float]
) -> None:
    """Do the job and end the process, whatever happens."""
    status = 1
    try:
        name = f"{side.name}-{job['id']}"
        # Opened before the doors are shut: the user's code may write below its home only.
        with (
            (folder / f"{name}.json").open("w", encoding="utf-8") as out,
            (folder / f"{name}.pickle").open("wb") as record,
        ):
            sandbox.enter(home, limits)
            from .running import run

            answer, kept = run(job, side, folder)
            sandbox.leave()
            pickle.dump(kept, record)
            json.dump(answer, out)
        status = _THROUGH
    except BaseException:  # noqa: BLE001 - it is a bug of the worker's, told by its exit status
        traceback.print_exc()
    finally:
        os._exit(status)


def _watched(pid: int, limits: dict[str, float]) -> str:
    """Wait for a fork; return why it has no answer, "" where it has."""
    asleep, before, at = 0.0, -1.0, time.monotonic()
    most = limits["memory"] + _memory_of(os.getpid())
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return _how(status)
        time.sleep(_POLL)
        now = time.monotonic()
        state, used = _clock_of(pid)
        # A process that waits for a core or a disk is none that sleeps; one that is stopped is.
        if state not in {"R", "D"} and used - before < _IDLE * (now - at):
            asleep += now - at
        before, at = used, now
        why = ""
        if used > limits["seconds"]:
            why = f"it was not through after {limits['seconds']:g} s of computing"
        elif asleep > limits["seconds"]:
            why = f"it waited for {limits['seconds']:g} s"
        elif _memory_of(pid) > most:
            why = f"it took more than {limits['memory'] / 2**30:.1f} GiB of memory"
        if why:
            sandbox.end_all(pid)
            os.waitpid(pid, 0)
            return why


def _how(status: int) -> str:
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return f"it killed its process ({name})"
    code = os.WEXITSTATUS(status)
    return "" if code == _THROUGH else f"it ended its process (exit code {code})"


def _clock_of(pid: int) -> tuple[str, float]:
    """Return the state of a process and its seconds of computing."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    except OSError:  # no /proc here: only the limits that the system itself holds count
        return "", 0.0
    fields = text.rpartition(")")[2].split()
    return fields[0], (int(fields[11]) + int(fields[12])) / _TICKS


def _memory_of(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0.0
