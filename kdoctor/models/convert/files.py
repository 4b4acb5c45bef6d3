"""Write a converted model: beside its place first, and moved there when it is whole."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

from kdoctor import __version__
from kdoctor.errors import FileProblem, UsageProblem
from kdoctor.models.archives import opened, place_of
from kdoctor.models.contents import Contents
from kdoctor.models.convert.record import Change, Record
from kdoctor.models.convert.saved import Saved
from kdoctor.models.convert.weights import (
    Copy,
    LayerWeights,
    Rewritten,
    copies_to_archive,
    copies_to_hdf5,
)
from kdoctor.models.hdf5 import Writing, copied_by_hdf5
from kdoctor.models.kinds import FileKind
from kdoctor.models.obstacle import Fault

_WEIGHTS: Final = "model.weights.h5"
_ASSETS: Final = "assets/"
_DATE: Final = (1980, 1, 1, 0, 0, 0)  # the same input makes the same file
_PIECE: Final = 1 << 20  # bytes that are copied at a time
_DAMAGED: Final = (zipfile.BadZipFile, zlib.error, EOFError)
HDF5_ENDINGS: Final = (".h5", ".hdf5")
ARCHIVE_ENDING: Final = ".keras"


def check_output(source: Path, to: Path, *, force: bool) -> None:
    """Check that a file may be written.

    Raises:
        UsageProblem: it is the source, is there already, or has a name that Keras 3 does not know.
    """
    if not to.name.endswith((ARCHIVE_ENDING, *HDF5_ENDINGS)):
        known = f"{ARCHIVE_ENDING}, {HDF5_ENDINGS[0]} or {HDF5_ENDINGS[1]}"
        raise UsageProblem(f"--convert {to}: Keras 3 knows a file by its ending: call it {known}")
    _check_place("--convert", source, to, force=force)


def check_code_output(source: Path, to: Path, *, force: bool) -> None:
    """Check that code may be written.

    Raises:
        UsageProblem: it is the source, is there already, or has no name of Python's.
    """
    if to.suffix != ".py":
        raise UsageProblem(f"--code {to}: it is Python that is written: call it .py")
    _check_place("--code", source, to, force=force)


def _check_place(option: str, source: Path, to: Path, *, force: bool) -> None:
    if to.is_dir() or not to.parent.is_dir():
        raise UsageProblem(f"{option} {to}: there is no folder {to.parent} to write a file into")
    with contextlib.suppress(OSError):
        if to.exists() and to.samefile(source):
            raise UsageProblem(f"{option} {to}: that is the file to read: name another one")
    if not force and os.path.lexists(to):
        raise UsageProblem(f"{option} {to}: the file is there already: --force replaces it")


def write_text(to: Path, text: str) -> None:
    """Write a text, whole or not at all.

    Raises:
        FileProblem: it cannot be written.
    """
    try:
        with _beside(to) as folder:
            made = folder / to.name
            made.write_text(text, encoding="utf-8")
            made.replace(to)
    except OSError as error:
        raise _unwritten(to, error) from error


def _unwritten(to: Path, error: OSError) -> FileProblem:
    return FileProblem(f"{to}: cannot be written: {error.strerror or error}")


@contextlib.contextmanager
def _beside(to: Path) -> Iterator[Path]:
    """Make a folder in that of the output, which is gone afterwards whatever happens."""
    folder = tempfile.mkdtemp(prefix=f".{to.name[:40]}.", dir=to.parent)
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write(
    contents: Contents,
    to: Path,
    made: Rewritten,
    state: Sequence[Copy],
    record: Record,
) -> None:
    """Write a converted model, and the ``state`` of its optimizer.

    Raises:
        FileProblem: the source is damaged, or the output cannot be written.
    """
    try:
        with _beside(to) as folder:
            file = folder / to.name
            if to.name.endswith(ARCHIVE_ENDING):
                _archive(contents, file, made, state, record)
            else:
                _hdf5(contents, file, made, record)
            file.replace(to)
    except _DAMAGED as error:
        raise FileProblem(f"{contents.path}: the file is damaged: {error}") from error
    except OSError as error:
        raise _unwritten(to, error) from error


def check_assets(contents: Contents, to: Path, saved: Saved, record: Record) -> None:
    """Note assets, as vocabularies are, that the converted file could not hold."""
    if contents.kind is not FileKind.KERAS_ARCHIVE:
        return
    with opened(contents.path) as archive:
        for name in _asset_names(archive):
            if not to.name.endswith(ARCHIVE_ENDING):
                cause = f"an HDF5 file cannot hold `{name[:80]}`: convert to .keras"
                record.refuse("", cause, Fault.WEIGHTS)
            elif _asset_path(name, saved) is None:
                record.refuse("", f"`{name[:80]}` belongs to no layer", Fault.WEIGHTS)


def _archive(
    contents: Contents,
    to: Path,
    made: Rewritten,
    state: Sequence[Copy],
    record: Record,
) -> None:
    weights = to.with_name(_WEIGHTS)
    _copy(contents, weights, [*copies_to_archive(made.values), *state], {})
    whole = {**made.model, "build_config": {"input_shape": None}}
    if made.training is not None:
        whole["compile_config"] = made.training
    with zipfile.ZipFile(to, "w") as archive:
        _add(archive, "metadata.json", json.dumps(_metadata(contents, record)))
        _add(archive, "config.json", json.dumps(whole))
        with weights.open("rb") as file, archive.open(_info(_WEIGHTS), "w") as member:
            shutil.copyfileobj(file, member, _PIECE)
        if contents.kind is FileKind.KERAS_ARCHIVE:
            with opened(contents.path) as old:
                for name in _asset_names(old):
                    path = _asset_path(name, made.saved)
                    assert path is not None  # `check_assets`
                    with old.open(name) as file, archive.open(_info(path), "w") as member:
                        shutil.copyfileobj(file, member, _PIECE)


def _hdf5(contents: Contents, to: Path, made: Rewritten, record: Record) -> None:
    config, training = made.model, made.training
    layers = copies_to_hdf5(made.values, made.saved)
    about = _metadata(contents, record)
    texts = {
        "keras_version": record.target.keras_version,
        "backend": "tensorflow",
        "model_config": json.dumps(
            {"class_name": config["class_name"], "config": config["config"]}
        ),
        "kdoctor": json.dumps(about["kdoctor"]),
    }
    if training is not None:
        texts["training_config"] = json.dumps(_training_of_hdf5(training))
    groups: dict[str, Any] = {"": texts, "model_weights": _names_of(layers, record)}
    copies = []
    for layer in layers:
        path = f"model_weights/{layer.name}"
        groups[path] = {"weight_names": [each.target for each in layer.weights]}
        copies += [Copy(each.source, f"{path}/{each.target}", each.steps) for each in layer.weights]
    _copy(contents, to, copies, groups)


def _names_of(layers: Sequence[LayerWeights], record: Record) -> dict[str, Any]:
    return {
        "layer_names": [each.name for each in layers],
        "keras_version": record.target.keras_version,
        "backend": "tensorflow",
    }


def _training_of_hdf5(training: dict[str, Any]) -> dict[str, Any]:
    made = {
        key: training.get(key) for key in ("loss", "metrics", "weighted_metrics", "loss_weights")
    }
    return {**made, "optimizer_config": training["optimizer"]}


def _metadata(contents: Contents, record: Record) -> dict[str, Any]:
    made: dict[str, Any] = {"keras_version": record.target.keras_version}
    if contents.writer.saved:
        made["date_saved"] = contents.writer.saved
    made["kdoctor"] = {
        "version": __version__,
        "converted_from": {"file": contents.path.name, "keras_version": contents.writer.keras},
        "changes": [_told(each) for each in record.changes],
    }
    if record.needed:
        made["kdoctor"]["custom_objects"] = sorted({each.subject for each in record.needed})
    return made


def _told(change: Change) -> str:
    return f"{change.place}: {change.text}" if change.place else change.text


def _copy(contents: Contents, to: Path, copies: Sequence[Copy], groups: dict[str, Any]) -> None:
    """Copy arrays into a new HDF5 file.

    Raises:
        FileProblem: the source is damaged.
    """
    member = None
    if contents.kind is FileKind.KERAS_ARCHIVE and copies:
        with opened(contents.path) as archive:
            _check_sum(archive, _WEIGHTS)
            member = place_of(contents.path, archive, _WEIGHTS)
    arrays = tuple((each.source, each.target, each.steps) for each in copies)
    copied_by_hdf5(contents.path, member, Writing(to, groups, arrays))


def _check_sum(archive: zipfile.ZipFile, name: str) -> None:
    """Read a member to its end, which checks its sum: what copies it by its place does not.

    Raises:
        BadZipFile: it is damaged.
    """
    with archive.open(name) as member:
        while member.read(_PIECE):
            pass


def _asset_names(archive: zipfile.ZipFile) -> list[str]:
    return [
        each.filename
        for each in archive.infolist()
        if each.filename.replace("\\", "/").startswith(_ASSETS) and not each.is_dir()
    ]


def _asset_path(name: str, saved: Saved) -> str | None:
    """Return where an asset lies in the new archive: below the object that it belongs to."""
    path = PurePosixPath(name.replace("\\", "/").removeprefix(_ASSETS))
    if ".." in path.parts or path.is_absolute():
        return None
    for folder in path.parents:
        for each in saved.everything():
            if each.old and each.old == str(folder):
                return f"{_ASSETS}{each.new}/{path.relative_to(folder)}"
    return None


def _add(archive: zipfile.ZipFile, name: str, text: str) -> None:
    archive.writestr(_info(name), text.encode())


def _info(name: str) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name, _DATE)
    made.external_attr = 0o644 << 16
    return made
