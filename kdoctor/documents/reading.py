"""Read a file that is a file: what blocks or never ends is not waited for."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import BinaryIO

_UNWRITTEN: dict[str, bytes] = {}  # by the absolute path; for all threads: deep code runs in others


@contextmanager
def as_if_written(texts: Mapping[str, bytes]) -> Iterator[None]:
    """Let ``read_regular`` read these texts, by absolute path, as if they were written."""
    _UNWRITTEN.update(texts)
    try:
        yield
    finally:
        _UNWRITTEN.clear()


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading.

    A pipe or a device may lie under a name that was a file's a moment ago, or under that of a
    module that another file imports; to open it must not wait for somebody who writes into it.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    # Without a buffer: it is read as a whole. The caller closes it.
    file = open(path, "rb", buffering=0, opener=_open)  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    return file


def read_regular(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a regular file.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    if _UNWRITTEN:
        unwritten = _UNWRITTEN.get(os.path.abspath(os.fspath(path)))  # noqa: PTH100 - links stay
        if unwritten is not None:
            return unwritten
    with open_regular(path) as file:
        return file.read()


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
