"""The sandbox: confine user code to its folder, whatever it does.

The kernel enforces it: Landlock (files), seccomp (sockets, processes, metadata, the machine), no
capabilities, resource limits. Python's audit hook enforces nothing, as user code can disable it; it
stops accidents and names what was refused. ``docs/verify-sandbox.md`` says what is promised and
what is not.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import socket
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from . import landlock, seccomp

_MAX_FILE_BYTES = 256 * 2**20
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_PARENT_DEATH, _CHILD_SUBREAPER = 1, 36  # options of prctl
# System files that a computation reads: libraries, time zones, numbers of cores and memory.
_OF_THE_SYSTEM = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/localtime", "/etc/timezone", "/usr/share/zoneinfo"),
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems"),
    *("/proc/sys/vm", "/sys/devices/system", "/sys/fs/cgroup"),
    *("/dev/zero", "/dev/random", "/dev/urandom"),
)
_PACKAGES = ("site-packages", "dist-packages")
_FILES, _CALLS = 1, 2
_MECHANISMS = {
    _FILES: "Landlock, which confines file access (Linux 5.13 or later, if enabled in the kernel)",
    _CALLS: "seccomp filters, which block the network, other processes and file metadata",
}
_READ_ANYTHING = 2  # CAP_DAC_READ_SEARCH: lets root read packages that another user installed
_CAPABILITIES_VERSION = 0x20080522
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
    """User code tried something that the sandbox forbids."""


class _AuditHook:
    """State of the audit hook; ``active`` is False again when user code has finished."""

    home = ""
    named = ""  # the path as given, which may contain links
    active = False


def enter(
    home: Path, limits: dict[str, float], readable: Iterable[str] = (), *, confine: bool = True
) -> None:
    """Confine this process for good; it may read ``readable`` and what Python needs.

    Raises:
        OSError: the kernel lacks one of the mechanisms.
    """
    os.setsid()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(_PARENT_DEATH, signal.SIGKILL)
    log = os.open(home.parent / f"{home.name}.log", os.O_WRONLY | os.O_CREAT, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(home)
    for variable in ("HOME", "KERAS_HOME", "TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME"):
        os.environ[variable] = str(home)
    tempfile.tempdir = None
    seconds = int(limits["seconds"]) + 5
    _limit(resource.RLIMIT_CPU, seconds)
    _limit(resource.RLIMIT_FSIZE, _MAX_FILE_BYTES)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, _mapped() + 2 * int(limits["memory"]))
    if confine:
        _drop_capabilities()
        landlock.restrict([*_needed(), *readable], [str(home), os.devnull])
        seccomp.restrict()
    _AuditHook.home, _AuditHook.named = os.path.realpath(home), str(home)
    if confine and hasattr(sys, "addaudithook"):  # Python 3.7 has none
        _AuditHook.active = True
        sys.addaudithook(_audit)


def missing(folder: Path) -> list[str]:
    """Return the mechanisms that do not work here, as tested in a separate process."""
    pid = os.fork()
    if not pid:
        working = 0
        try:
            _drop_capabilities()
            files = _works(
                lambda: landlock.restrict(_needed(), [str(folder)]),
                lambda: list(Path("/").iterdir()),
            )
            working = files * _FILES + _works(seccomp.restrict, socket.socket) * _CALLS
        finally:
            os._exit(working)
    status = os.waitpid(pid, 0)[1]
    working = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0
    return [text for mechanism, text in _MECHANISMS.items() if not working & mechanism]


def _works(enable: Callable[[], None], attempt: Callable[[], object]) -> bool:
    """Enable a mechanism, and say whether it refuses an attempt."""
    try:
        enable()
    except OSError:
        return False
    try:
        attempt()
    except PermissionError:
        return True
    return False


def _needed() -> list[str]:
    """Return the paths of Python, its packages, and the system files that a computation reads."""
    found = {*_OF_THE_SYSTEM, str(Path(__file__).parent)}
    for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix):
        found |= {os.path.join(prefix, each) for each in ("lib", "lib64")}  # noqa: PTH118
    found |= {sysconfig.get_path(each) for each in ("stdlib", "platstdlib", "purelib", "platlib")}
    found |= {each for each in sys.path if os.path.basename(each) in _PACKAGES}  # noqa: PTH119
    return sorted(found | _folders_of_libraries())


def _folders_of_libraries() -> set[str]:
    """Return the folders of the loaded libraries; others will be loaded from there."""
    try:
        lines = Path("/proc/self/maps").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return set()
    paths = {line.split(maxsplit=5)[-1] for line in lines if ".so" in line}
    return {os.path.dirname(each) for each in paths if os.path.isabs(each)}  # noqa: PTH117, PTH120


def _drop_capabilities() -> None:
    """Drop all capabilities of root except reading."""
    with contextlib.suppress(OSError, AttributeError):
        header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
        libc = ctypes.CDLL(None, use_errno=True)
        held = (ctypes.c_uint32 * 6)()
        libc.capget(header, held)
        for place in range(6):  # effective, permitted, inheritable; then the same above 32
            held[place] &= 1 << _READ_ANYTHING if place < 2 else 0
        libc.capset(header, held)


def leave() -> None:
    """Disable the audit hook, for the worker's own last steps."""
    _AuditHook.active = False


def without_home(text: str) -> str:
    """Remove the path of this process's folder, which has a random name, from a text."""
    for each in filter(None, (_AuditHook.home, _AuditHook.named)):
        text = text.replace(each + os.sep, "")
    return text


def end_all(pid: int) -> None:
    """Kill a fork and its whole session."""
    for end in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            end(pid, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of orphaned processes, also of those in another session.

    Also ask for SIGTERM when kdoctor itself dies.
    """
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc.prctl(_PARENT_DEATH, signal.SIGTERM)


def end_orphans(forks: Collection[int]) -> None:
    """Kill children of this process other than ``forks``, which their own parents left behind."""
    orphans = [each for each in _children() if each not in forks]
    while orphans:
        for each in orphans:
            with contextlib.suppress(OSError):
                os.kill(each, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.waitpid(each, 0)
        orphans = [each for each in _children() if each not in forks]


def _children() -> list[int]:
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - glob raises if a process ends
    except OSError:  # there is no /proc
        return []
    found = []
    for each in filter(str.isdigit, names):
        with contextlib.suppress(OSError, ValueError, IndexError):
            stat = Path(f"/proc/{each}/stat").read_text("ascii", "replace")
            if int(stat.rpartition(")")[2].split()[1]) == os.getpid():
                found.append(int(each))
    return found


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _AuditHook.active:
        return
    if event in _NEVER:
        raise Refused(f"kdoctor does not let it {_NEVER[event]} ({event})")
    if event == "open":
        path, mode, flags = arguments
        writes = bool((flags or 0) & _WRITES) or bool({*(mode or "")} & {*"wax+"})
        if writes and not _is_inside(path):
            raise Refused(f"kdoctor does not let it write outside its folder ({path})")
    elif event in _OF_PATHS:
        for path in arguments[:2]:
            if isinstance(path, (str, bytes, os.PathLike)) and not _is_inside(path):
                raise Refused(f"kdoctor does not let it change {os.fsdecode(path)} ({event})")


def _is_inside(path: Any) -> bool:
    if isinstance(path, int) or path == os.devnull:
        return True
    real = os.path.realpath(os.fsdecode(path))
    return real == _AuditHook.home or real.startswith(_AuditHook.home + os.sep)


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
