"""Convert the files of the matrix, and run both: ``python -m tools.model_conversions FOLDER``.

tf_keras (Keras 2) writes the models of ``tools.model_files`` with weights drawn anew, kdoctor
converts each file to `.keras` and to `.h5`, and Keras 3 has to return of each what Keras 2 returns
of the old one, to 1e-5, and to hold the same weights. What holds code is counted apart.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

QUIET = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "-1",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "TF_USE_LEGACY_KERAS": "0",
}
ENDINGS = (".keras", ".h5")
AIM = 0.97
_CODE = frozenset({"lambda", "own-class", "own-function"})
_NOT_COMPILED = "not compiled"  # what it was compiled with is not in Keras 3: the file says so
_PARTS = os.cpu_count() or 1
_RATE = 0.5  # half the width of what weights are drawn from


def main() -> None:
    """Write, convert and compare; or one of the steps, for a part of the files."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--step", choices=("write", "convert", "compare"))
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--one-in", type=int, default=1, help="write one in so many models")
    given = parser.parse_args()
    part, parts = map(int, given.part.split("/"))
    match given.step:
        case "write":
            write(given.folder, given.one_in, part, parts)
        case "convert":
            convert_all(given.folder)
        case "compare":
            compare_all(given.folder, part, parts)
        case _:
            _in_parts("write", given.folder, "--one-in", given.one_in)
            convert_all(given.folder)
            _in_parts("compare", given.folder)
            sys.exit(_table(given.folder))


def _in_parts(step: str, folder: Path, *arguments: object) -> None:
    command = [sys.executable, "-m", "tools.model_conversions", str(folder), "--step", step]
    running = [
        subprocess.Popen(
            [*command, "--part", f"{part}/{_PARTS}", *map(str, arguments)],
            env={**os.environ, **QUIET},
            stderr=subprocess.DEVNULL,
        )
        for part in range(_PARTS)
    ]
    for each in running:
        each.wait()


def write(folder: Path, one_in: int, part: int = 0, parts: int = 1) -> None:
    """Let tf_keras write the models, with drawn weights."""
    import tf_keras

    from tools.model_files import models

    for number, (name, make) in enumerate(models.models(tf_keras)):
        if zlib.crc32(name.encode()) % one_in or number % parts != part:
            continue
        save(name, make, folder)
        tf_keras.backend.clear_session()


def save(name: str, make: Callable[[], Any], folder: Path) -> None:
    """Save a model of Keras 2 in each format, with drawn weights; nothing where it cannot be."""
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    try:
        model = make()
        draw_weights(model, np.random.default_rng(zlib.crc32(name.encode())))
    except Exception:  # noqa: BLE001 - whatever a release cannot make
        return
    for ending in ENDINGS:
        path = folder / f"{name}{ending}"
        try:
            model.save(path)
        except Exception:  # noqa: BLE001 - or save
            path.unlink(missing_ok=True)


def draw_weights(model: Any, rng: Any) -> None:
    """Give a model weights that differ from those that it begins with."""
    for weight in model.weights:
        if weight.dtype.is_floating:
            made = rng.uniform(-_RATE, _RATE, weight.shape)
            weight.assign(abs(made) + _RATE if "variance" in weight.name else made)


def convert_all(folder: Path) -> None:
    """Convert each file to each format; what stands in the way is kept in ``converted.json``."""
    from kdoctor.errors import KdoctorError
    from kdoctor.keras_api import newest_target
    from kdoctor.models.convert import convert, write_code

    told = {}
    (folder / "code").mkdir(exist_ok=True)
    for path in files(folder):
        write_code(path, code_of(path), newest_target(), force=True)
        for ending in ENDINGS:
            to = converted(path, ending)
            to.parent.mkdir(exist_ok=True)
            to.unlink(missing_ok=True)
            try:
                made = convert(path, to, newest_target())
            except KdoctorError as error:
                told[to.name] = {"error": str(error)}
                continue
            told[to.name] = {
                "refusals": [f"{each.place}: {each.cause}" for each in made.refusals],
                "has_code": any(each.fault.value in _CODE for each in made.refusals),
            }
    (folder / "converted.json").write_text(json.dumps(told))


def compare_all(folder: Path, part: int = 0, parts: int = 1) -> None:
    """Run what tf_keras loads, before and after."""
    import keras
    import tf_keras

    found: dict[str, str] = {}
    for number, path in enumerate(files(folder)):
        if number % parts != part:
            continue
        try:
            old = tf_keras.models.load_model(path)
        except Exception as error:  # noqa: BLE001 - whatever Keras 2 says
            found[path.name] = f"{type(error).__name__}: {error}"
            continue
        try:
            given, before = run_old(old)
        except Exception as error:  # noqa: BLE001 - the matrix has models of the wrong rank
            found[path.name] = f"{type(error).__name__}: {error}"
            continue
        for ending in ENDINGS:
            to = converted(path, ending)
            if to.exists():
                found[to.name] = compared(old, given, before, to)
        to = converted(path, ".keras")
        if to.exists():
            found[code_of(path).name] = code_compared(path, given, before, to)
        tf_keras.backend.clear_session()
        keras.backend.clear_session()
    (folder / f"compared-{part}.json").write_text(json.dumps(found))


