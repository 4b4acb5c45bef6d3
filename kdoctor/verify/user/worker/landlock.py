"""Landlock: the kernel restricts the files that this process can open, whatever code it runs.

https://docs.kernel.org/userspace-api/landlock.html. It uses ctypes, as it runs on the Python of the
user's project, without our dependencies. The three calls have had these numbers on every machine
since Linux 5.13. ``seccomp`` covers what Landlock does not (metadata, all sockets, processes).
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Iterable
from typing import Any

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _BENEATH = 1, 1  # a flag of the first call, a kind of rule of the second
_NO_NEW_PRIVILEGES = 38  # an option of prctl

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_CHAR, _MAKE_DIR = 1 << 4, 1 << 5, 1 << 6, 1 << 7
_MAKE_REG, _MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK = 1 << 8, 1 << 9, 1 << 10, 1 << 11
_MAKE_SYM, _REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 12, 1 << 13, 1 << 14, 1 << 15

_FIRST = (
    *(_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE, _MAKE_CHAR),
    *(_MAKE_DIR, _MAKE_REG, _MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM),
)
_LATER = {2: _REFER, 3: _TRUNCATE, 5: _IOCTL_DEVICE}  # the Landlock version that added each right
_READ = _READ_FILE | _READ_DIR
# No devices, sockets or pipes: a device node that root creates gives access to the device.
_WRITE = _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM
_WRITE |= _REFER | _TRUNCATE
_OF_A_FILE = (
    _WRITE_FILE | _READ_FILE | _TRUNCATE
)  # the rights that a rule for a single file may grant
_TCP, _ABSTRACT_SOCKETS_AND_SIGNALS = 3, 3


class _Ruleset(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("files", "network", "scoped")]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def restrict(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Restrict this process for good to reading and writing at or below these paths.

    Paths that do not exist are ignored.

    Raises:
        OSError: this kernel has no Landlock, or it is disabled.
    """
    if not sys.platform.startswith("linux"):
        raise OSError(f"{sys.platform} has no Landlock")
    libc = ctypes.CDLL(None, use_errno=True)
    version = _checked(libc, _CREATE_RULESET, None, 0, _VERSION)
    handled = sum(_FIRST) + sum(right for since, right in _LATER.items() if version >= since)
    rules = _Ruleset(
        handled,
        _TCP if version >= 4 else 0,
        _ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0,
    )
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = _checked(libc, _CREATE_RULESET, ctypes.byref(rules), size, 0)
    try:
        for paths, allowed in ((readable, _READ), (writable, _READ | _WRITE)):
            for path in paths:
                _allow(libc, ruleset, path, allowed & handled)
        if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "no_new_privs")
        _checked(libc, _RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(libc: Any, ruleset: int, path: str, allowed: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # it does not exist, or this process cannot open it anyway
    try:
        if not stat.S_ISDIR(os.fstat(parent).st_mode):
            allowed &= _OF_A_FILE
        beneath = _Beneath(allowed, parent)
        _checked(libc, _ADD_RULE, ruleset, _BENEATH, ctypes.byref(beneath), 0)
    finally:
        os.close(parent)


def _checked(libc: Any, number: int, *arguments: Any) -> int:
    result = int(libc.syscall(number, *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock: {os.strerror(code)}")
    return result
