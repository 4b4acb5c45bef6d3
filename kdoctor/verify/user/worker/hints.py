"""Hints on how a definition differs from the similar one in the reference.

The reference runs on Keras 3; its self-contained files are loaded by path.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from . import draws
from .frameworks import Side
from .measurement import plain

_OVERLAPS = {"dice": "dice", "jaccard": "jaccard", "iou": "jaccard", "tversky": "tversky"}
_SMOOTH = (1.0, 0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.5, 10.0, 100.0)
# The axes of (batch, height, width, classes) that may be summed, and their description.
_AXES: dict[str, Any] = {
    "over all axes": None,
    "per image and class": (1, 2),
    "per image": (1, 2, 3),
    "per class": (0, 1, 2),
}
_NARROW = {"-1": -1, "1": 1, "2": 2, "0": 0}
_CLOSE = 1e-5
_MASKS = "one-hot masks (2, 4, 5, 3)"
_NUMBERS = "numbers (3, 7)"
_ONE_HOT = "one-hot, probabilities (4, 3)"


def of(
    subject: Any, job: dict[str, Any], record: dict[str, Any], side: Side
) -> tuple[list[str], list[str]]:
    """Return notes on what matches the reference, and hints on what does not."""
    name = job["name"].lower()
    try:
        if record["kind"] == "layer":
            return [], [*_of_state(record), *_of_clipping(name, subject, record, side)]
        values = {case.label: case.values.get("value") for case in record["cases"]}
        for word, function in _OVERLAPS.items():
            if word in name:
                return _of_overlap(function, values.get(_MASKS), record["plan"], job, side)
        if "huber" in name:
            return _of_huber(values.get(_NUMBERS), record["plan"], job)
        if "focal" in name:
            return _of_focal(values.get(_ONE_HOT), record["plan"], job)
    except Exception:  # noqa: BLE001 - a hint is optional
        return [], []
    return [], []


def _reference(job: dict[str, Any], module: str) -> Any:
    path = Path(job["reference"], f"{module}.py")
    spec = importlib.util.spec_from_file_location(f"kdoctor_reference_{module}", path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def _pair(label: str) -> draws.Pair:
    return next(each for each in draws.pairs() if each.label == label)


def _is_form_of(value: np.ndarray, expected: np.ndarray, smooth: float) -> bool:
    """Say whether a value is the expected one, its difference to 1, or a mean or sum of these."""
    # keras-contrib, which is often copied, multiplies the difference by the smoothing.
    for whole in (expected, 1.0 - expected, -expected, (1.0 - expected) * smooth):
        last = whole.mean(axis=-1) if whole.ndim else whole
        for form in (
            whole,
            last,
            whole.mean(),
            whole.sum(),
            whole.sum(axis=-1, keepdims=False) if whole.ndim else whole,
        ):
            if form.shape == value.shape and np.allclose(form, value, _CLOSE, _CLOSE):
                return True
            if value.ndim and not form.ndim and np.allclose(value, form, _CLOSE, _CLOSE):
                return True  # the same number for each sample
    return False


def _of_overlap(
    function: str, value: Any, plan: dict[str, Any], job: dict[str, Any], side: Side
) -> tuple[list[str], list[str]]:
    del side
    if not isinstance(value, np.ndarray):
        return [], []
    pair = _pair(_MASKS)
    compute = getattr(_reference(job, "overlap"), function)
    given = plan.get("defaults", {})
    weights = {key: given[key] for key in ("alpha", "beta") if key in given}
    weights = weights if function == "tversky" else {}
    numbers = [float(each) for each in given.values() if isinstance(each, (int, float))]
    smooths = list(dict.fromkeys([*numbers, *_SMOOTH]))

    def fits(axis: Any, smooth: float, true: np.ndarray = pair.true) -> bool:
        expected = np.asarray(
            compute(true, pair.predicted, axis=axis, smooth=smooth, **weights), "float64"
        )
        return _is_form_of(np.asarray(value, "float64"), expected, smooth)

    for smooth in smooths:
        for label, axis in _AXES.items():
            if fits(axis, smooth):
                return [
                    f"same as {function}() in the reference, summed {label}, smooth={smooth:g}"
                ], []
    for smooth in smooths:
        for label, axis in _NARROW.items():
            if fits(axis, smooth):
                return [], [
                    (
                        f"it sums over axis {label} only, so each row or pixel counts as a "
                        f"separate object; {function}() in the reference sums over the image: "
                        f"`kdoctor reference {function}`"
                    )
                ]
        for label, axis in _AXES.items():
            size = pair.true.size if axis is None else pair.true[0, ..., 0].size
            if smooth in numbers and smooth and fits(axis, smooth * size):
                return [], [
                    (
                        f"it adds smooth={smooth:g} to means ({label}): with sums that is "
                        f"smooth={smooth * size:g}, and it grows with the image: "
                        f"`kdoctor reference {function}`"
                    )
                ]
    return [], [
        (
            f"it matches no form of {function}() in the reference (summed over all axes, per image "
            "or per class, with the same smoothing in numerator and denominator): "
            f"`kdoctor reference {function}`"
        )
    ]


def _of_huber(value: Any, plan: dict[str, Any], job: dict[str, Any]) -> tuple[list[str], list[str]]:
    if not isinstance(value, np.ndarray):
        return [], []
    pair = _pair(_NUMBERS)
    compute = _reference(job, "huber").huber
    given = [float(each) for each in plan.get("defaults", {}).values()]
    for delta in dict.fromkeys([*given, 1.0, 0.5]):
        expected = np.asarray(compute(pair.true, pair.predicted, delta), "float64")
        lasts = [np.asarray(value, "float64")]
        lasts += [each.mean(axis=-1) for each in lasts if each.ndim == 2]
        forms = (expected, expected.mean(), expected * pair.true.shape[-1])
        if any(
            form.shape == last.shape and np.allclose(form, last, _CLOSE, _CLOSE)
            for last in lasts
            for form in forms
        ):
            return [f"same as huber() in the reference, delta={delta:g}"], []
    return [], ["it is not the Huber loss for any delta that it uses: `kdoctor reference huber`"]


def _of_focal(value: Any, plan: dict[str, Any], job: dict[str, Any]) -> tuple[list[str], list[str]]:
    if not isinstance(value, np.ndarray):
        return [], []
    pair = _pair(_ONE_HOT)
    module = _reference(job, "focal")
    given = plan.get("defaults", {})
    gamma = next((value for key, value in given.items() if "gamma" in key), 2.0)
    alphas = [value for key, value in given.items() if "alpha" in key]
    for name in ("binary_focal", "categorical_focal"):
        for alpha in (*alphas, 0.25, 1.0, *([None] if name == "binary_focal" else [])):
            expected = np.asarray(
                getattr(module, name)(pair.true, pair.predicted, alpha=alpha, gamma=gamma),
                "float64",
            )
            for factor in (1, pair.true.shape[-1], 1 / pair.true.shape[-1]):
                for form in (
                    expected * factor,
                    (expected * factor).mean(),
                    expected.sum() * factor,
                ):
                    same = form.shape == value.shape
                    if same and np.allclose(form, value, 1e-3, _CLOSE):
                        return [
                            f"same as {name}() in the reference, alpha={alpha}, gamma={gamma:g}"
                        ], []
    return [], [
        (
            f"it matches neither binary_focal() nor categorical_focal() in the reference with "
            f"gamma={gamma:g}: `kdoctor reference binary_focal`"
        )
    ]


def _of_state(record: dict[str, Any]) -> list[str]:
    """Hint at state with the shape of a batch or of the input."""
    entries = {entry["label"]: entry for entry in record["plan"]["entries"]}
    for case in record["cases"]:
        entry = entries[case.label]
        batch = entry["arrays"][0].shape[0]
        moved = [
            weight
            for weight in entry["weights"]
            if not weight.trainable and _has_moved(weight, case.values)
        ]
        for weight in moved:
            outputs = [v for k, v in case.values.items() if k.startswith("output")]
            rows = {each.shape[0] for each in outputs if getattr(each, "ndim", 0)}
            wide = weight.value.shape[:1] == entry["arrays"][0].shape[-1:] and weight.value.ndim > 1
            if rows - {batch} or (wide and batch == 1):
                shape = tuple(weight.value.shape)
                return [
                    (
                        f"its weight {weight.name} has shape {shape}, which does not fit a batch: "
                        f"{batch} sample{'s' * (batch > 1)} in, {max(rows, default=0)} rows out, "
                        f"and an error for any batch size other than 1 or {shape[0]}. State that "
                        "is kept between batches needs the shape of one sample: "
                        "`kdoctor reference RunningSum`"
                    )
                ]
    return []


def _has_moved(weight: Any, values: dict[str, Any]) -> bool:
    for name, value in values.items():
        if " after the call" in name and name.partition(" after")[0].endswith(weight.name):
            return bool((np.asarray(value) != weight.value).any())
    return False


def _of_clipping(name: str, subject: Any, record: dict[str, Any], side: Side) -> list[str]:
    """Hint at a layer named for gradient clipping that does not clip."""
    if "clip" not in name:
        return []
    plan = record["plan"]
    args, kwargs = plan["made_with"]
    layer = subject(*args, **kwargs)
    inputs = side.backend.tensor(plan["entries"][0]["arrays"][0])
    # Twice, as the layer has to be built before its gradient is taken.
    layer(inputs)
    found = side.backend.differentiate(lambda given: 1e6 * layer(given), inputs)[1]
    gradient = np.asarray(plain((found or [0.0])[0]))
    if float(np.abs(gradient / draws.direction(gradient.shape)).max()) < 9e5:
        return []
    unused = [each for each in ("get_updates", "get_gradients") if each in vars(subject)]
    why = f" (Keras never calls {unused[0]}() on a layer)" if unused else ""
    return [
        (
            "it clips nothing: an upstream gradient of 1e+06 passes through unchanged"
            f"{why}; for a layer that clips gradients, and the optimizer's arguments that do, see "
            "`kdoctor reference GradientClipping`"
        )
    ]