def run_old(model: Any) -> tuple[Any, list[Any]]:
    """Return drawn inputs of a model of Keras 2, and what it makes of them."""
    import numpy as np
    import tensorflow as tf

    rng = np.random.default_rng(0)
    if not getattr(model, "inputs", None):
        return None, []
    try:
        given = _inputs(model, rng, are_counts=False)
        return given, tf.nest.flatten(model(given, training=False))
    except tf.errors.InvalidArgumentError:  # a layer that counts, or looks up
        given = _inputs(model, rng, are_counts=True)
        return given, tf.nest.flatten(model(given, training=False))


def compared(old: Any, given: Any, before: list[Any], to: Path) -> str:
    """Return in what a converted model is unlike the old one, "" where in nothing."""
    import keras
    import numpy as np
    import tensorflow as tf

    try:
        new = keras.models.load_model(to)
        after = [] if given is None else tf.nest.flatten(new(given, training=False))
        if why := _unlike(before, after):
            return why
        weights = [sorted(float(np.sum(each)) for each in of.get_weights()) for of in (old, new)]
        if len(weights[0]) != len(weights[1]) or not np.allclose(*weights, rtol=1e-5):
            return "other weights"
        if bool(getattr(old, "optimizer", None)) and not new.compiled:
            return _NOT_COMPILED
    except Exception as error:  # noqa: BLE001 - whatever Keras 3 says
        return f"{type(error).__name__}: {error}"
    return ""


def _unlike(before: list[Any], after: list[Any]) -> str:
    import numpy as np

    if len(before) != len(after):
        return f"{len(before)} outputs before, {len(after)} after"
    for first, second in zip(map(np.asarray, before), map(np.asarray, after), strict=True):
        if first.shape != second.shape:
            return f"{first.shape} before, {second.shape} after"
        if first.dtype.kind in "OSU":
            if (first != second).any():
                return "other texts"
        elif not np.allclose(first, second, atol=1e-5, rtol=1e-5, equal_nan=True):
            return f"unlike by {abs(first - second).max():.2g}"
    return ""


def code_compared(path: Path, given: Any, before: list[Any], to: Path) -> str:
    """Return in what the model that the code makes is unlike, with the converted weights."""
    import tensorflow as tf

    try:
        made: dict[str, Any] = {}
        exec(compile(code_of(path).read_text(), path.name, "exec"), made)  # noqa: S102
        made["model"].load_weights(to)
        after = [] if given is None else tf.nest.flatten(made["model"](given, training=False))
    except Exception as error:  # noqa: BLE001 - whatever Keras 3 says
        return f"{type(error).__name__}: {error}"
    return _unlike(before, after)


def _inputs(model: Any, rng: Any, *, are_counts: bool) -> Any:
    made = [_drawn(each, rng, are_counts=are_counts) for each in model.inputs]
    return made if len(made) > 1 else made[0]


def _drawn(tensor: Any, rng: Any, *, are_counts: bool) -> Any:
    import tensorflow as tf

    shape = [2, *(5 if each is None else each for each in tensor.shape[1:])]
    if tensor.dtype == tf.string:
        return tf.constant(rng.choice(["a", "b", "c d"], size=shape))
    if tensor.dtype.is_integer or are_counts:
        return tf.constant(rng.integers(0, 3, size=shape), dtype=tensor.dtype)
    return tf.constant(rng.normal(size=shape), dtype=tensor.dtype)


def _table(folder: Path) -> int:
    told = json.loads((folder / "converted.json").read_text())
    found: dict[str, str] = {}
    for each in sorted(folder.glob("compared-*.json")):
        found |= json.loads(each.read_text())
    counts = Counter[str]()
    for path in files(folder):
        for ending in ENDINGS:
            name = converted(path, ending).name
            if path.name in found:
                counts["not run by Keras 2"] += 1
            elif told[name].get("has_code"):
                counts["holds code"] += 1
            elif why := told[name].get("error") or "; ".join(told[name]["refusals"]):
                counts["not converted"] += 1
                print(f"not converted: {name}: {why[:200]}")
            elif found.get(name) == _NOT_COMPILED:
                counts["equal, to be compiled anew"] += 1
            elif why := found.get(name, "not compared"):
                counts["unlike"] += 1
                print(f"unlike: {name}: {why[:300]}")
            else:
                counts["equal"] += 1
        why = found.get(code_of(path).name)
        counts["code that runs and is equal"] += why == ""
        if why:
            counts["code that is unlike"] += 1
            print(f"unlike: {code_of(path).name}: {why[:300]}")
    for text, count in sorted(counts.items()):
        print(f"{count:6} {text}")
    made = counts["equal"] + counts["equal, to be compiled anew"] + counts["unlike"]
    lost = counts["not converted"]
    share = made / max(1, made + lost)
    print(f"{share:.1%} of the files without code convert; {counts['unlike']} of them are unlike")
    return int(share < AIM or counts["unlike"] > 0)


def files(folder: Path) -> list[Path]:
    """Return the files that Keras 2 wrote."""
    return sorted(each for each in folder.iterdir() if each.suffix in ENDINGS)


def code_of(path: Path) -> Path:
    """Return where the code for a file lies."""
    return path.parent / "code" / f"{path.name.replace('.', '_').replace('-', '_')}.py"


def converted(path: Path, ending: str) -> Path:
    """Return where a file lies that was converted."""
    return path.parent / "converted" / f"{path.name}{ending}"


if __name__ == "__main__":
    main()
