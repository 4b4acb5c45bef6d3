"""What stands for the old side of a rewrite: Keras 2, or who else knows what an old name did."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf
import tf_keras
from tf_keras.src import backend as whole_backend

_PREFIX = "keras.backend."


@dataclass(frozen=True, slots=True)
class Oracle:
    """A function that does what the old name did, and where we have that from."""

    call: Callable[..., Any]
    source: str


def _set_image_dim_ordering(dim_ordering: str) -> None:
    formats = {"tf": "channels_last", "th": "channels_first"}
    tf_keras.backend.set_image_data_format(formats[dim_ordering])


def _size(x: Any) -> Any:
    return tf.size(x)


def _slice(x: Any, start: Any, size: Any) -> Any:
    return tf.slice(x, start, size)


# Names that no Keras had, or none that runs on this TensorFlow.
_OTHERS: dict[str, Oracle] = {
    "add": Oracle(tf.math.add, "tf.math.add (no Keras had it)"),
    "subtract": Oracle(tf.math.subtract, "tf.math.subtract (no Keras had it)"),
    "multiply": Oracle(tf.math.multiply, "tf.math.multiply (no Keras had it)"),
    "divide": Oracle(tf.math.truediv, "tf.math.truediv (no Keras had it)"),
    "matmul": Oracle(tf.linalg.matmul, "tf.linalg.matmul (no Keras had it)"),
    "get_variable_shape": Oracle(
        whole_backend.int_shape, "tf_keras' K.int_shape, as keras 2.2.4 defines it"
    ),
    "is_tensor": Oracle(tf.is_tensor, "tf.is_tensor, as keras 2.3.1 defines it"),
    "is_variable": Oracle(
        lambda x: isinstance(x, tf.Variable),
        "isinstance(x, tf.Variable), as keras 2.3.1 defines it",
    ),
    "size": Oracle(_size, "tf.size, as keras 2.3.1 defines it"),
    "slice": Oracle(_slice, "tf.slice, as keras 2.3.1 defines it"),
    "set_image_dim_ordering": Oracle(
        _set_image_dim_ordering, "tf_keras' set_image_data_format, as keras 2.2.4 defines it"
    ),
}


def oracle_for(name: str) -> Oracle | None:
    """Return who knows what ``keras.backend.<name>`` did; None where nobody here does."""
    if not name.startswith(_PREFIX):
        return None
    leaf = name.removeprefix(_PREFIX)
    if hasattr(tf_keras.backend, leaf):
        return Oracle(getattr(tf_keras.backend, leaf), f"tf_keras {tf_keras.__version__}")
    if leaf in _OTHERS:
        return _OTHERS[leaf]
    if hasattr(whole_backend, leaf):
        source = f"tf_keras {tf_keras.__version__} (its private tf_keras.src.backend)"
        return Oracle(getattr(whole_backend, leaf), source)
    return None


# What can be seen of functions whose result says nothing.


def _name_inside(scope: contextlib.AbstractContextManager[Any]) -> str:
    with tf.Graph().as_default(), scope:
        return str(tf.constant(0.0).op.name)


OBSERVE: dict[str, Callable[[Any], Any]] = {"name_scope": _name_inside}

OLD_STATE: dict[str, Callable[[], Any]] = {
    "set_image_dim_ordering": tf_keras.backend.image_data_format
}
NEW_STATE: dict[str, Callable[[], Any]] = {"set_image_dim_ordering": keras.config.image_data_format}


def reset_state() -> None:
    """Bring the settings and counters of both Keras to where they start."""
    tf_keras.backend.set_image_data_format("channels_last")
    keras.config.set_image_data_format("channels_last")
    whole_backend.reset_uids()
    keras.utils.clear_session()
