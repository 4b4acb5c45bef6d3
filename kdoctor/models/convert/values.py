"""Values in a configuration that Keras 3 writes otherwise."""

from __future__ import annotations

from typing import Any, Final

from kdoctor.keras_api import ClassFamily, Lookup
from kdoctor.models.convert.record import Record

# `keras.activations.hard_sigmoid` of Keras 2 is clip(0.2 * x + 0.5, 0, 1): these two layers.
_HARD_SIGMOID: Final = (
    ("Rescaling", {"scale": 0.2, "offset": 0.5}),
    ("ReLU", {"max_value": 1.0}),
)


def converted_values(
    known: Lookup, config: dict[str, Any], place: str, record: Record
) -> dict[str, Any]:
    """Return a configuration with values as a class of Keras 3 takes them."""
    made = dict(config)
    axis = made.get("axis")
    if known.qualified.endswith(".BatchNormalization") and isinstance(axis, list):
        made["axis"] = axis[0] if len(axis) == 1 else axis
    if known.family is ClassFamily.LOSS:
        if made.get("reduction") == "auto":
            record.change(place, "`reduction='auto'` is `'sum_over_batch_size'`")
            made["reduction"] = "sum_over_batch_size"
        made.pop("fn", None)  # the function that the class stands for
    for key, value in config.items():
        if key.endswith("activation") and value == "hard_sigmoid":
            record.change(place, f"`{key}='hard_sigmoid'` is that of Keras 2, made of two layers")
            made[key] = _hard_sigmoid()
    if made.get("name", "") is None:
        del made["name"]
    return made


def _hard_sigmoid() -> dict[str, Any]:
    layers = [
        {"module": "keras.layers", "class_name": name, "config": config, "registered_name": None}
        for name, config in _HARD_SIGMOID
    ]
    return {
        "module": "keras",
        "class_name": "Sequential",
        "config": {"name": "hard_sigmoid_of_keras_2", "layers": layers},
        "registered_name": None,
    }
