"""TensorFlow, of Keras 2 and of Keras 3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from . import draws
from .backend import IN_A_GRAPH, Backend


class TensorFlowBackend(Backend):
    """TensorFlow: gradient tapes, and graphs of ``tf.function``."""

    title = "TensorFlow"
    has_graphs = True
    has_sparse_gradients = True

    def tensor(self, array: np.ndarray) -> Any:
        """Convert an array to a tensor."""
        return tf.constant(array)

    def is_tensor(self, value: Any) -> bool:
        """Say whether it is one of TensorFlow."""
        return bool(tf.is_tensor(value))

    def differentiate(
        self,
        call: Callable[[Any], Any],
        given: Any,
        variables: Sequence[Any] = (),
        *,
        wanted: bool = True,
    ) -> tuple[Any, list[Any] | None]:
        """Call it below a tape."""
        floats = [each for each in tf.nest.flatten(given) if each.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            value = call(given)
            totals = [_weighted(part) for part in tf.nest.flatten(value)]
            totals = [total for total in totals if total is not None]
        if not wanted or not totals:
            return value, None
        return value, list(tape.gradient(totals, [*floats, *map(_inner, variables)]))

    def compiled(self, name: str, call: Callable[[Any], Any], given: Any) -> dict[str, Any]:
        """Call it in a graph."""
        return {f"{name}{IN_A_GRAPH}": tf.function(call)(given)}


def _inner(variable: Any) -> Any:
    """Return TensorFlow's own variable, which gradient tapes track."""
    is_of_keras_3 = type(variable).__module__.startswith("keras.")
    return getattr(variable, "value", variable) if is_of_keras_3 else variable


def _weighted(part: Any) -> Any:
    """Return a weighted sum, to take the gradient of every element; None if it is not floating."""
    tensor = tf.convert_to_tensor(part)
    if not tensor.dtype.is_floating:
        return None
    return tf.reduce_sum(tensor * tf.cast(draws.direction(tuple(tensor.shape)), tensor.dtype))
