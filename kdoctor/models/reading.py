"""Read what a saved model says of itself. Nothing of the file is run; no Keras is imported."""

from __future__ import annotations

import json
import lzma
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from kdoctor.errors import FileProblem
from kdoctor.models.archives import members_of, opened, place_of, text_of
from kdoctor.models.bounds import MAX_TEXT, check_depth, parsed
from kdoctor.models.contents import Contents, Weight, WeightGroup, Writer
from kdoctor.models.hdf5 import told_by_hdf5
from kdoctor.models.kinds import FileKind, kind_of
from kdoctor.models.protobuf_kinds import ONNX
from kdoctor.models.saved_models import of_graph, of_saved_model
from kdoctor.models.wire import Message

_WEIGHTS: Final = "model.weights.h5"
_DAMAGED: Final = (
    ValueError,
    TypeError,
    KeyError,
    RuntimeError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)
_MAX_YAML: Final = 3_000_000  # bytes: its parser takes a second for each million


def read_contents(path: Path, kind: FileKind | None = None) -> Contents:
    """Return all that is read of a saved model, of a ``kind`` if that is known.

    Raises:
        FileProblem: the file cannot be read, is damaged, or h5py is not installed.
    """
    try:
        return _read(path, kind or kind_of(path))
    except RecursionError as error:
        raise FileProblem(f"{path}: its configuration is nested too deeply") from error
    except (OSError, *_DAMAGED) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise FileProblem(f"{path}: the file is damaged: {said}") from error


def _read(path: Path, kind: FileKind) -> Contents:
    match kind:
        case FileKind.HDF5:
            return _of_hdf5(path)
        case FileKind.KERAS_ARCHIVE:
            return _of_archive(path)
        case FileKind.KERAS_FOLDER:
            return _of_keras_folder(path)
        case FileKind.BROKEN_ARCHIVE:
            with opened(path):
                raise ValueError("it has too many members for a model")
        case FileKind.SAVED_MODEL | FileKind.KERAS_SAVED_MODEL:
            return of_saved_model(path, kind)
        case FileKind.CONFIG | FileKind.TFJS:
            return _of_json(path, kind)
        case FileKind.YAML_CONFIG:
            return _of_yaml(path)
        case FileKind.ONNX:
            return _of_onnx(path)
        case FileKind.FROZEN_GRAPH:
            return of_graph(path)
        case FileKind.OTHER_ARCHIVE:
            return Contents(path, kind, members=tuple(members_of(path)))
        case FileKind.SAVED_MODEL_FILE if (path.parent / "variables").is_dir():
            return read_contents(path.parent)
        case _:
            return Contents(path, kind)


def _of_hdf5(path: Path) -> Contents:
    told = told_by_hdf5(path)
    configs = {name: parsed(text) for name, text in told["configs"].items()}
    model = configs.get("model_config")
    if model is not None or told["has_model_weights"]:
        kind = FileKind.HDF5
    elif told["is_legacy"]:
        kind = FileKind.HDF5_WEIGHTS
    else:
        kind = FileKind.KERAS_WEIGHTS if told["groups"] else FileKind.OTHER_HDF5
    return Contents(
        path,
        kind,
        Writer(keras=told["keras_version"], backend=told["backend"]),
        model=model,
        training=configs.get("training_config"),
        weights=_groups(told["groups"]),
        optimizer_weights=None if told["optimizer"] is None else _weights(told["optimizer"]),
        notes=tuple(told["notes"]),
        pieces=tuple(told["pieces"]),
        top_weights=_weights(told["top"]),
    )


def _of_archive(path: Path) -> Contents:
    with opened(path) as archive:
        config, metadata = (text_of(archive, name) for name in ("config.json", "metadata.json"))
        made = _of_keras_3(path, FileKind.KERAS_ARCHIVE, config, metadata)
        if _WEIGHTS not in archive.namelist():
            return made
        member = place_of(path, archive, _WEIGHTS)
    if member is None:
        return _without_weights(made, "they are encrypted")
    try:
        return _with_weights(made, told_by_hdf5(path, member))
    except FileProblem as problem:
        return _without_weights(made, str(problem).removeprefix(f"{path}: "))


