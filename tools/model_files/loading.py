"""Load the files of the matrix with a Keras 3, and record what it said.

    python loading.py FOLDER PART PARTS [MOST]

The files are taken in an order that has nothing to do with what is in them, ``MOST`` of each
writer.

A file of weights is loaded into the model that Keras 3 makes by the same code, by order and, of
Keras 2, by name; a value of the file that the model does not hold afterwards is an error, too.

Each line of ``FOLDER/loaded-PART.jsonl`` is a file, what ``load_model`` said, and with which
arguments it loaded after all.
"""

import gc
import json
import sys
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
from tools.model_files.models import models

WEIGHTS = ("only.h5", "weights.h5")
_OF_TRAINING = ("optimizer", "metrics", "compiled", "_compile")  # it is begun anew
_TOGETHER = 50  # models
BOTH = {"compile": False, "safe_mode": False}


def main(folder: Path, part: int, parts: int, most: int | None = None) -> None:
    """Load each file of one part."""
    warnings.simplefilter("ignore")
    import keras  # noqa: PLC0415 - it is slow, and warns

    makers = dict(models(keras))
    gc.freeze()
    folders = sorted(each for each in folder.iterdir() if each.is_dir())
    files = [each for writer in folders for each in _mixed(writer)[:most]]
    with (folder / f"loaded-{part}.jsonl").open("w") as out:
        for number, path in enumerate(files[part::parts]):
            if not number % _TOGETHER:  # it collects garbage, which takes longer than a model
                keras.backend.clear_session()
            for told in _loaded(keras, path, makers):
                line = {"file": str(path.relative_to(folder)), "keras": keras.__version__, **told}
                out.write(json.dumps(line) + "\n")
                out.flush()


def _loaded(keras: Any, path: Path, makers: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what came of each way to load a file."""
    ending = next((each for each in WEIGHTS if path.name.endswith(f".{each}")), "")
    if not ending:
        error = _error(keras, path)
        yield {"error": error, "cured": _cure(keras, path) if error else None}
        return
    make = makers.get(path.name.removesuffix(f".{ending}"))
    for how in ({}, {"by_name": True}):
        if how and not (ending == WEIGHTS[0] and _is_legacy(path)):
            return
        keras.backend.clear_session()  # or a layer gets another name than it had
        try:
            model = make and make()
        except Exception:  # noqa: BLE001 - Keras 3 has no such model
            return
        if model is not None:
            if how:
                name_alike(model, path)
            yield {"error": weights_error(model, path, how), "cured": None, **how}


def _is_legacy(path: Path) -> bool:
    with h5py.File(path) as file:
        return "layer_names" in file.attrs or "layer_names0" in file.attrs


def name_alike(model: Any, path: Path) -> None:
    """Give the layers the names of the file: it was not the first model of its session."""
    with h5py.File(path) as file:
        names = [
            each for each in _layer_names(file) if len(file[each].attrs.get("weight_names", ()))
        ]
    layers = [each for each in model.layers if each.weights]
    for layer, name in zip(layers, names, strict=False):
        layer.name = name


def _layer_names(file: Any) -> list[str]:
    return [
        each.decode() if isinstance(each, bytes) else each for each in file.attrs["layer_names"]
    ]


def weights_error(model: Any, path: Path, how: dict[str, bool]) -> str:
    """Return what `load_weights` says, or which values are not there afterwards; "" for nothing."""
    try:
        model.load_weights(path, **how)
    except Exception as error:  # noqa: BLE001 - whatever Keras says
        return f"{type(error).__name__}: {str(error)[:4000]}"
    held = Counter(_known(each.numpy()) for each in model.variables)
    lost = []
    for name, value in _arrays(path):
        if held[value]:
            held[value] -= 1
        else:
            lost.append(name)
    return f"Lost without a word: {', '.join(lost)}" if lost else ""


def _arrays(path: Path) -> list[tuple[str, Any]]:
    found = []

    def meet(name: str, each: Any) -> None:
        is_of_training = name.startswith(_OF_TRAINING)
        if isinstance(each, h5py.Dataset) and each.dtype.kind == "f" and not is_of_training:
            found.append((name, _known(each[()])))

    with h5py.File(path) as file:
        file.visititems(meet)
    return found


def _known(value: Any) -> tuple[Any, ...]:
    return value.shape, np.asarray(value, "float32").tobytes()


def _mixed(folder: Path) -> list[Path]:
    files = [each for each in folder.glob("*") if each.suffix in {".h5", ".keras"}]
    return sorted(files, key=lambda path: zlib.crc32(path.name.encode()))


def _cure(keras: object, path: Path) -> dict[str, bool] | None:
    """Return the fewest arguments with which a file loads; None where it does not."""
    if _error(keras, path, **BOTH):
        return None
    for attempt in ({"compile": False}, {"safe_mode": False}):
        if not _error(keras, path, **attempt):
            return attempt
    return BOTH


def _error(keras: object, path: Path, **given: bool) -> str:
    try:
        keras.models.load_model(path, **given)  # type: ignore[attr-defined]
    except Exception as error:  # noqa: BLE001 - whatever Keras says
        return f"{type(error).__name__}: {str(error)[:4000]}"
    return ""


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
