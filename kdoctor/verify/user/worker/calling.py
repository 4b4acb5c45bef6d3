"""Call a layer or model with given weights; record outputs, gradients, state and masks."""

from __future__ import annotations

import contextlib
import inspect
from functools import partial
from typing import Any

import numpy as np

from . import draws, masks
from .frameworks import Side
from .measurement import Case, plain, random_values
from .weights import (
    Weight,
    assign,
    constrained,
    initial_values,
    matched,
    name_of,
    weights_of,
)

_OF_KERAS = ("keras", "tf_keras", "tensorflow")
_MAX_WEIGHTS = 3_000_000  # no gradients for larger models


def modes_of(subject: Any) -> list[bool | None]:
    """Return the values of ``training`` to call a layer with; None if it takes no such argument."""
    return [False, True] if _takes(subject, "training") else [None]


def weigh(subject: Any, weights: list[Weight] | None) -> tuple[list[Weight], list[Any]]:
    """Return the weights of Keras 2 (taken now, if not given) and the matching variables.

    Raises:
        Mismatch: they do not match.
    """
    weights = weights_of(subject) if weights is None else weights
    return weights, matched(subject, weights)


def measure(
    subject: Any, tensors: Any, case: Case, weights: list[Weight], variables: list[Any], side: Side
) -> None:
    """Call ``subject`` in each mode, and record the results in ``case``.

    If two calls in a mode differ, the output is random: its distribution is recorded instead.
    """
    case.values.update(initial_values(variables, weights))
    case.values.update(constrained(variables, weights))
    for mode in modes_of(subject):
        assign(variables, weights)
        before = plain(_called(subject, tensors, mode))
        assign(variables, weights)
        again = plain(_called(subject, tensors, mode))
        name = "output" if mode is None else f"output with training={mode}"
        if str(before) != str(again) or side.knows_as_random(case, name):
            case.values.update(_random(subject, tensors, weights, variables, mode))
            continue
        assign(variables, weights)
        _measure_mode(subject, tensors, case, weights, variables, side, mode)
    assign(variables, weights)
    _measure_masked(subject, tensors, case, side)
    assign(variables, weights)
    _measure_losses(subject, tensors, case)
    assign(variables, weights)


def _measure_mode(
    subject: Any,
    tensors: Any,
    case: Case,
    weights: list[Weight],
    variables: list[Any],
    side: Side,
    mode: bool | None,
) -> None:
    suffix = "" if mode is None else f" with training={mode}"
    call = partial(_called, subject, mode=mode)
    trained = [
        (weight, variable)
        for weight, variable in zip(weights, variables)  # noqa: B905
        if weight.trainable
    ]
    few = sum(weight.value.size for weight in weights) <= _MAX_WEIGHTS
    if side.backend.compiles_calls:
        name = f"output{suffix}"
        case.values.update(plain(side.backend.compiled(name, call, tensors)))
    output, gradients = side.backend.differentiate(
        call,
        tensors,
        [variable for _, variable in trained],
        wanted=few and not case.label.startswith(draws.WIDE),
    )
    case.values[f"output{suffix}"] = plain(output)
    if side.is_old and mode:
        assign(variables, weights)
        case.sensitivity[suffix] = _sensitivity_of(subject, tensors, mode, output, side)
        assign(variables, weights)
        _called(subject, tensors, mode)  # so that state is updated
    for weight, variable in zip(weights, variables):  # noqa: B905
        if not weight.trainable:
            case.values[f"{name_of(weight)} after the call{suffix}"] = np.asarray(variable)
    if any(not weight.trainable for weight in weights):  # it may count calls
        case.values[f"output of the next call{suffix}"] = plain(_called(subject, tensors, mode))
    if gradients is None:
        return
    inputs = len(gradients) - len(trained)
    for number, gradient in enumerate(gradients[:inputs]):
        at = f" {number}" if inputs > 1 else ""
        case.values[f"gradient of the input{at}{suffix}"] = plain(gradient)
    for (weight, _), gradient in zip(trained, gradients[inputs:]):  # noqa: B905
        case.values[f"gradient of {name_of(weight)}{suffix}"] = plain(gradient)


def _measure_masked(subject: Any, tensors: Any, case: Case, side: Side) -> None:
    """Call a layer with a mask over its time steps, if it takes one."""
    is_layer = type(subject).__module__.partition(".")[0] not in _OF_KERAS or not isinstance(
        subject, side.keras.Model
    )
    if not is_layer or isinstance(tensors, (list, dict)) or len(tensors.shape) < 3:
        return
    batch, steps = tensors.shape[:2]
    lengths = np.arange(batch) % max(1, steps - 1) + 1
    seen = np.arange(steps) < lengths[:, None]
    _measure_handed_on(subject, tensors, seen, case, side)
    if not _takes(subject, "mask"):
        return
    mask = side.backend.tensor(seen)
    with contextlib.suppress(Exception):
        before = plain(subject(tensors, mask=mask))
        if str(before) == str(plain(subject(tensors, mask=mask))):
            case.values["output with a mask"] = before
    if type(subject).compute_mask is not side.keras.layers.Layer.compute_mask:
        with contextlib.suppress(Exception):
            case.values["mask of the output"] = plain(subject.compute_mask(tensors, mask))


