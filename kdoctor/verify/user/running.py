"""The processes that run user code: Keras 2 runs first, then Keras 3 runs and compares.

All start at once, because importing a framework takes seconds. Where backends are asked for,
Keras 3 runs once with each, and code that does not run on Keras 2 runs on Keras 3 before its fix.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Self

from kdoctor import reference
from kdoctor.errors import UsageProblem
from kdoctor.interpreters import Interpreter
from kdoctor.verify.processes import ON_THE_CPU, ONE_THREAD, QUIET
from kdoctor.verify.user import worker
from kdoctor.verify.user.interpreter import inherited_environment
from kdoctor.verify.user.results import TITLES
from kdoctor.verify.user.worker.endings import how_it_ended

_HERE = Path(__file__).parent
_SHIM = _HERE.parent / "keras_2.py"
_KERAS_2, _BEFORE, _KERAS_3 = "keras_2", "keras_3_before", "keras_3"
_ENVIRONMENT = {
    **QUIET,
    **ON_THE_CPU,
    **ONE_THREAD,
    "PYTHONUTF8": "1",
    "PYTHONHASHSEED": "0",
    "MPLBACKEND": "agg",
}
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from worker.main import main; main(*sys.argv[2:])"
)
_MAX_SILENCE = 900.0  # seconds without output after which a worker is ended
_POLL = 2.0  # seconds
_MAX_FAILED_STARTS = 2  # workers that end before any definition has begun
_ENDS = (signal.SIGTERM, signal.SIGHUP)

Job = dict[str, Any]
Answer = dict[str, Any]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one definition on each side: seconds of CPU time or idle time, and bytes.

    ``at_once`` definitions may run at the same time; 0 means as many as cores and memory allow.
    If not ``sandboxed``, they run with the user's permissions.
    """

    seconds: float = 60.0
    memory: int = 3 * 2**30
    at_once: int = 0
    sandboxed: bool = True


@dataclass(frozen=True, slots=True)
class Ran:
    """The answers of all sides by job number, and the versions that ran.

    ``before`` holds those of Keras 3 for code before its fix, and ``on`` those of each backend that
    was asked for; ``keras_3`` are those where none was.
    """

    keras_2: dict[int, Answer]
    keras_3: dict[int, Answer]
    versions: tuple[tuple[str, str], ...]
    before: dict[int, Answer] = field(default_factory=dict)
    on: dict[str, dict[int, Answer]] = field(default_factory=dict)


def run(  # noqa: PLR0913 - what runs, where, and how far
    old: Sequence[Job],
    new: Sequence[Job],
    interpreter: Interpreter,
    limits: Limits,
    progress: Progress | None = None,
    *,
    old_interpreter: Interpreter | None = None,
    backends: Sequence[str] = (),
    has_keras_2: bool = True,
) -> Ran:
    """Run jobs before the fix on Keras 2, and after it on Keras 3, with each of the ``backends``.

    Keras 2 is that of ``old_interpreter``, if there is one. With backends, what does not run on it
    runs on Keras 3 with TensorFlow before the fix; all of it, if the interpreter has no Keras 2.

    Raises:
        UsageProblem: a worker does not start, or this system cannot sandbox it.
    """
    if not old:
        return Ran({}, {}, (), on={each: {} for each in backends})
    names = {each: f"{_KERAS_3}-{each}" for each in backends} or {"": _KERAS_3}
    workers: dict[str, _Worker] = {}
    found: dict[str, dict[int, Answer]] = {_KERAS_2: {}, _BEFORE: {}}
    total = len(old) + len(new) * len(names)
    with (
        exit_on_signals(),
        tempfile.TemporaryDirectory(prefix="kdoctor-", ignore_cleanup_errors=True) as folder,
        contextlib.ExitStack() as started,
    ):

        def start(side: str) -> None:
            python = old_interpreter or interpreter if side == _KERAS_2 else interpreter
            made = _Worker(side, python, Path(folder), limits)
            workers[side] = started.enter_context(made)

        def answers_of(side: str, jobs: Sequence[Job]) -> None:
            done = sum(map(len, found.values()))
            answers = workers[side].answers(jobs)
            found[side] = _collected(answers, done, max(total, done + len(jobs)), progress)

        for side in ([_KERAS_2] if has_keras_2 else []) + [*names.values()]:
            start(side)
        if has_keras_2:
            answers_of(_KERAS_2, old)
        states = {number: each["state"] for number, each in found[_KERAS_2].items()}
        rest = [job for job in old if states.get(job["id"]) not in {"ran", "ended"}]
        if rest and backends:
            start(_BEFORE)
            answers_of(_BEFORE, rest)
        repeated = _repeated(new, found[_KERAS_2], found[_BEFORE])
        for side in names.values():
            answers_of(side, repeated)
    return Ran(
        found[_KERAS_2],
        found.get(_KERAS_3, {}),
        tuple((side, each.version) for side, each in workers.items() if each.version),
        found[_BEFORE],
        {each: found[names[each]] for each in backends},
    )


