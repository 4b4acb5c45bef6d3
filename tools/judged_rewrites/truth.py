"""Is what the material calls right really right, and what it calls wrong wrong? By running it.

    python -m tools.judged_rewrites.truth [WORD …]

Knows nothing of the verifier: here the material itself says how a definition is run (``make``,
``inputs``), there nobody does. Each side is a process of its own.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tools.judged_rewrites.material import Rewrite, rewrites

TOLERANCE = 2e-4
Values = dict[str, Any]


def main(words: list[str]) -> int:
    """Compare the two sides of each rewrite with one of the words in its title."""
    chosen = [each for each in rewrites() if not words or any(word in each.title for word in words)]
    with tempfile.TemporaryDirectory() as folder:
        old, new = (_side(side, chosen, Path(folder)) for side in ("keras_2", "keras_3"))
    liars = 0
    for each, before, after in zip(chosen, old, new, strict=True):
        differs = difference(before, after)
        lies = bool(differs) != bool(each.spoilt) or "error" in before
        liars += lies
        print("LIES" if lies else "ok  ", each.title, "-", differs or "equal", flush=True)
    return int(liars > 0)


def _side(side: str, chosen: list[Rewrite], folder: Path) -> list[Values]:
    scan_options = folder / f"{side}.orders"
    scan_options.write_bytes(
        pickle.dumps([(e.before if side == "keras_2" else e.after, e.name, e.told) for e in chosen])
    )
    command = [sys.executable, "-m", __spec__.name, "--side", side, str(scan_options)]
    subprocess.run(command, check=True)
    found: list[Values] = pickle.loads(scan_options.with_suffix(".values").read_bytes())  # noqa: S301
    return found


def difference(old: Values, new: Values) -> str:
    """Return where two sides differ first, "" if they do not."""
    for key, value in old.items():
        other = new.get(key)
        if isinstance(value, str) or isinstance(other, str) or other is None:
            if not isinstance(value, str) or not isinstance(other, str) or value != other:
                return f"{key}: {value} / {other} {new.get('error', '')}"
        elif np.shape(value) != np.shape(other):
            return f"{key}: {np.shape(value)} / {np.shape(other)}"
        elif not np.allclose(value, other, *_tolerances(key), equal_nan=True):
            return f"{key}: {np.ravel(value)[:3]} / {np.ravel(other)[:3]}"
    return new.get("error", "")


def _tolerances(key: str) -> tuple[float, float]:
    if key in {"same gradient", "opposite gradient"}:
        # At the kink of a function each side may take another of its slopes.
        return (np.inf, 1.0)
    # Keras 2 counts one sample less in the variance that batch normalization keeps.
    return (2e-3, 2e-3) if key.startswith("state") else (TOLERANCE, TOLERANCE)


def run_side(side: str, file: Path) -> None:
    """Run the orders of a file on one side, and write down what came of them."""
    if side == "keras_2":
        from kdoctor.verify.keras_2 import keras_2  # noqa: PLC0415

        mapped = keras_2()  # kept: it undoes itself when it is thrown away
        mapped.__enter__()
    found = []
    for number, (text, name, told) in enumerate(pickle.loads(file.read_bytes())):  # noqa: S301
        try:
            found.append(_measured(text, name, told, file.with_name(f"{side}_{number}.py")))
        except Exception as error:  # noqa: BLE001 - told
            place = traceback.extract_tb(error.__traceback__)[-1]
            found.append(
                {"error": f"{type(error).__name__}: {error} ({place.filename}:{place.lineno})"}
            )
    file.with_suffix(".values").write_bytes(pickle.dumps(found))


def _measured(text: str, name: str, told: dict[str, Any], file: Path) -> Values:
    import keras  # noqa: PLC0415

    keras.backend.clear_session()
    file.write_text(text, "utf-8")
    space: dict[str, Any] = {"__name__": file.stem}
    exec(compile(text, str(file), "exec"), space)  # noqa: S102 - the material
    made = eval(told["make"], space) if "make" in told else space[name]  # noqa: S307
    return _KINDS[told["kind"]](made, told)


def _loss(loss: Callable[..., Any], told: dict[str, Any]) -> Values:
    import tensorflow as tf  # noqa: PLC0415

    found: Values = {}
    draw = np.random.default_rng(3)
    raised = np.exp(2 * draw.normal(size=(4, 3)))
    inputs = {
        "classes": (np.eye(3)[[0, 2, 1, 1]], raised / raised.sum(-1, keepdims=True)),
        "masks": (draw.integers(0, 2, (2, 4, 5, 3)), draw.uniform(0.05, 0.95, (2, 4, 5, 3))),
        "numbers": (draw.normal(size=(4, 3)), 2 * draw.normal(size=(4, 3))),
        "same": (np.eye(3), np.eye(3)),
        "opposite": (np.eye(3), np.eye(3)[[1, 2, 0]]),
    }
    only = told.get("only", list(inputs))
    for label in only:
        true, predicted = inputs[label]
        truth, guess = tf.constant(true, "float32"), tf.constant(predicted, "float32")
        try:
            with tf.GradientTape() as tape:
                tape.watch(guess)
                value = loss(truth, guess)
            found[label] = np.asarray(value)
            found[f"{label} dtype"] = str(found[label].dtype)
            found[f"{label} gradient"] = _array(tape.gradient(value, guess), guess)
        except Exception as error:
            if label == only[0]:
                raise
            found[label] = type(error).__name__
    return found


def _metric(metric: Any, _: dict[str, Any]) -> Values:
    draw = np.random.default_rng(3)
    for _ in range(2):
        metric.update_state(
            draw.integers(0, 2, (6, 2)).astype("float32"),
            draw.uniform(size=(6, 2)).astype("float32"),
        )
    return {"result": np.asarray(metric.result())}


def _tensor(function: Callable[..., Any], told: dict[str, Any]) -> Values:
    del told
    import tensorflow as tf  # noqa: PLC0415

    found: Values = {}
    for shape in ((2, 5, 4), (4, 5)):
        tensor = tf.constant(3 * np.random.default_rng(4).normal(size=shape), "float32")
        with tf.GradientTape() as tape:
            tape.watch(tensor)
            value = function(tensor)
            total = tf.reduce_sum(value * value)
        found[f"{shape}"] = np.asarray(value)
        found[f"{shape} gradient"] = _array(tape.gradient(total, tensor), tensor)
    return found


def _layer(layer: Any, told: dict[str, Any]) -> Values:
    import tensorflow as tf  # noqa: PLC0415

    tensors = []
    for number, shape in enumerate(told["inputs"]):
        draw = np.random.default_rng(number)
        values = draw.integers(1, 9, shape) if told.get("integers") else draw.normal(size=shape)
        tensors.append(tf.constant(values, "int32" if told.get("integers") else "float32"))
    given = tensors[0] if len(tensors) == 1 else tensors
    layer(given)
    found: Values = {"trainable": float(len(layer.trainable_weights))}
    for number, weight in enumerate(_in_order(layer.weights)):
        found[f"shape {number}"] = str(tuple(weight.shape))
        start = np.unique(np.asarray(weight))
        found[f"start {number}"] = str(start[0]) if start.size == 1 else "drawn"
        draw = np.random.default_rng(50 + number)
        if _own_name(weight) == "moving_variance":
            weight.assign(draw.uniform(0.5, 1.5, weight.shape))
        elif tuple(weight.shape) or weight.trainable:
            weight.assign(0.5 * draw.normal(size=weight.shape))
    for arguments in ({}, {"training": True}):
        try:
            with tf.GradientTape(persistent=True) as tape:
                for tensor in tensors:
                    tape.watch(tensor)
                value = layer(given, **arguments)
                parts = tf.nest.flatten(value)
                total = sum(tf.reduce_sum(part * part * (n + 1)) for n, part in enumerate(parts))
        except TypeError:
            continue
        dropped = any(type(each).__name__ == "Dropout" for each in getattr(layer, "layers", []))
        if arguments and (told.get("random") or dropped):
            found["draws"] = str(float(np.mean(np.asarray(parts[0]) == 0)) > 0.1)
            continue
        for number, part in enumerate(parts):
            found[f"output {number} {arguments}"] = np.asarray(part)
        if not told.get("integers"):
            for number, tensor in enumerate(tensors):
                found[f"gradient {number} {arguments}"] = _array(
                    tape.gradient(total, tensor), tensor
                )
        for number, weight in enumerate(_in_order(layer.trainable_weights)):
            inner = getattr(weight, "value", weight)
            inner = weight if callable(inner) else inner
            slope = tape.gradient(total, inner)
            if slope is not None:
                found[f"weight gradient {number} {arguments}"] = np.asarray(
                    tf.convert_to_tensor(slope)
                )
        for number, weight in enumerate(_in_order(layer.non_trainable_weights)):
            found[f"state {number} {arguments}"] = np.asarray(weight)
    if told.get("masked"):
        mask = tf.constant([[True] * 4 + [False] * 2] * told["inputs"][0][0])
        found["masked"] = np.asarray(layer(given, mask=mask))
    return found


def _in_order(weights: list[Any]) -> list[Any]:
    """Leave out seeds; weights whose names tell them apart may be made in any order."""
    kept = [each for each in weights if "seed" not in each.name]
    names = {_own_name(each) for each in kept}
    return sorted(kept, key=_own_name) if len(names) == len(kept) else kept


def _own_name(weight: Any) -> str:
    return str(weight.name).partition(":")[0].rpartition("/")[2]


def _cell(cell: Any, told: dict[str, Any]) -> Values:
    import keras  # noqa: PLC0415

    return _layer(keras.layers.RNN(cell, return_sequences=True, return_state=True), told)


def _block(function: Callable[..., Any], told: dict[str, Any]) -> Values:
    import keras  # noqa: PLC0415

    inputs = keras.layers.Input(told["inputs"][0][1:])
    return _layer(keras.models.Model(inputs, function(inputs)), told)


def _array(slope: Any, like: Any) -> Any:
    return np.zeros(like.shape) if slope is None else np.asarray(slope)


_KINDS = {
    **dict.fromkeys(("loss", "maker", "Loss"), _loss),
    **dict.fromkeys(("tensor", "constraint"), _tensor),
    **dict.fromkeys(("layer", "builder", "Model"), _layer),
    "Metric": _metric,
    "cell": _cell,
    "block": _block,
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--side"]:
        run_side(sys.argv[2], Path(sys.argv[3]))
    else:
        sys.exit(main(sys.argv[1:]))
