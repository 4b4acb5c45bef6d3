"""Run a chunk in a process that an executor started, here or on another machine.

It has not been prepared for this, may do several chunks at a time in threads, and may have another
working folder. What goes there and comes back is bytes, so that any executor can carry it.
"""

from __future__ import annotations

import pickle
import platform
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kdoctor import __version__
from kdoctor.engine.schedule.task import ScanOptions, Task
from kdoctor.errors import UsageProblem

Work = Callable[[ScanOptions, Sequence[Task]], list[Any]]


@dataclass(slots=True)
class _Worker:
    """The state of this process. ``lock``: chunks run one at a time."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    run: str = ""


_WORKER = _Worker()


def version() -> str:
    """Return the versions that must match on both machines for equal results."""
    python = ".".join(platform.python_version_tuple()[:2])
    return f"kdoctor {__version__} on Python {python}"


def packed(
    run: str, sending: int, work: Work, scan_options: ScanOptions, chunk: Sequence[Task]
) -> bytes:
    """Pickle what a worker needs to run a chunk.

    ``run`` is the same for a whole scan. Each ``sending`` differs: engines know equal calls again.
    """
    return pickle.dumps((run, sending, work, scan_options, list(chunk)))


def execute(sender: str, package: bytes) -> bytes:
    """Run a pickled chunk from a process of this :func:`version`; pickle its results.

    Raises:
        UsageProblem: the versions differ.
        FileNotFoundError: a file cannot be seen from here.
    """
    if sender != version():
        raise UsageProblem(
            f"a worker on {socket.gethostname()} has {version()}, but this machine has {sender}; "
            "install the same version on both"
        )
    run, _, work, scan_options, chunk = pickle.loads(package)  # noqa: S301 - of our own making
    for task in chunk:
        path = Path(scan_options.folder, task.source.path)
        if not task.source.is_stdin and not path.exists():
            raise FileNotFoundError(2, f"not found on {socket.gethostname()}", task.source.path)
    return pickle.dumps(perform(run, work, scan_options, chunk))


def perform(run: str, work: Work, scan_options: ScanOptions, chunk: Sequence[Task]) -> list[Any]:
    """Run a chunk; first drop caches of another run's files."""
    # Imported here: the worker may not have what it takes.
    from kdoctor.engine.examiners import forget  # noqa: PLC0415

    with _WORKER.lock:
        if _WORKER.run != run:
            forget()
            _WORKER.run = run
        return work(scan_options, chunk)