def _repeated(new: Sequence[Job], old: dict[int, Answer], again: dict[int, Answer]) -> list[Job]:
    """Return jobs after the fix, each with the side before it that it repeats, "" if none ran.

    What killed its process before the fix would do the same again: it is left out.
    """
    jobs = []
    for job in new:
        states = {
            side: found.get(job["id"], {}).get("state")
            for side, found in ((_KERAS_2, old), (_BEFORE, again))
        }
        if "ended" not in states.values():
            ran = [side for side, state in states.items() if state == "ran"]
            jobs.append({**job, "repeats": ran[0] if ran else ""})
    return jobs


@contextlib.contextmanager
def exit_on_signals() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into an exit, so that workers end and their folder is deleted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    # A signal that is ignored (nohup) or already handled stays so.
    handled = [each for each in _ENDS if signal.getsignal(each) is signal.SIG_DFL]
    for each in handled:
        signal.signal(each, leave)
    try:
        yield
    finally:
        for each in handled:
            signal.signal(each, signal.SIG_DFL)


def _collected(
    answers: Iterator[Answer], done: int, total: int, progress: Progress | None
) -> dict[int, Answer]:
    found = {}
    for answer in answers:
        found[int(answer["job"])] = answer
        if progress is not None:
            progress(done + len(found), total)
    return found