def _measure_handed_on(
    subject: Any, tensors: Any, seen: np.ndarray, case: Case, side: Side
) -> None:
    """Call a layer on masked input, and record the mask that it propagates."""
    array = plain(tensors)
    factor = seen.reshape(*seen.shape, *([1] * (array.ndim - 2))).astype(array.dtype)
    with contextlib.suppress(Exception):
        masked = side.keras.layers.Masking()(side.backend.tensor(array * factor))
        if masks.mask_of(masked) is not None:
            case.values["propagated mask"] = plain(masks.mask_of(subject(masked)))


def _measure_losses(subject: Any, tensors: Any, case: Case) -> None:
    """Record the losses that a layer or model adds, by regularizers and in its call."""
    with contextlib.suppress(Exception):
        subject._clear_losses()  # noqa: SLF001 - both Keras have it; drops losses of earlier calls
        _called(subject, tensors, modes_of(subject)[-1])
        parts = [np.asarray(plain(each), "float64").sum() for each in subject.losses]
        case.values["added losses"] = np.asarray(sum(parts), "float32")


def measure_training(
    model: Any, tensors: Any, case: Case, weights: list[Weight], variables: list[Any], side: Side
) -> None:
    """Call the model around a layer in training mode."""
    suffix = " of a functional model with training=True"
    assign(variables, weights)
    first = _called(model, tensors, True)
    assign(variables, weights)
    again = _called(model, tensors, True)
    name = "functional model with training=True"
    if str(plain(first)) != str(plain(again)) or side.knows_as_random(case, name):
        case.values.update(_random(model, tensors, weights, variables, True, "functional model"))
        return
    case.values[f"output{suffix}"] = plain(first)
    if side.is_old:
        assign(variables, weights)
        case.sensitivity[suffix] = _sensitivity_of(model, tensors, True, first, side)
    assign(variables, weights)


def _random(
    subject: Any,
    tensors: Any,
    weights: list[Weight],
    variables: list[Any],
    mode: bool | None,
    what: str = "output",
) -> dict[str, Any]:
    def call() -> Any:
        assign(variables, weights)
        return _called(subject, tensors, mode)

    return random_values(what if mode is None else f"{what} with training={mode}", call)


def _takes(subject: Any, parameter: str) -> bool:
    with contextlib.suppress(TypeError, ValueError):
        return parameter in inspect.signature(subject.call).parameters
    return False


def _sensitivity_of(subject: Any, tensors: Any, mode: bool, output: Any, side: Side) -> float:
    """Return the relative change of an output when its inputs change by a rounding error.

    Batch normalisation of few, nearly equal values amplifies such errors.
    """
    tf = side.tf

    def nudge(part: Any) -> Any:
        found = part * (1 + 1e-6) if part.dtype.is_floating else part
        if hasattr(part, "_keras_mask"):
            found._keras_mask = part._keras_mask  # noqa: SLF001 - both Keras read it
        return found

    nudged = tf.nest.map_structure(nudge, tensors)
    found = 0.0
    pairs = zip(  # noqa: B905 - strict= is of Python 3.10
        tf.nest.flatten(output), tf.nest.flatten(_called(subject, nudged, mode))
    )
    for before, after in pairs:
        old, new = np.asarray(before, "float64"), np.asarray(after, "float64")
        size = np.abs(old).max() if old.size else 0.0
        if size and np.isfinite(size):
            found = max(found, float(np.abs(new - old).max() / size))
    return found if np.isfinite(found) else 0.0


def layer_outputs(subject: Any, tensors: Any, side: Side) -> dict[str, Any]:
    """Return the output of each inner layer in one call, in the order of the calls."""
    found: dict[str, Any] = {}
    flatten = getattr(subject, "_flatten_layers", None)
    for layer in flatten(include_self=False, recursive=True) if flatten else []:
        _watch(layer, found)
    mode = modes_of(subject)[0]
    _called(subject, tensors, mode)
    del side
    return {f"layer {name}": plain(value) for name, value in found.items()}


def _watch(layer: Any, found: dict[str, Any]) -> None:
    call = layer.call

    def watched(*args: Any, **kwargs: Any) -> Any:
        value = call(*args, **kwargs)
        found.setdefault(layer.name, value)
        return value

    with contextlib.suppress(Exception):
        # Keras inspects the signature for arguments such as ``training``.
        watched.__signature__ = inspect.signature(call)  # type: ignore[attr-defined]
        object.__setattr__(layer, "call", watched)


def _called(subject: Any, tensors: Any, mode: bool | None) -> Any:
    return subject(tensors) if mode is None else subject(tensors, training=mode)
