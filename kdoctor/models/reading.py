"""Read the configuration of a saved model. Nothing of the file is run; no Keras is imported."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from kdoctor.errors import FileProblem
from kdoctor.models.kinds import FileKind, kind_of

_MAX_CONFIG: Final = 100_000_000  # bytes of a configuration


class Configurations(Struct, frozen=True):
    """What a file says of its model, and of what it was compiled with."""

    kind: FileKind
    model: dict[str, Any] | None
    training: dict[str, Any] | None


def read_configurations(path: Path) -> Configurations:
    """Return what the file says of its model.

    Raises:
        FileProblem: the file cannot be read, is damaged, or h5py is not installed.
    """
    kind = kind_of(path)
    try:
        match kind:
            case FileKind.HDF5:
                return _of_hdf5(path)
            case FileKind.KERAS_ARCHIVE:
                return Configurations(kind, _of_archive(path), None)
            case _:
                return Configurations(kind, None, None)
    except RecursionError as error:
        raise FileProblem(f"{path}: its configuration is nested too deeply") from error
    except (OSError, ValueError, KeyError, RuntimeError, zipfile.BadZipFile) as error:
        raise FileProblem(f"{path}: the file is damaged: {error}") from error


def _of_archive(path: Path) -> dict[str, Any] | None:
    with zipfile.ZipFile(path) as archive, archive.open("config.json") as member:
        return _parsed(member.read(_MAX_CONFIG + 1))


def _of_hdf5(path: Path) -> Configurations:
    try:
        import h5py  # noqa: PLC0415 - an extra, and no other command needs it
    except ImportError as error:
        needed = 'reading HDF5 needs h5py: pip install "keras-doctor[models]"'
        raise FileProblem(f"{path}: {needed}") from error
    with h5py.File(path, "r") as file:
        found = [file.attrs.get(name) for name in ("model_config", "training_config")]
    model, training = (None if each is None else _parsed(each) for each in found)
    return Configurations(FileKind.HDF5, model, training)


def _parsed(text: str | bytes) -> dict[str, Any] | None:
    if len(text) > _MAX_CONFIG:
        raise ValueError("its configuration is larger than 100 MB")
    made = json.loads(text)
    return made if isinstance(made, dict) else None