class _Worker:
    """A process that runs one side and is restarted if it dies.

    Ending it also ends every process that it started.
    """

    def __init__(self, side: str, interpreter: Interpreter, folder: Path, limits: Limits) -> None:
        self.version = ""  # what it runs; set once it has reported
        self._side, self._folder = side, folder
        self._backend = side.partition("-")[2] or "tensorflow"
        self._interpreter = interpreter
        self._limits = limits
        self._errors = folder / f"{side}-stderr"
        self._request = folder / f"{side}-request.json"
        self._process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        limits, folder = self._limits, str(self._folder)
        homes = dict.fromkeys(("HOME", "KERAS_HOME", "TMPDIR", "XDG_CACHE_HOME"), folder)
        backend = {"KERAS_BACKEND": self._backend}
        code = [self._interpreter.path, "-c", _START, str(Path(worker.__file__).parents[1])]
        with self._errors.open("wb") as errors:
            return subprocess.Popen(
                [*code, self._side, str(_SHIM), folder, "sandboxed" if limits.sandboxed else ""],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=inherited_environment() | _ENVIRONMENT | homes | backend,
                cwd=folder,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        _end(self._process)

    def answers(self, jobs: Sequence[Job]) -> Iterator[Answer]:
        """Run jobs; yield one answer for each as it arrives.

        If the worker dies (killed by unsandboxed code, or out of memory), only the job that killed
        it is lost. If several were running, they run again one by one to find it.

        Raises:
            UsageProblem: the worker did not start, or cannot sandbox user code.
        """
        rounds = [(list(jobs), self._limits.at_once or _capacity(self._limits.memory))]
        failed_starts = 0
        while rounds:
            batch, at_once = rounds.pop(0)
            left = {job["id"]: job for job in batch}
            running: set[int] = set()
            for message in self._messages(batch, at_once) if batch else ():
                if "began" in message:
                    running.add(message["began"])
                    continue
                running.discard(message["job"])
                del left[message["job"]]
                yield message
            if not left and not rounds:
                return
            why = self._ended()
            failed_starts = 0 if running or len(left) < len(batch) else failed_starts + 1
            lost = set(left) if failed_starts == _MAX_FAILED_STARTS else running
            if len(running) > 1:
                rounds.insert(0, ([left.pop(number) for number in sorted(running)], 1))
                rounds.append((list(left.values()), at_once))
            else:
                for number in sorted(lost):
                    del left[number]
                    yield {"job": number, "state": "ended", "error": why}
                rounds.insert(0, (list(left.values()), at_once))
            rounds = [each for each in rounds if each[0]]
            if rounds:
                self._process = self._started()

    def _ended(self) -> str:
        """End the process if it is still running; return how it ended."""
        try:
            self._process.wait(_POLL)
        except subprocess.TimeoutExpired:
            how = f"produced no output for {_MAX_SILENCE:g} s"
        else:
            how = how_it_ended(self._process.returncode)
        _end(self._process)
        return f"the worker process {how}"

    def _messages(self, jobs: Sequence[Job], at_once: int) -> Iterator[dict[str, Any]]:
        """Send jobs to the current process; yield its messages about them."""
        limits = self._limits
        request = {
            "jobs": list(jobs),
            "reference": str(Path(reference.__file__).parent),
            "limits": {"seconds": limits.seconds, "memory": limits.memory},
            "at_once": at_once,
        }
        self._request.write_text(json.dumps(request), encoding="utf-8")
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended, and reported why
            # Only the path of the jobs: a write this small never blocks, even if nobody reads it.
            self._process.stdin.write(os.fsencode(self._request))
            self._process.stdin.close()
        for line in _lines(self._process):
            message = json.loads(line)
            if "missing" in message:
                raise UsageProblem(_no_sandbox(message["missing"]))
            if "ready" in message:
                self.version = ", ".join(f"{k} {v}" for k, v in message["ready"].items())
                continue
            yield message
        if not self.version:
            self._process.wait()
            raise UsageProblem(_start_error(self._interpreter, self._errors, self._backend))


def _capacity(memory: int) -> int:
    """Return how many processes the cores and memory of the machine allow."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(cores, there // memory))


def _lines(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """Yield the lines that a worker prints, until it ends or is silent for too long."""
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    kept, since = b"", time.monotonic()
    while True:
        ready, _, _ = select.select([descriptor], [], [], _POLL)
        if not ready:
            if time.monotonic() - since > _MAX_SILENCE:
                return
            continue
        since = time.monotonic()
        read = os.read(descriptor, 1 << 16)
        if not read:
            return
        *whole, kept = (kept + read).split(b"\n")
        yield from whole


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a worker, by SIGTERM first: it has to end its forks, which have their own sessions."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):  # unsent input does not matter
                pipe.close()


def _no_sandbox(missing: Sequence[str]) -> str:
    """Say which parts of the sandbox are missing."""
    return (
        f"nothing was run: on this system the sandbox lacks {' and '.join(missing)}; "
        "--no-sandbox runs the code without it, with all your permissions"
    )


def _start_error(interpreter: Interpreter, errors: Path, backend: str) -> str:
    said = errors.read_text("utf-8", "replace").strip().splitlines()
    last = said[-1] if said else "no output"
    return (
        f"{TITLES[backend]} does not start on {interpreter.path} ({interpreter.because}): {last} "
        "(run `kdoctor env` to find the cause)"
    )
