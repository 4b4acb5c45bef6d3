"""What kind of file a saved model is, by its content and not by its name.

Only the start of a file is read, of an archive the list of its members, and of protobuf the numbers
of its fields: a file of 10 GB costs as little as a small one. A pickle is recognised and never
opened, for opening one runs it.
"""

from __future__ import annotations

import enum
import re
import zipfile
from pathlib import Path
from typing import Final

from kdoctor.errors import FileProblem
from kdoctor.models.archives import is_too_large, members_of
from kdoctor.models.protobuf_kinds import ProtobufKind, kind_of_protobuf

_START_SIZE: Final = 4096  # bytes of a file that say what it is
_HDF5: Final = b"\x89HDF\r\n\x1a\n"
_HDF5_OFFSETS: Final = (0, 512, 1024, 2048)  # behind a user block (HDF5's format, II.A)
_ZIP_STARTS: Final = (b"PK\x03\x04", b"PK\x05\x06")
_LFS: Final = b"version https://git-lfs.github.com/spec/"
_PAGES: Final = (b"<!doctype html", b"<html")
_TFLITE: Final = b"TFL3"  # FlatBuffers' file identifier, behind the first offset
_PICKLES: Final = frozenset(range(2, 6))  # protocols whose files start with their number
_PICKLE_NAMES: Final = (
    ".pkl",
    ".pickle",
    ".joblib",
    ".sav",
    ".p",
    ".pkl.gz",
    ".pkl.z",
    ".joblib.z",
)
# Of gzip, bzip2, xz, zlib and LZ4, in which joblib and others put a pickle.
_COMPRESSED: Final = (
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ\0",
    b"x\x01",
    b"x\x9c",
    b"x\xda",
    b"\x04\x22M\x18",
)
_MARK: Final = "\N{ZERO WIDTH NO-BREAK SPACE}".encode()
_YAML: Final = re.compile(rb"^(?:backend|class_name|config|keras_version|module):", re.MULTILINE)
_TABLE_END: Final = (0xDB4775248B80FB57).to_bytes(8, "little")  # of LevelDB's tables
_PIECE: Final = re.compile(r"(?P<prefix>.+)\.data-\d{5}-of-\d{5}")
_INDEX: Final = ".index"
_GRAPH_OF_CHECKPOINT: Final = ".meta"


class FileKind(enum.StrEnum):
    """What a file or folder is."""

    HDF5 = "Keras model in HDF5"
    HDF5_WEIGHTS = "weights in HDF5, as Keras 2 saves them"
    KERAS_WEIGHTS = "weights in HDF5, as Keras 3 saves them"
    OTHER_HDF5 = "HDF5 file without a Keras model"
    KERAS_ARCHIVE = ".keras archive"
    KERAS_FOLDER = "folder of an unzipped .keras archive"
    BROKEN_ARCHIVE = "zip archive that is damaged, or too large to be a model"
    OTHER_ARCHIVE = "zip archive without a Keras model"
    PYTORCH = "PyTorch file (not opened, for there is a pickle in it)"
    SAVED_MODEL = "TensorFlow SavedModel"
    KERAS_SAVED_MODEL = "TensorFlow SavedModel that Keras 2 wrote"
    SAVED_MODEL_FILE = "saved_model.pb alone, without the folder of its SavedModel"
    CHECKPOINT = "TensorFlow checkpoint"
    CHECKPOINT_PART = "part of a TensorFlow checkpoint"
    FROZEN_GRAPH = "TensorFlow graph (frozen .pb)"
    TFLITE = "TensorFlow Lite model"
    TFJS = "TensorFlow.js model"
    ONNX = "ONNX model"
    CONFIG = "configuration of a Keras model, without weights"
    YAML_CONFIG = "configuration of a Keras model in YAML, without weights"
    PICKLE = "pickle (not opened, for opening one runs code)"
    LFS_POINTER = "Git LFS pointer, not the file itself"
    HTML = "web page, not a model"
    JSON = "JSON"
    EMPTY = "empty file"
    UNKNOWN = "unknown file"


_OF_PROTOBUF: Final = {
    ProtobufKind.SAVED_MODEL: FileKind.SAVED_MODEL_FILE,
    ProtobufKind.GRAPH: FileKind.FROZEN_GRAPH,
    ProtobufKind.ONNX: FileKind.ONNX,
}


