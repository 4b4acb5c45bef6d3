"""One run of one command: wall time, processor time, memory of all its processes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

_EVERY = 0.2  # seconds between two looks at the memory: they take less than a hundredth of a core


class Run(msgspec.Struct, frozen=True):
    """What one run took. ``peak`` is of all processes together, where it was looked at."""

    wall: float  # seconds
    cpu: float  # seconds of all its processes
    rss: int  # bytes: the greatest of any one process
    peak: int | None = None  # bytes: the greatest sum of their proportional set sizes
    exit_code: int = 0


class CommandProblem(Exception):
    """A command ended with a code that is none of those it reports findings with."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, the folder it runs in, and the exit codes that mean it did its work."""

    words: Sequence[str]
    folder: Path
    cores: int = 2
    codes: tuple[int, ...] = (0, 1)
    environment: dict[str, str] = field(default_factory=dict)


def run(command: Command, *, memory: bool = False) -> Run:
    """Run a command to its end; what it writes goes nowhere.

    ``memory`` looks at the memory of all its processes meanwhile.

    Raises:
        CommandProblem: it failed.
    """
    with tempfile.TemporaryFile() as errors, _on(command.cores):
        begun = time.perf_counter()
        process = subprocess.Popen(
            command.words,
            cwd=command.folder,
            env=_environment() | command.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        peak = _watch(process) if memory else None
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        process.returncode = code = os.waitstatus_to_exitcode(status)
        if code not in command.codes:
            errors.seek(0)
            told = errors.read().decode(errors="replace")[-2000:]
            raise CommandProblem(f"{' '.join(command.words[:6])} …: exit code {code}\n{told}")
    cpu = usage.ru_utime + usage.ru_stime
    return Run(round(wall, 4), round(cpu, 4), usage.ru_maxrss * 1024, peak, code)


def _environment() -> dict[str, str]:
    """Return an environment in which Python keeps what it compiled, as it does by default."""
    left_out = {"PYTHONDONTWRITEBYTECODE", "PYTHONPROFILEIMPORTTIME", "VIRTUAL_ENV"}
    return {name: value for name, value in os.environ.items() if name not in left_out}


@contextlib.contextmanager
def _on(cores: int) -> Iterator[None]:
    """Keep what is started meanwhile to so many cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:cores])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _watch(process: subprocess.Popen[bytes]) -> int:
    """Return the greatest sum of the memory of a process and all below it, until it has ended."""
    peak = 0
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        peak = max(peak, sum(_memory(pid) for pid in _family(process.pid)))
        time.sleep(_EVERY)
    return peak


def _family(pid: int) -> Iterator[int]:
    yield pid
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))


def _memory(pid: int) -> int:
    """Return what a process has for itself, and its share of what it has with others."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0
