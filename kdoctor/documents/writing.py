"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from kdoctor.documents.interrupts import uninterrupted
from kdoctor.errors import FileProblem


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace an existing file's content; at every moment it holds the old or the new, whole.

    A link stays a link: the file that it points to is replaced. The mode is kept, and the owner
    where the system allows it. Other hard links to the file keep the old content.

    Raises:
        FileProblem: the file is gone, read-only or no regular file, or its folder or disk takes
            nothing. The file is then as it was, and nothing is left beside it.
    """
    target = Path(os.path.realpath(path))
    try:
        before = target.stat()
    except OSError as error:
        raise FileProblem(f"cannot be written: {error.strerror}") from error
    if not stat.S_ISREG(before.st_mode):
        raise FileProblem("cannot be written: not a regular file")
    # Root may write everything; a file without any write bit is meant to stay as it is.
    if not before.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise FileProblem("the file is read-only; make it writable first (chmod u+w)")
    try:
        with uninterrupted():
            _replace(target, data, before)
    except OSError as error:
        raise FileProblem(f"cannot be written: {error.strerror or error}") from error


def write_anew(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file that may not exist yet, whole or not at all; a pipe or device takes the bytes.

    Raises:
        FileProblem: it is read-only, or its folder or disk takes nothing.
    """
    target = Path(os.path.realpath(path))
    given = Path(path)
    try:
        if given.exists() and not given.is_file():  # /dev/stdout, whose link leads nowhere
            given.write_bytes(data)
        elif not target.exists():
            with uninterrupted():
                _replace(target, data, None)
        else:
            write_atomically(target, data)
    except OSError as error:
        raise FileProblem(f"cannot be written: {error.strerror or error}") from error


def _replace(target: Path, data: bytes, before: os.stat_result | None) -> None:
    # In the same folder: a rename is atomic only within one file system.
    temporary = target.parent / f".{target.name[:100]}.{secrets.token_hex(4)}.tmp"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        # Nobody else may read it before it has the mode of the file that it takes the place of.
        with os.fdopen(os.open(temporary, flags, 0o666 if before is None else 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if before is not None:
            _dress(temporary, target, before)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def _dress(temporary: Path, target: Path, before: os.stat_result) -> None:
    """Give a new file what the old one has besides its content, as far as the system allows it."""
    if hasattr(os, "chown"):  # before chmod: a change of owner clears set-user-id
        with contextlib.suppress(OSError):
            os.chown(temporary, before.st_uid, before.st_gid)
    if hasattr(os, "listxattr"):  # access lists, labels
        with contextlib.suppress(OSError):
            for name in os.listxattr(target):
                os.setxattr(temporary, name, os.getxattr(target, name))
    temporary.chmod(stat.S_IMODE(before.st_mode))


def _sync_folder(folder: Path) -> None:
    """Let the rename itself outlast a power cut, on systems that can open a folder."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
