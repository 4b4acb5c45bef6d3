"""Layers that Keras 2 called on tensors of a rank that Keras 3 refuses, where inputs tell it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_DIMENSIONS: Final = re.compile(r"(\d)D(?:Transpose)?\Z")


def wanted_rank(layer: Mapping[str, Any]) -> int | None:
    """Return the rank of the tensors that a layer of Keras 3 takes, None for any or several."""
    name = str(layer["class_name"])
    if name == "TimeDistributed":
        inner = layer["config"].get("layer")
        rank = wanted_rank(inner) if isinstance(inner, dict) and "class_name" in inner else None
        return None if rank is None else rank + 1
    found = _DIMENSIONS.search(name)
    if found is None:
        return None
    is_in_time = name.startswith("ConvLSTM")
    return int(found[1]) + 2 + is_in_time


def known_rank(layer: Mapping[str, Any]) -> int | None:
    """Return the rank of the tensor that an input makes, None where that is not known."""
    config = layer["config"]
    shape = config.get("batch_shape") if layer["class_name"] == "InputLayer" else None
    return len(shape) if isinstance(shape, list) else None
