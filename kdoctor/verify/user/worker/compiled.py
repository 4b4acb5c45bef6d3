"""How a model was compiled: its loss, its metrics, and the steps that its optimizer takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import draws
from .frameworks import Side
from .measurement import plain

# A schedule or a decay shows only late.
_ITERATIONS = (0, 1, 2, 1_000, 100_000)
# A gradient that is clipped, and one that is not.
_SCALES = (1.0, 100.0, 0.01, 1.0, 1.0)
_MAX_ELEMENTS = 300_000  # of the trained weights together


def results_of(
    model: Any, given: Any, trained: list[Any], kept: dict[str, Any], side: Side
) -> dict[str, Any]:
    """Return the loss and metrics of a compiled model, and its weights after given gradients.

    ``kept`` carries the targets, and what works, from Keras 2 to Keras 3. It is empty if the model
    is not compiled. The steps change the ``trained`` weights.
    """
    if side.is_old:
        kept["is_compiled"] = _is_compiled(model)
    if not kept.get("is_compiled"):
        return {}
    if not _is_compiled(model):
        return {"how it is compiled": "Keras 3 does not compile it"}
    return {**_losses(model, given, kept, side), **_steps(model, trained, kept, side)}


def _is_compiled(model: Any) -> bool:
    return bool(getattr(model, "compiled", False) or getattr(model, "_is_compiled", False))


def _losses(model: Any, given: Any, kept: dict[str, Any], side: Side) -> dict[str, Any]:
    """Return the loss and the metrics for the first targets that work on Keras 2."""
    if not side.is_old:
        targets = kept.get("targets")
        if targets is None:
            return {}
        found = _tested(model, given, targets)
        return {name: found[name] for name in kept["tested"] if name in found}
    kept["targets"] = None
    for targets in _targets(model(given, training=False), side):
        try:
            found = _tested(model, given, targets)
        except Exception:  # noqa: BLE001, S112 - it may want other targets
            continue
        # Without a loss, Keras 2 gives zero, and Keras 3 refuses to evaluate.
        if found["loss of the compiled model"] and np.isfinite(found["loss of the compiled model"]):
            kept["targets"], kept["tested"] = targets, list(found)
            return found
    return {}


def _tested(model: Any, given: Any, targets: Any) -> dict[str, Any]:
    """Return the loss and the metrics that the user named, in one batch."""
    model.run_eagerly = True
    model.reset_metrics()
    found = model.test_on_batch(given, targets, return_dict=True)
    names = {"loss": "loss of the compiled model"}
    return {
        names.get(name, f"metric {name} of the compiled model"): float(plain(value))
        for name, value in found.items()
        # Both Keras versions add the loss of each output; anonymous functions have two names.
        if name == "loss" or (name.isidentifier() and not name.endswith("loss"))
    }


def _targets(outputs: Any, side: Side) -> list[Any]:
    """Return targets to try: like the outputs, one class per sample, bits."""
    of_each = (_like, _classes, _bits)
    return [
        side.tf.nest.map_structure(lambda each, draw=draw: draw(plain(each)), outputs)
        for draw in of_each
    ]


def _like(output: np.ndarray) -> np.ndarray:
    classes = draws.rng(81).integers(0, output.shape[-1], output.shape[:-1])
    if output.ndim > 1 and output.shape[-1] > 1:
        return np.eye(output.shape[-1], dtype="float32")[classes]
    return _bits(output)


def _classes(output: np.ndarray) -> np.ndarray:
    return draws.rng(82).integers(0, max(2, output.shape[-1]), output.shape[:-1]).astype("int32")


def _bits(output: np.ndarray) -> np.ndarray:
    return draws.rng(83).integers(0, 2, output.shape).astype("float32")


def _steps(model: Any, trained: list[Any], kept: dict[str, Any], side: Side) -> dict[str, Any]:
    """Return the weights after a few steps with given gradients, some of them late."""
    if side.is_old:
        kept["steps"] = 0 < sum(np.asarray(each).size for each in trained) <= _MAX_ELEMENTS
    if not kept["steps"]:
        return {}
    try:
        return stepped(model.optimizer, trained, side)
    except Exception:
        if not side.is_old:
            raise
        kept["steps"] = False
        return {}


def stepped(optimizer: Any, trained: list[Any], side: Side) -> dict[str, Any]:
    """Return the variables after a few steps with given gradients, some of them late."""
    found = {}
    # Its factors are a product over the steps so far, which no jump of the count gives.
    in_order = type(optimizer).__name__ == "Nadam"
    for step, (iteration, scale) in enumerate(zip(_ITERATIONS, _SCALES)):  # noqa: B905
        if not in_order:
            optimizer.iterations.assign(iteration)
        # From zero, so that nothing is rounded; at last from one, for a decay of weights.
        for each in trained:
            each.assign(np.full(tuple(each.shape), float(iteration == _ITERATIONS[-1]), "float32"))
        given = [
            scale * draws.rng(840 + 50 * step + number).normal(size=tuple(each.shape))
            for number, each in enumerate(trained)
        ]
        gradients = [side.backend.tensor(each.astype("float32")) for each in given]
        optimizer.apply_gradients(zip(gradients, trained))  # noqa: B905 - of Python 3.10
        found[f"step {step + 1} of its optimizer"] = [plain(each) for each in trained]
    return found