def kind_of(path: Path) -> FileKind:
    """Return what a file or folder is, or a checkpoint, by the start of its files' names.

    What is in an HDF5 file is not looked at: each is taken for a model.

    Raises:
        FileProblem: it cannot be read, or is neither a file nor a folder.
    """
    try:
        if path.is_dir():
            return _of_folder(path)
        if not path.is_file():  # a pipe would never end
            if index_of(path) is not None:
                return FileKind.CHECKPOINT
            raise FileProblem(f"{path}: no such file or folder")
        with path.open("rb") as file:
            start = file.read(_START_SIZE)
            file.seek(max(0, file.seek(0, 2) - len(_TABLE_END)))
            end = file.read()
        if start.startswith(_ZIP_STARTS):
            return _of_archive(path)
        return _of_content(path, start, end)
    except OSError as error:
        raise FileProblem(f"{path}: cannot be read: {error.strerror or error}") from error


def index_of(path: Path) -> Path | None:
    """Return the index of the checkpoint that a path stands for, None where there is none.

    A checkpoint is named by the start of its files' names, by one of its files, or by its folder.
    """
    name = path.name
    if path.is_dir():
        return next(iter(sorted(each for each in path.glob(f"*{_INDEX}") if each.is_file())), None)
    piece = _PIECE.fullmatch(name)
    prefix = piece["prefix"] if piece else name.removesuffix(_INDEX)
    found = path.with_name(f"{prefix}{_INDEX}") if prefix else path
    return found if found.is_file() else None


def _of_folder(folder: Path) -> FileKind:
    if (folder / "saved_model.pb").is_file():
        is_of_keras = (folder / "keras_metadata.pb").is_file()
        return FileKind.KERAS_SAVED_MODEL if is_of_keras else FileKind.SAVED_MODEL
    if (folder / "config.json").is_file() and (folder / "metadata.json").is_file():
        return FileKind.KERAS_FOLDER
    if (folder / "checkpoint").is_file():
        return FileKind.CHECKPOINT
    return FileKind.UNKNOWN


def _of_content(path: Path, start: bytes, end: bytes) -> FileKind:
    if not start:
        return FileKind.EMPTY
    if any(start.startswith(_HDF5, offset) for offset in _HDF5_OFFSETS):
        return FileKind.HDF5
    if start[4:8] == _TFLITE:
        return FileKind.TFLITE
    if start.startswith(_LFS):
        return FileKind.LFS_POINTER
    if end == _TABLE_END:
        return FileKind.CHECKPOINT
    text = start.removeprefix(_MARK).lstrip()
    if text[:64].lower().startswith(_PAGES):
        return FileKind.HTML
    if text.startswith((b"{", b"[")):
        return _of_json(text)
    if len({each.group() for each in _YAML.finditer(text)} & {b"class_name:", b"config:"}) == 2:
        return FileKind.YAML_CONFIG
    if _PIECE.fullmatch(path.name):
        return FileKind.CHECKPOINT if index_of(path) else FileKind.CHECKPOINT_PART
    if _is_pickle(path, start):
        return FileKind.PICKLE
    with path.open("rb") as file:
        found = kind_of_protobuf(file)
    return FileKind.UNKNOWN if found is None else _OF_PROTOBUF[found]


def _of_json(text: bytes) -> FileKind:
    if b'"modelTopology"' in text or re.match(rb'\{\s*"format":\s*"(?:layers|graph)-model"', text):
        return FileKind.TFJS
    keys = (b'"class_name"', b'"config"')
    return (
        FileKind.CONFIG
        if text[:1] == b"{" and all(each in text for each in keys)
        else FileKind.JSON
    )


def _is_pickle(path: Path, start: bytes) -> bool:
    if start[:1] == b"\x80" and start[1:2] and start[1] in _PICKLES:
        return True
    named = path.name.lower().endswith(_PICKLE_NAMES)
    return named and (start.startswith(_COMPRESSED) or start[:1] in b"(c]}" or b"cos\n" in start)


def _of_archive(path: Path) -> FileKind:
    """Return what a zip holds, by the names of its members: none is unpacked."""
    try:
        names = members_of(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return FileKind.BROKEN_ARCHIVE
    if is_too_large(names):
        return FileKind.BROKEN_ARCHIVE
    if "config.json" in names and "metadata.json" in names:
        return FileKind.KERAS_ARCHIVE
    if any(each.endswith("/data.pkl") for each in names):
        return FileKind.PYTORCH
    return FileKind.OTHER_ARCHIVE
