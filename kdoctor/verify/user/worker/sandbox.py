"""What keeps user code in its folder.

That is limits of the system, Landlock where the kernel has it, and Python's audit events, which say
in words what was refused.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

_LARGEST_FILE = 256 * 2**20
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_PARENT_DEATH, _NO_NEW_PRIVILEGES, _CHILD_SUBREAPER = 1, 38, 36  # of prctl
_OF_PATHS = {
    *("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate"),
    *("os.chmod", "os.chown", "os.utime", "os.setxattr", "os.removexattr", "shutil.rmtree"),
}
_NEVER = {
    "os.fork": "start a process",
    "os.forkpty": "start a process",
    "os.exec": "start a program",
    "os.posix_spawn": "start a program",
    "os.spawn": "start a program",
    "os.system": "start a program",
    "subprocess.Popen": "start a program",
    "pty.spawn": "start a program",
    "os.kill": "signal a process",
    "os.killpg": "signal processes",
    "socket.connect": "use the network",
    "socket.bind": "use the network",
    "socket.sendto": "use the network",
    "socket.getaddrinfo": "use the network",
    "socket.gethostbyname": "use the network",
}


class Refused(PermissionError):
    """User code tried what kdoctor does not let it do."""


class _Doors:
    """Where writing is let through; ``shut`` is False again when the worker itself goes on."""

    home = ""
    named = ""  # the same as it was given: links may lead to it
    shut = False


def enter(home: Path, limits: dict[str, float]) -> None:
    """Shut the doors of this process, for good."""
    os.setsid()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(_PARENT_DEATH, signal.SIGKILL)
    said = os.open(home.parent / f"{home.name}.log", os.O_WRONLY | os.O_CREAT, 0o600)
    silence = os.open(os.devnull, os.O_RDONLY)
    os.dup2(silence, 0)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.chdir(home)
    for variable in ("HOME", "KERAS_HOME", "TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME"):
        os.environ[variable] = str(home)
    tempfile.tempdir = None
    seconds = int(limits["seconds"]) + 5
    _limit(resource.RLIMIT_CPU, seconds)
    _limit(resource.RLIMIT_FSIZE, _LARGEST_FILE)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, _mapped() + 2 * int(limits["memory"]))
    with contextlib.suppress(OSError, AttributeError):
        _landlock(home)
    _Doors.home, _Doors.named = os.path.realpath(home), str(home)
    _Doors.shut = True
    sys.addaudithook(_heard)


def leave() -> None:
    """Let the worker's own last steps through."""
    _Doors.shut = False


def without_home(text: str) -> str:
    """Return a text in which files of this process's folder, whose name is drawn, stand alone."""
    for each in filter(None, (_Doors.home, _Doors.named)):
        text = text.replace(each + os.sep, "")
    return text


def end_all(pid: int) -> None:
    """End a fork and all of its session."""
    for end in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            end(pid, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of processes whose own one ends, also of those in another session.

    And be told to end when kdoctor itself is ended.
    """
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc.prctl(_PARENT_DEATH, signal.SIGTERM)


def end_orphans(forks: Collection[int]) -> None:
    """End what forks left behind: children of this process that are not one of ``forks``."""
    while orphans := [each for each in _children() if each not in forks]:
        for each in orphans:
            with contextlib.suppress(OSError):
                os.kill(each, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.waitpid(each, 0)


def _children() -> list[int]:
    found = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = each.read_text("ascii", "replace").rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                found.append(int(each.parent.name))
    return found


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if not _Doors.shut:
        return
    if event in _NEVER:
        raise Refused(f"kdoctor does not let it {_NEVER[event]} ({event})")
    if event == "open":
        path, mode, flags = arguments
        writes = bool((flags or 0) & _WRITES) or bool({*(mode or "")} & {*"wax+"})
        if writes and not _is_inside(path):
            raise Refused(f"kdoctor does not let it write outside of its folder ({path})")
    elif event in _OF_PATHS:
        for path in arguments[:2]:
            if isinstance(path, (str, bytes, os.PathLike)) and not _is_inside(path):
                raise Refused(f"kdoctor does not let it change {os.fsdecode(path)} ({event})")


def _is_inside(path: Any) -> bool:
    if isinstance(path, int) or path == os.devnull:
        return True
    real = os.path.realpath(os.fsdecode(path))
    return real == _Doors.home or real.startswith(_Doors.home + os.sep)


def _limit(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(what, (value, value))


def _mapped() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (OSError, IndexError):
        return 2**40
    return pages * os.sysconf("SC_PAGE_SIZE")


# Landlock: https://docs.kernel.org/userspace-api/landlock.html. C code, such as HDF5's and
# TensorFlow's, raises no audit events.
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE_FILE, _TRUNCATE, _REFER = 1 << 0, 1 << 1, 1 << 14, 1 << 13
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))


class _Ruleset(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("files", "network", "scoped")]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def _landlock(home: Path) -> None:
    """Refuse, in the kernel, writing outside of ``home``, programs, TCP and signals to others."""
    if not sys.platform.startswith("linux"):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE, None, 0, 1)
    if version < 1:
        return
    inside = _WRITE_FILE | _REMOVE_AND_MAKE
    inside |= _REFER if version >= 2 else 0
    inside |= _TRUNCATE if version >= 3 else 0
    rules = _Ruleset(inside | _EXECUTE, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = libc.syscall(_CREATE, ctypes.byref(rules), size, 0)
    if ruleset < 0:
        return
    written = _WRITE_FILE | (inside & _TRUNCATE)
    for path, allowed in ((home, inside), (os.devnull, written)):
        parent = os.open(path, getattr(os, "O_PATH", os.O_RDONLY))
        beneath = _Beneath(allowed, parent)
        libc.syscall(_ADD, ruleset, 1, ctypes.byref(beneath), 0)
        os.close(parent)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.syscall(_RESTRICT, ruleset, 0)
    os.close(ruleset)
