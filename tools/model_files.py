"""Hold the verdict of ``kdoctor.models`` against Keras: ``python -m tools.model_files all F``.

Keras 2 (tf_keras) and Keras 3 each write a model of every built-in layer, alone, in a wrapper and
in an inner model, of every optimizer, loss and metric, in every format that they have. Keras 3 then
loads each file, and kdoctor says of each whether it will. Where the two differ, the file is named.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kdoctor.keras_api import resolve_target
from kdoctor.models.obstacles import obstacles
from kdoctor.models.reading import read_configurations

_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "TF_ENABLE_ONEDNN_OPTS": "0"}
# What a layer is made with where its parameters without default are not enough to go by.
_ARGUMENTS: dict[str, dict[str, Any]] = {
    "Permute": {"dims": (1,)},
    "Reshape": {"target_shape": (-1,)},
    "RepeatVector": {"n": 3},
    "Embedding": {"input_dim": 9, "output_dim": 4},
    "CategoryEncoding": {"num_tokens": 9},
    "Discretization": {"bin_boundaries": [0.0, 1.0]},
    "Hashing": {"num_bins": 5},
    "Normalization": {"mean": 0.0, "variance": 1.0},
    "Rescaling": {"scale": 2.0, "offset": 1.0},
    "Resizing": {"height": 4, "width": 4},
    "CenterCrop": {"height": 4, "width": 4},
    "RandomCrop": {"height": 4, "width": 4},
    "MultiHeadAttention": {"num_heads": 2, "key_dim": 3},
    "GroupQueryAttention": {"head_dim": 4, "num_query_heads": 2, "num_key_value_heads": 1},
    "EinsumDense": {"equation": "ab,bc->ac", "output_shape": 4},
    "IntegerLookup": {"vocabulary": [1, 2]},
    "StringLookup": {"vocabulary": ["a", "b"]},
    "HashedCrossing": {"num_bins": 5},
    "GroupNormalization": {"groups": 2},
}
_NUMBERS = {
    "units": 4,
    "filters": 4,
    "kernel_size": 2,
    "rate": 0.5,
    "stddev": 0.5,
    "factor": 0.2,
    "l1": 0.1,
    "l2": 0.1,
    "pool_size": 2,
    "size": 2,
    "padding": 1,
    "cropping": 1,
    "max_value": 1.0,
    "min_value": 0.0,
    "num_bins": 4,
    "output_size": 2,
    "units_": 4,
    "height_factor": 0.2,
    "width_factor": 0.2,
    "seed": 1,
    "depth_multiplier": 1,
    "num_ops": 2,
    "height": 4,
    "width": 4,
    "value_range": (0, 255),
    "output_dim": 4,
}
_SHAPES = ((8,), (8, 4), (8, 8, 4), (8, 8, 8, 4), (3, 8, 8, 4), (3, 4, 4, 4, 4))


def main() -> None:
    """Write, load, judge and compare, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("write", "load", "judge", "all"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--by", default="tf_keras", help="the module that writes: tf_keras, keras")
    given = parser.parse_args()
    match given.step:
        case "write":
            _write(given.folder, given.by)
        case "load":
            _load(given.folder)
        case "judge":
            sys.exit(_judge(given.folder))
        case "all":
            given.folder.mkdir(parents=True, exist_ok=True)
            _step("write", given.folder, "--by", "tf_keras")
            _step("write", given.folder, "--by", "keras")
            _step("load", given.folder)
            sys.exit(_judge(given.folder))


def _step(*arguments: object) -> None:
    command = [sys.executable, "-m", "tools.model_files", *map(str, arguments)]
    subprocess.run(command, check=True, env={**os.environ, **_QUIET})


def _write(folder: Path, by: str) -> None:
    keras = importlib.import_module(by)
    folder.mkdir(parents=True, exist_ok=True)
    endings = ("h5", "keras")
    for name, model in _models(keras):
        for ending in endings:
            path = folder / f"{by}-{name}.{ending}"
            try:
                model.save(path)
            except Exception as error:  # noqa: BLE001 - whatever a release cannot save
                path.unlink(missing_ok=True)
                print(f"not saved: {path.name}: {type(error).__name__}")
        keras.backend.clear_session()


def _models(keras: Any) -> Iterator[tuple[str, Any]]:
    layers = {
        name: each
        for name, each in sorted(vars(keras.layers).items())
        if inspect.isclass(each) and issubclass(each, keras.layers.Layer)
    }
    for name, kind in layers.items():
        yield from _of_layer(keras, name, kind)
    for module, argument in (("optimizers", "optimizer"), ("losses", "loss")):
        yield from _compiled(keras, module, argument)
    yield from _compiled(keras, "metrics", "metrics")
    for name in ("l1", "l2", "l1_l2", "L1", "L2", "L1L2", "OrthogonalRegularizer"):
        kind = getattr(keras.regularizers, name, None)
        if kind is not None:
            layer = keras.layers.Dense(4, kernel_regularizer=kind(0.1))
            yield f"regularizer-{name}", keras.Sequential([keras.layers.Input((8,)), layer])
    for count in (2, 3):
        first = [keras.layers.Input((4,)) for _ in range(count)]
        yield f"inputs-{count}", keras.Model(first, keras.layers.Concatenate()(first))
    one = keras.layers.Input((4,))
    shared = keras.layers.Dense(4)
    yield "shared", keras.Model(one, keras.layers.Add()([shared(one), shared(shared(one))]))
    yield "operation", keras.Model(one, one * 2 + 1)


def _of_layer(keras: Any, name: str, kind: Any) -> Iterator[tuple[str, Any]]:
    for shape in _SHAPES:
        try:
            layer = _made(kind, name)
            start = keras.layers.Input(shape)
            model = keras.Model(start, layer(start))
        except Exception:  # noqa: BLE001, S112 - not for tensors of this rank
            continue
        yield f"layer-{name}", model
        yield from _wrapped(keras, name, kind, shape)
        return
    for count in (2, 3):
        try:
            starts = [keras.layers.Input((8, 4)) for _ in range(count)]
            yield f"layer-{name}", keras.Model(starts, _made(kind, name)(starts))
        except Exception:  # noqa: BLE001, S112
            continue
        return


def _wrapped(keras: Any, name: str, kind: Any, shape: tuple[int, ...]) -> Iterator[tuple[str, Any]]:
    start = keras.layers.Input(shape)
    inner = keras.Sequential([keras.layers.Input(shape), _made(kind, name)])
    yield f"inner-{name}", keras.Model(start, inner(start))
    for wrapper, given in (("TimeDistributed", (3, *shape)), ("Bidirectional", shape)):
        try:
            begin = keras.layers.Input(given)
            made = getattr(keras.layers, wrapper)(_made(kind, name))
            yield f"{wrapper}-{name}", keras.Model(begin, made(begin))
        except Exception:  # noqa: BLE001, S112 - it does not wrap this one
            continue
    if name.endswith("Cell"):
        made = keras.layers.RNN(_made(kind, name))
        begin = keras.layers.Input((8, 4))
        yield f"RNN-{name}", keras.Model(begin, made(begin))


def _made(kind: Any, name: str) -> Any:
    if name in _ARGUMENTS:
        return kind(**_ARGUMENTS[name])
    wanted = [
        each.name
        for each in inspect.signature(kind).parameters.values()
        if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD
    ]
    return kind(**{each: _NUMBERS[each] for each in wanted})


def _compiled(keras: Any, module: str, argument: str) -> Iterator[tuple[str, Any]]:
    for name, kind in sorted(vars(getattr(keras, module)).items()):
        if name in {"get", "serialize", "deserialize"} or name.startswith("_"):
            continue
        if not callable(kind):
            continue
        try:
            made = kind() if inspect.isclass(kind) else kind
            given = {"optimizer": "sgd", "loss": "mse", argument: [made]}
            if argument != "metrics":
                given[argument] = made
            model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(4)])
            model.compile(**given)
        except Exception:  # noqa: BLE001, S112 - a base class
            continue
        yield f"{module}-{name}", model