def _of_keras_folder(folder: Path) -> Contents:
    texts = [_text(folder / name) for name in ("config.json", "metadata.json")]
    made = _of_keras_3(folder, FileKind.KERAS_FOLDER, *texts)
    if not (folder / _WEIGHTS).is_file():
        return made
    try:
        return _with_weights(made, told_by_hdf5(folder / _WEIGHTS))
    except FileProblem as problem:
        return _without_weights(made, str(problem))


def _of_keras_3(path: Path, kind: FileKind, config: bytes, metadata: bytes) -> Contents:
    told = parsed(metadata) or {}
    model = parsed(config)
    training = (model or {}).get("compile_config")
    return Contents(
        path,
        kind,
        Writer(keras=_said(told, "keras_version"), saved=_said(told, "date_saved")),
        model=model,
        training=training if isinstance(training, dict) else None,
    )


def _with_weights(made: Contents, told: Mapping[str, Any]) -> Contents:
    from msgspec.structs import replace  # noqa: PLC0415

    groups = _groups(told["groups"])
    return replace(made, weights=groups, notes=(*made.notes, *told["notes"]))


def _without_weights(made: Contents, why: str) -> Contents:
    from msgspec.structs import replace  # noqa: PLC0415

    return replace(made, notes=(*made.notes, f"its weights were not looked at: {why}"))


def _groups(told: list[Any]) -> tuple[WeightGroup, ...]:
    return tuple(WeightGroup(name, path, _weights(arrays)) for name, path, arrays in told)


def _weights(told: list[Any]) -> tuple[Weight, ...]:
    return tuple(Weight(name, tuple(shape), dtype) for name, shape, dtype in told)


def _of_json(path: Path, kind: FileKind) -> Contents:
    made = parsed(_text(path).removeprefix(b"\xef\xbb\xbf")) or {}
    if kind is FileKind.TFJS:
        topology = made.get("modelTopology")
        inner = topology if isinstance(topology, dict) else {}
        writer = Writer(keras=_said(inner, "keras_version"), tool=_said(made, "generatedBy"))
        return Contents(path, kind, writer, model=_model(inner.get("model_config")))
    model = _model(made)
    if model is None:
        return Contents(path, FileKind.JSON)
    writer = Writer(keras=_said(made, "keras_version"), backend=_said(made, "backend"))
    return Contents(path, kind, writer, model=model)


def _of_yaml(path: Path) -> Contents:
    import yaml  # noqa: PLC0415 - few files are YAML

    text = _text(path)
    if len(text) > _MAX_YAML:
        raise ValueError(f"its configuration is larger than {_MAX_YAML // 1_000_000} MB")
    try:
        # Old releases wrote tuples with a tag of Python's; nothing is made of it but a list.
        made = yaml.load(text, _yaml_loader())  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    check_depth(made)
    model = _model(made)
    told = made if isinstance(made, dict) else {}
    if model is None:
        return Contents(path, FileKind.UNKNOWN)
    writer = Writer(keras=_said(told, "keras_version"), backend=_said(told, "backend"))
    return Contents(
        path, FileKind.YAML_CONFIG, writer, model=parsed(json.dumps(model, default=str))
    )


def _yaml_loader() -> Any:
    import yaml  # noqa: PLC0415

    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader: Any = type("KerasLoader", (base,), {})
    loader.add_constructor(
        "tag:yaml.org,2002:python/tuple",
        lambda self, node: self.construct_sequence(node, deep=True),
    )
    return loader


def _of_onnx(path: Path) -> Contents:
    with path.open("rb") as file:
        whole = Message.of(file)
        names = (whole.text(ONNX["producer_name"]), whole.text(ONNX["producer_version"]))
    return Contents(path, FileKind.ONNX, Writer(tool=" ".join(filter(None, names))))


def _text(path: Path) -> bytes:
    """Return a file that is a text.

    Raises:
        ValueError: it is larger than such a text is.
    """
    with path.open("rb") as file:
        data = file.read(MAX_TEXT + 1)
    if len(data) > MAX_TEXT:
        raise ValueError(f"its configuration is larger than {MAX_TEXT // 1_000_000} MB")
    return data


def _model(made: object) -> dict[str, Any] | None:
    """Return a value if it is the configuration of a model."""
    if not isinstance(made, dict) or not isinstance(made.get("class_name"), str):
        return None
    return made if isinstance(made.get("config"), dict | list) else None


def _said(told: Mapping[str, Any], name: str) -> str:
    value = told.get(name)
    return value if isinstance(value, str) else ""
