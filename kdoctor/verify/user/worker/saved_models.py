"""Run a saved model on Keras 2, and what it was converted to on Keras 3; compare on Keras 3.

Keras 2 may be as old as 2.2.4, on Python 3.7, with the graphs of TensorFlow 1.
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from . import source_files
from .frameworks import Side

_TOLERANCE = 1e-5
# Sizes of the batch and of the other open axes; the later ones are for who takes no small image.
_SIZES = ((2, 5), (3, 8), (2, 32), (1, 96))
_CASES = 2
_TEXTS = ("a", "b", "c d")
_MAX_SHOWN = 5  # weights that are unlike


def run(job: dict[str, Any], side: Side, folder: Path) -> tuple[dict[str, Any], Any]:
    """Return the answer and, on Keras 2, what the other side has to return."""
    try:
        side.fresh()
        model = side.keras.models.load_model(job["saved_model"], **_given(job, side))
        if side.is_old:
            cases = _measured(model, side)
            record = {"cases": cases, "weights": _weights(model, side)}
            return {"state": "ran", "cases": len(cases)}, record
        with (folder / f"keras_2-{job['id']}.pickle").open("rb") as file:
            record = pickle.load(file)  # noqa: S301 - written by the other side
        return _compared(model, record, side), None
    except BaseException as error:  # noqa: BLE001 - whatever Keras says
        text = f"{type(error).__name__}: {error}"
        return {"state": "cannot", "error": text}, None


def _given(job: dict[str, Any], side: Side) -> dict[str, Any]:
    """Return the arguments with which a file is loaded: code of the user's only if it may run."""
    given: dict[str, Any] = {}
    if side.is_old:
        given["compile"] = False  # what it was trained with need not be there any more
    if job.get("custom_objects"):
        given["custom_objects"] = source_files.taken(job["sources"], job["custom_objects"])
    if job.get("modules"):
        source_files.put_into_modules(job["sources"], job["modules"])
    takes = inspect.signature(side.keras.models.load_model).parameters
    if job.get("is_trusted") and "safe_mode" in takes:
        given["safe_mode"] = False
    return given


def _measured(model: Any, side: Side) -> list[dict[str, Any]]:
    """Return inputs that the model takes, and what it makes of them."""
    cases: list[dict[str, Any]] = []
    errors: list[Exception] = []
    if not getattr(model, "inputs", None):
        return []
    for batch, size in _SIZES:
        for are_counts in (False, True):  # of what a layer counts or looks up
            try:
                given = _drawn(model, batch, size, side, are_counts=are_counts)
                made = _called(model, given, side)
            except Exception as error:  # noqa: BLE001 - of inputs that it does not take
                errors.append(error)
                continue
            cases.append({"inputs": given, "outputs": made})
            break
        if len(cases) == _CASES:
            break
    if not cases:
        raise errors[-1]
    return cases


def _drawn(model: Any, batch: int, size: int, side: Side, *, are_counts: bool) -> Any:
    """Return inputs for a model, in the structure in which it takes them."""
    rng = np.random.default_rng(batch * size)
    tf, backend = side.tf, side.keras.backend
    drawn = []
    for tensor in model.inputs:
        first, *others = backend.int_shape(tensor)
        shape = [first or batch, *(size if each is None else each for each in others)]
        dtype = tf.as_dtype(backend.dtype(tensor))
        if dtype == tf.string:
            drawn.append(rng.choice(_TEXTS, size=shape).astype(object))
        elif dtype == tf.bool:
            drawn.append(rng.integers(0, 2, size=shape) > 0)
        elif dtype.is_integer or are_counts:
            drawn.append(rng.integers(0, 3, size=shape).astype(dtype.as_numpy_dtype))
        else:
            drawn.append(rng.normal(size=shape).astype(dtype.as_numpy_dtype))
    return tf.nest.pack_sequence_as(model.input, drawn)


def _called(model: Any, given: Any, side: Side) -> list[Any]:
    """Return the outputs of a model, one after the other."""
    tf = side.tf
    if not tf.executing_eagerly():
        return _flat(model.predict_on_batch(given), side)
    return _flat(model(tf.nest.map_structure(tf.constant, given), training=False), side)


def _flat(values: Any, side: Side) -> list[Any]:
    return [np.asarray(each) for each in side.tf.nest.flatten(values)]


def _weights(model: Any, side: Side) -> list[tuple[str, tuple[int, ...], str]]:
    """Return name, shape and digest of each weight that is an array: vocabularies are none."""
    found = []
    for weight in model.weights:
        if hasattr(weight, "numpy") or not side.tf.executing_eagerly():
            is_graph = not side.tf.executing_eagerly()
            value = side.keras.backend.get_value(weight) if is_graph else weight.numpy()
            value = np.ascontiguousarray(value)
            digest = hashlib.sha256(value.tobytes()).hexdigest()
            found.append((str(getattr(weight, "path", weight.name)), value.shape, digest))
    return found


def _compared(model: Any, record: dict[str, Any], side: Side) -> dict[str, Any]:
    unlike = []
    for number, case in enumerate(record["cases"], 1):
        made = _called(model, case["inputs"], side)
        unlike += [f"input {number}: {each}" for each in _unlike(case["outputs"], made)]
    before, after = record["weights"], _weights(model, side)
    left = Counter(each[1:] for each in after)
    lost = []
    for name, *rest in before:
        if left[tuple(rest)]:
            left[tuple(rest)] -= 1
        else:
            lost.append(name)
    unlike += [f"weight {name} is not there, or is unlike" for name in lost[:_MAX_SHOWN]]
    if len(before) != len(after):
        unlike.append(f"{len(before)} weights before, {len(after)} after")
    return {
        "state": "ran",
        "cases": len(record["cases"]),
        "weights": len(before),
        "unlike": unlike,
    }


def _unlike(before: list[Any], after: list[Any]) -> list[str]:
    if len(before) != len(after):
        return [f"{len(before)} outputs before, {len(after)} after"]
    found = []
    for number, (first, second) in enumerate(zip(before, after, strict=True), 1):
        if first.shape != second.shape:
            found.append(f"output {number} has shape {first.shape} before, {second.shape} after")
        elif first.dtype.kind in "OSU":
            if (first != second).any():
                found.append(f"output {number} holds other texts")
        elif not np.allclose(first, second, atol=_TOLERANCE, rtol=_TOLERANCE, equal_nan=True):
            most = float(np.max(np.abs(first.astype("float64") - second.astype("float64"))))
            found.append(f"output {number} differs by {most:.2g}")
    return found
