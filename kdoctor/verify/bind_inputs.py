"""Turn generated arrays into the arguments of a run, on any framework."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import keras
import tensorflow as tf

from kdoctor.verify.results import Different
from kdoctor.verify.values import Array, with_arrays

# Parameters with the batch axis of the first input, though maybe with fewer axes.
_TARGETS = frozenset({"target", "predictions", "labels", "targets"})
# Parameters that do not depend on the batch: weights.
WEIGHTS = frozenset({"kernel", "depthwise_kernel", "pointwise_kernel", "bias", "filters"})


def bind(given: dict[str, Any], inputs: dict[int, Any]) -> dict[str, Any]:
    """Return the arguments with each array replaced by the input made of it."""
    return {
        name: with_arrays(value, lambda array: inputs[id(array)]) for name, value in given.items()
    }


def batched(array: Array, name: str, free: list[tuple[str, Array]]) -> tuple[int | None, ...]:
    """Return the shape, with the first axis unknown if it is the batch of the first input."""
    shape = array.data.shape
    first = free[0][1].data.shape
    is_batch = (
        shape
        and first
        and shape[0] == first[0]
        and (len(shape) == len(first) or free[0][0] in _TARGETS)
    )
    return (None, *shape[1:]) if is_batch and name not in WEIGHTS else shape


def promised(
    mode: str, array: Array, name: str, free: list[tuple[str, Array]]
) -> tuple[int | None, ...] | None:
    """Return what is known of a tensor's shape when a ``function`` mode traces its graph."""
    shape: tuple[int, ...] = array.data.shape
    if name in WEIGHTS or mode == "function":
        return shape
    if mode == "function_rank":
        return None
    return (None,) * len(shape) if mode == "function_sizes" else batched(array, name, free)


def check_promise(promised: Any, values: Any) -> None:
    """Compare the shapes of symbolic results with the real ones.

    Raises:
        Different: they contradict each other.
    """
    for symbol, value in zip(keras.tree.flatten(promised), keras.tree.flatten(values), strict=True):
        if not isinstance(symbol, keras.KerasTensor):
            continue
        sizes = zip(symbol.shape, value.shape, strict=False)
        if len(symbol.shape) != len(value.shape) or any(
            one is not None and one != other for one, other in sizes
        ):
            raise Different("shape of the symbolic result", f"{symbol.shape}, {value.shape}")


def used_part(result: Any, facts: Collection[str]) -> Any:
    """Return the part of a result that the code around the call uses, given its ``facts``."""
    if "statement_position" in facts:
        return None
    if "made_a_number" in facts:
        return float(result)
    if "read_at_once" in facts:
        return keras.ops.copy(result) if hasattr(result, "assign") else result
    if "as_a_shape" in facts:
        return tf.zeros(result) if tf.is_tensor(result) else keras.ops.zeros(result)
    if "taken_apart" in facts:
        return list(result)
    if "indexed" in facts:
        count = result.shape[0] if keras.ops.is_tensor(result) else len(result)
        places = (0, -1) if count is None else range(-int(count), int(count))
        return [result[index] for index in places]
    return result
