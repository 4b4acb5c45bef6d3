"""What kind of file a saved model is, by its content and not by its name.

Only the start of a file is read, and of an archive the list of its members: a file of 10 GB costs
as little as a small one. A pickle is recognised and never opened, for opening one runs it.
"""

from __future__ import annotations

import enum
import zipfile
from pathlib import Path
from typing import Final

from kdoctor.errors import FileProblem

_START_SIZE: Final = 4096  # bytes of a file that say what it is
_HDF5: Final = b"\x89HDF\r\n\x1a\n"
_HDF5_OFFSETS: Final = (0, 512, 1024, 2048)  # behind a user block (HDF5's format, II.A)
_ZIP_STARTS: Final = (b"PK\x03\x04", b"PK\x05\x06")
_LFS: Final = b"version https://git-lfs.github.com/spec/"
_PAGES: Final = (b"<!doctype html", b"<html")
_TFLITE: Final = b"TFL3"  # FlatBuffers' file identifier, behind the first offset
_PICKLES: Final = frozenset(range(2, 6))  # protocols whose files start with their number
_MAX_MEMBERS: Final = 10_000  # of an archive; a model has a handful
_MAX_DIRECTORY: Final = 4_000_000  # bytes of an archive's list of members
_END_SIZE: Final = 66_000  # bytes at the end of a zip that may hold its end record
_END_RECORD: Final = b"PK\x05\x06"
_MARK: Final = "\N{ZERO WIDTH NO-BREAK SPACE}".encode()


class FileKind(enum.StrEnum):
    """What a file or folder is."""

    HDF5 = "HDF5"
    KERAS_ARCHIVE = ".keras archive"
    BROKEN_ARCHIVE = "zip archive that is damaged, or too large to be a model"
    OTHER_ARCHIVE = "zip archive without a Keras model"
    SAVED_MODEL = "TensorFlow SavedModel"
    KERAS_SAVED_MODEL = "TensorFlow SavedModel that Keras 2 wrote"
    KERAS_FOLDER = "folder of an unzipped .keras model"
    CHECKPOINT = "TensorFlow checkpoint"
    TFLITE = "TensorFlow Lite model"
    PICKLE = "pickle (not opened, for opening one runs code)"
    LFS_POINTER = "Git LFS pointer, not the file itself"
    HTML = "web page, not a model"
    JSON = "JSON"
    EMPTY = "empty file"
    UNKNOWN = "unknown file"


def kind_of(path: Path) -> FileKind:
    """Return what a file or folder is.

    Raises:
        FileProblem: it cannot be read, or is neither a file nor a folder.
    """
    try:
        if path.is_dir():
            return _of_folder(path)
        if not path.is_file():  # a pipe would never end
            raise FileProblem(f"{path}: no such file or folder")
        with path.open("rb") as file:
            start = file.read(_START_SIZE)
    except OSError as error:
        raise FileProblem(f"{path}: cannot be read: {error.strerror}") from error
    if start.startswith(_ZIP_STARTS):
        return _of_archive(path)
    return _of_start(start)


def _of_folder(folder: Path) -> FileKind:
    if (folder / "saved_model.pb").is_file():
        is_of_keras = (folder / "keras_metadata.pb").is_file()
        return FileKind.KERAS_SAVED_MODEL if is_of_keras else FileKind.SAVED_MODEL
    if (folder / "config.json").is_file() and (folder / "metadata.json").is_file():
        return FileKind.KERAS_FOLDER
    if (folder / "checkpoint").is_file():
        return FileKind.CHECKPOINT
    return FileKind.UNKNOWN


def _of_start(start: bytes) -> FileKind:
    if not start:
        return FileKind.EMPTY
    if any(start.startswith(_HDF5, offset) for offset in _HDF5_OFFSETS):
        return FileKind.HDF5
    if start[4:8] == _TFLITE:
        return FileKind.TFLITE
    if start.startswith(_LFS):
        return FileKind.LFS_POINTER
    text = start.removeprefix(_MARK).lstrip()
    if text[:64].lower().startswith(_PAGES):
        return FileKind.HTML
    if text.startswith((b"{", b"[")):
        return FileKind.JSON
    if start[:1] == b"\x80" and start[1:2] and start[1] in _PICKLES:
        return FileKind.PICKLE
    return FileKind.UNKNOWN


def _of_archive(path: Path) -> FileKind:
    """Return what a zip holds, by the names of its members: none is unpacked."""
    try:
        if _directory_size(path) > _MAX_DIRECTORY:
            return FileKind.BROKEN_ARCHIVE
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return FileKind.BROKEN_ARCHIVE
    if len(names) > _MAX_MEMBERS:
        return FileKind.BROKEN_ARCHIVE
    is_model = "config.json" in names and "metadata.json" in names
    return FileKind.KERAS_ARCHIVE if is_model else FileKind.OTHER_ARCHIVE


def _directory_size(path: Path) -> int:
    """Return how long the list of members claims to be, before it is read."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _END_SIZE))
        end = file.read()
    _, found, record = end.rpartition(_END_RECORD)
    return int.from_bytes(record[8:12], "little") if found else 0
