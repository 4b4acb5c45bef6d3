"""Ask the process that reads HDF5 (``hdf5_child``), and bear it when a file kills it."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, to_builtins

from kdoctor.errors import FileProblem

_CHILD: Final = Path(__file__).with_name("hdf5_child.py")
_SECONDS: Final = 8.0  # for one file: what is read of a sound one takes milliseconds
_BYTES_PER_SECOND: Final = 5_000_000  # that the slowest disk copies
_SECONDS_TO_START: Final = 60.0  # the import of h5py, on a busy machine
_MISSING: Final = 'reading HDF5 needs h5py: pip install "keras-doctor[models]"'
_ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Member(Struct, frozen=True):
    """Where a file lies in a zip archive: ``method`` is how it is compressed, 0 for not."""

    start: int
    size: int
    unpacked: int
    method: int


def told_by_hdf5(path: Path, member: Member | None = None) -> dict[str, Any]:
    """Return what an HDF5 file says, as ``hdf5_child`` tells it.

    Raises:
        FileProblem: it cannot be read, is damaged, or h5py is not installed.
    """
    if not _is_there():
        raise FileProblem(f"{path}: {_MISSING}")
    asked = {"path": os.path.abspath(path)}  # noqa: PTH100 - links stay
    if member is not None:
        asked["member"] = {name: getattr(member, name) for name in Member.__struct_fields__}  # type: ignore[assignment]
    with _LOCK:
        answer = _process().answer(asked)
    if "error" in answer:
        raise FileProblem(f"{path}: {_sentence(answer['error'])}")
    return answer


Steps = tuple[tuple[str, Any], ...]
"""Methods of numpy's arrays, each with its argument: `reshape`, `transpose`, `sum`."""


class Writing(Struct, frozen=True):
    """What is written into a new HDF5 file.

    ``groups``: the texts of each group, by its path. ``copies``: the paths of arrays in the file
    that is read and in the new one, and what is done to the array in between; for no path, a
    number is written: `(("value", 0.1),)`.
    """

    to: Path
    groups: dict[str, dict[str, str | list[str]]]
    copies: tuple[tuple[str, str, Steps], ...]


def copied_by_hdf5(path: Path, member: Member | None, writing: Writing) -> None:
    """Copy arrays of an HDF5 file, or of one in an archive, into a new one.

    Raises:
        FileProblem: it cannot be read, is damaged, or h5py is not installed.
    """
    if not _is_there():
        raise FileProblem(f"{path}: {_MISSING}")
    asked = {
        "path": str(path.absolute()),
        "member": None if member is None else to_builtins(member),
        "to": str(writing.to.absolute()),
        "groups": writing.groups,
        "copies": writing.copies,
    }
    seconds = _SECONDS + path.stat().st_size / _BYTES_PER_SECOND
    with _LOCK:
        answer = _process().answer(asked, seconds)
    if "error" in answer:
        raise FileProblem(f"{path}: {_sentence(answer['error'])}")


def _is_there() -> bool:
    try:
        return importlib.util.find_spec("h5py") is not None
    except ValueError:  # it was put out of reach
        return False


def _sentence(error: str) -> str:
    if "truncated file" in error:
        return f"the file is cut short: copy or download it again ({error})"
    return f"the file is damaged: {error}"


def _is_of_memory(answer: dict[str, Any]) -> bool:
    return "error" in answer and bool(answer.get("is_spent"))


class _Process:
    """A process that reads HDF5; it is started anew when a file has ended it."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._child: subprocess.Popen[bytes] | None = None
        self._has_read = False  # a file, so that there may be something left of it

    def answer(self, asked: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
        """Return the answer to one request; where the process ends over it, why.

        What another file may have left in the process is held against no file: it is asked anew
        in a process of its own.
        """
        seconds = _SECONDS if seconds is None else seconds
        has_read = self._has_read
        found, is_late = self._asked(asked, seconds)
        if has_read and not is_late and (found is None or _is_of_memory(found)):
            found, is_late = self._asked(asked, seconds)
        if found is not None:
            return found
        why = f"reading it takes longer than {seconds:.0f} seconds" if is_late else ""
        return {"error": why or "the HDF5 library crashes on it"}

    def _asked(self, asked: dict[str, Any], seconds: float) -> tuple[dict[str, Any] | None, bool]:
        """Return an answer, None where the process has ended, and whether that was for the time."""
        if self._child is None:
            self._child = self._started()
        line, is_late = self._line(self._child, json.dumps(asked).encode() + b"\n", seconds)
        found: dict[str, Any] | None = json.loads(line) if line else None
        self._has_read = True
        if found is None or found.get("is_spent"):
            self.end()
        return found, is_late

    def end(self) -> None:
        """End the process, if it runs."""
        child, self._child = self._child, None
        self._has_read = False
        if child is not None and self.owner == os.getpid():
            child.kill()
            for stream in (child.stdin, child.stdout):
                with contextlib.suppress(OSError):
                    if stream is not None:
                        stream.close()
            child.wait()

    def _started(self) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            [sys.executable, "-P", str(_CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | _ONE_THREAD,
        )
        line, _ = self._line(child, b"", _SECONDS_TO_START)
        if not line:
            child.kill()
            child.wait()
            raise FileProblem("h5py cannot be imported here, and HDF5 not be read without")
        return child

    @staticmethod
    def _line(child: subprocess.Popen[bytes], asked: bytes, seconds: float) -> tuple[bytes, bool]:
        """Return the next line of a process, b"" where it ends, and whether it took too long."""
        late = threading.Event()

        def stop() -> None:
            late.set()
            child.kill()

        timer = threading.Timer(seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            assert child.stdin is not None
            assert child.stdout is not None
            with contextlib.suppress(OSError):  # it has ended
                child.stdin.write(asked)
                child.stdin.flush()
            line = child.stdout.readline()
        finally:
            timer.cancel()
        return line if line.endswith(b"\n") else b"", late.is_set()


_LOCK: Final = threading.Lock()
_PROCESSES: Final[list[_Process]] = []


def _process() -> _Process:
    """Return the process of this one: a fork of it must not talk to its parent's."""
    if not _PROCESSES or _PROCESSES[-1].owner != os.getpid():
        made = _Process()
        _PROCESSES[:] = [made]
        atexit.register(made.end)
    return _PROCESSES[-1]
