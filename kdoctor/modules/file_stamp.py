"""File stamps: a cheap signature and a content hash that tell whether a file changed.

Its key is the path; that of a folder ends with a separator. Of a whole project three questions
count, who takes a name out of a module of it, which files write a word, and how it imports Keras;
``modules.reverse_imports`` knows the states of those.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterable
from typing import Final, NamedTuple

from kdoctor.digests import blake2b
from kdoctor.documents.reading import open_regular

Signature = tuple[int, int, int, int]  # size, times of change of content and of inode, inode

# What changed just now may change again within one tick of the file system's clock, and look the
# same. FAT's tick is the longest: two seconds.
_SETTLES: Final = 2_000_000_000  # nanoseconds
# Windows does not always tell of a folder's new entries by the folder's own times.
_FOLDERS_TELL: Final = os.name == "posix"
_ASKS: Final = "\0"  # is in no path
_TELLING: Final = (".py", ".keras", ".h5")
_MARKS: Final = frozenset({"pyproject.toml", "setup.cfg", ".git", ".hg"})


class FileStamp(NamedTuple):
    """A file's state. ``signature`` is None where it cannot tell: missing or too new."""

    signature: Signature | None
    digest: bytes


GONE: Final = FileStamp(None, b"")
UNSTEADY: Final = FileStamp(None, b"?")  # it changed while it was looked at: like no other state


def file_state(path: str) -> tuple[FileStamp, bytes]:
    """Return a file's state and its bytes.

    The signature is taken first: what changes later has another one.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    with open_regular(path) as file:
        signature = _signature_if_old_enough(os.fstat(file.fileno()))
        data = file.read()
    return FileStamp(signature, digest(data)), data


def folder_state(path: str) -> tuple[FileStamp, frozenset[str]]:
    """Return a folder's state and its names, none if it cannot be read.

    Its state is that of the names which can say what an import means.
    """
    try:
        signature = _signature_if_old_enough(os.stat(path)) if _FOLDERS_TELL else None  # noqa: PTH116 - hot
        names = frozenset(os.listdir(path))  # noqa: PTH208
    except OSError:
        return GONE, frozenset()
    telling = sorted(name for name in names if _tells(name))
    return FileStamp(signature, digest(os.fsencode("\0".join(telling)))), names


def names_in(folder: str) -> frozenset[str]:
    """Return the names in a folder, none if it cannot be read."""
    try:
        return frozenset(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return frozenset()


def state_of(key: str) -> FileStamp:
    """Return the state of a file, or of a folder (its key ends with a separator)."""
    try:
        return folder_state(key)[0] if key.endswith(os.sep) else file_state(key)[0]
    except OSError:
        return GONE


def signature_of(key: str) -> Signature | None:
    """Return the current signature of a file or folder, however new it is."""
    try:
        return _signature(os.stat(key))  # noqa: PTH116 - hot
    except (OSError, ValueError):
        return None


def import_query_key(path: str, name: str) -> str:
    """Return the key of the query whether another file imports a name from a module.

    Without a name it is the question from which root the module's project imports Keras.
    """
    return f"{path}{_ASKS}{name}"


def parse_import_query(key: str) -> tuple[str, str] | None:
    """Return the module and name of such a key, None if the key is a path's."""
    path, asks, name = key.partition(_ASKS)
    return (path, name) if asks else None


def combined_signature(files: Iterable[str]) -> Signature | None:
    """Return one signature for many files."""
    found = []
    for path in files:
        try:
            signature = _signature_if_old_enough(os.stat(path))  # noqa: PTH116 - hot
        except OSError:
            signature = None
        if signature is None:
            return None
        found.append((path, signature))
    told = blake2b(repr(found).encode(errors="surrogatepass"), digest_size=32).digest()
    one, two, three, four = struct.unpack("4Q", told)
    return one, two, three, four


def digest(data: bytes) -> bytes:
    """Return a hash of the content."""
    return blake2b(data, digest_size=16).digest()


def _signature(found: os.stat_result) -> Signature:
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _signature_if_old_enough(found: os.stat_result) -> Signature | None:
    newest = max(found.st_mtime_ns, found.st_ctime_ns)
    return _signature(found) if newest < time.time_ns() - _SETTLES else None


def _tells(name: str) -> bool:
    """Say whether a name is that of a module, or may be that of a package or a project's mark.

    Or of a model: a fix gives no path the name of one that is there.
    """
    return name.endswith(_TELLING) or name in _MARKS or ("." not in name and name != "__pycache__")
