"""Read zip archives within bounds. Nothing is unpacked to the disk, whatever its name is."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kdoctor.models.bounds import MAX_TEXT
from kdoctor.models.hdf5 import Member

_MAX_MEMBERS: Final = 10_000  # a model has a handful
_MAX_READ: Final = 64_000_000  # bytes at a time
_MAX_DIRECTORY: Final = 4_000_000  # bytes of the list of members
_END_SIZE: Final = 66_000  # bytes at the end of a zip that may hold its end record
_END_RECORD: Final = b"PK\x05\x06"
_HEADER: Final = 30  # bytes of a member's own header, before its name (APPNOTE.TXT, 4.3.7)
# Those whose decompressor takes a limit in zipfile: LZMA gives out all that a piece comes to.
_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_ENCRYPTED: Final = 1  # in the flags


class _Bounded(io.BufferedReader):
    """A file of which nobody reads more at a time than a model's archive needs."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            at = self.tell()
            size = self.seek(0, 2) - at
            self.seek(at)
        if size > _MAX_READ:
            raise zipfile.BadZipFile("it claims more than an archive of a model holds")
        return super().read(size)


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive.

    Raises:
        BadZipFile: it is none, is damaged, or claims to be larger than a model's.
    """
    if _directory_size(path) > _MAX_DIRECTORY:
        raise zipfile.BadZipFile("its list of members is too large for a model")
    with _Bounded(io.FileIO(path)) as file, zipfile.ZipFile(file) as archive:
        yield archive


def members_of(path: Path) -> list[str]:
    """Return the names of an archive's members.

    Raises:
        BadZipFile: see ``opened``.
    """
    with opened(path) as archive:
        return archive.namelist()


def is_too_large(names: Collection[str]) -> bool:
    """Say whether an archive has more members than a model's ever has."""
    return len(names) > _MAX_MEMBERS


def text_of(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a member that is a text.

    Raises:
        KeyError: there is none of this name.
        ValueError: it is larger than such a text is.
    """
    if archive.getinfo(name).compress_type not in _METHODS:
        raise ValueError(f"its {name} is compressed in a way that Keras does not write")
    with archive.open(name) as member:
        data = member.read(MAX_TEXT + 1)
    if len(data) > MAX_TEXT:
        raise ValueError(f"its {name} is larger than {MAX_TEXT // 1_000_000} MB")
    return data


def place_of(path: Path, archive: zipfile.ZipFile, name: str) -> Member | None:
    """Return where a member lies in the file, None where it is encrypted.

    Raises:
        KeyError: there is none of this name.
        ValueError: the archive is damaged there.
    """
    info = archive.getinfo(name)
    if info.flag_bits & _ENCRYPTED:
        return None
    with path.open("rb") as file:
        file.seek(info.header_offset)
        header = file.read(_HEADER)
    if len(header) < _HEADER:
        raise ValueError("the archive is cut short")
    name_size, extra_size = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
    start = info.header_offset + _HEADER + name_size + extra_size
    return Member(start, info.compress_size, info.file_size, info.compress_type)


def _directory_size(path: Path) -> int:
    """Return how long the list of members claims to be, before it is read."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _END_SIZE))
        end = file.read()
    _, found, record = end.rpartition(_END_RECORD)
    return int.from_bytes(record[8:12], "little") if found else 0