def _load(folder: Path) -> None:
    keras = importlib.import_module("keras")
    found = {}
    for path in _files(folder):
        try:
            keras.models.load_model(path)
            found[path.name] = ""
        except Exception as error:  # noqa: BLE001 - whatever Keras says
            found[path.name] = f"{type(error).__name__}: {error}"
        keras.backend.clear_session()
    (folder / "loaded.json").write_text(json.dumps({"keras": keras.__version__, "files": found}))


def _judge(folder: Path) -> int:
    told = json.loads((folder / "loaded.json").read_text())
    target = resolve_target(f"keras=={told['keras']}", "--target")
    unlike = 0
    for path in _files(folder):
        found = read_configurations(path).model
        causes = [each.cause for each in obstacles(found, target)] if found else []
        error = told["files"][path.name]
        if bool(causes) != bool(error):
            unlike += 1
            print(f"{path.name}: kdoctor: {causes}\n   Keras: {error[:300]!r}")
    equal = len(told["files"]) - unlike
    share = equal / max(1, len(told["files"]))
    print(f"{equal} of {len(told['files'])} are as Keras {told['keras']} has it ({share:.1%})")
    return 1 if share < 0.99 else 0


def _files(folder: Path) -> list[Path]:
    return sorted(each for each in folder.iterdir() if each.suffix in {".h5", ".keras"})


if __name__ == "__main__":
    main()
