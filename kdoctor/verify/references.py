"""References for the old side of a rewrite: Keras 2, or a replacement for an old name."""

from __future__ import annotations

import contextlib
import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import keras
import tensorflow as tf
import tf_keras
from tf_keras.src import backend as whole_backend

from kdoctor.verify.keras_2 import keras_2
from kdoctor.verify.old_results import check_recorded

_KERAS_2 = f"tf_keras {tf_keras.__version__}"


@dataclass(frozen=True, slots=True)
class Oracle:
    """A function that behaves like the old name, and its source."""

    call: Callable[..., Any]
    source: str


def _set_image_dim_ordering(dim_ordering: str) -> None:
    formats = {"tf": "channels_last", "th": "channels_first"}
    tf_keras.backend.set_image_data_format(formats[dim_ordering])


def _image_dim_ordering() -> str:
    names = {"channels_last": "tf", "channels_first": "th"}
    return names[tf_keras.backend.image_data_format()]


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
    "where": Oracle(tf.where, "tf.where (no Keras had it)"),
    "matmul": Oracle(tf.linalg.matmul, "tf.linalg.matmul (no Keras had it)"),
    "get_variable_shape": Oracle(whole_backend.int_shape, "tf_keras' K.int_shape"),
    "is_tensor": Oracle(tf.is_tensor, "tf.is_tensor"),
    "is_variable": Oracle(
        lambda x: isinstance(x, tf.Variable),
        "isinstance(x, tf.Variable)",
    ),
    "size": Oracle(_size, "tf.size"),
    "slice": Oracle(_slice, "tf.slice"),
    "image_dim_ordering": Oracle(_image_dim_ordering, "tf_keras' image_data_format"),
    "set_image_dim_ordering": Oracle(_set_image_dim_ordering, "tf_keras' set_image_data_format"),
}


def oracle_for(name: str, parameters: Iterable[str] = ()) -> Oracle | None:
    """Return the reference for an old ``name``; None if there is none.

    TensorFlow 1 had some functions with other parameters: ``parameters`` tell them apart.
    """
    for root, find in _BY_ROOT.items():
        if name.startswith(root):
            return find(name.removeprefix(root), frozenset(parameters))
    return None


def _of_the_backend(name: str, _: frozenset[str]) -> Oracle | None:
    """Return the Keras 2 function or its replacement, checked against recorded results.

    Raises:
        Contradicted: a recorded result differs.
    """
    found = _in_keras_2(name)
    if found is None:
        return None
    held = check_recorded(
        name, _then(found.call, OLD_STATE[name]) if name in OLD_STATE else found.call
    )
    return replace(found, source=f"{found.source}, {held}") if held else found


def _then(call: Callable[..., Any], state: Callable[[], Any]) -> Callable[..., Any]:
    def observed(**arguments: Any) -> Any:
        call(**arguments)
        return state()

    return observed


def _in_keras_2(name: str) -> Oracle | None:
    if hasattr(tf_keras.backend, name):
        return Oracle(getattr(tf_keras.backend, name), _KERAS_2)
    if name in _OTHERS:
        return _OTHERS[name]
    if hasattr(whole_backend, name):
        source = f"{_KERAS_2} (its private tf_keras.src.backend)"
        return Oracle(getattr(whole_backend, name), source)
    return None


def _of_keras_2(name: str, _: frozenset[str]) -> Oracle | None:
    with keras_2():
        found = _looked_up("keras", name)
    return Oracle(found, _KERAS_2) if callable(found) else None


def _einsum(equation: str, **operands: Any) -> Any:
    return tf.einsum(equation, *operands.values())  # positional only


def _of_tensorflow(name: str, parameters: frozenset[str]) -> Oracle | None:
    if name == "einsum":
        return Oracle(_einsum, f"tensorflow {tf.__version__}")
    for root, where in (("tensorflow", ""), ("tensorflow.compat.v1", " (tf.compat.v1)")):
        found = _looked_up(root, name)
        if callable(found) and _takes(found, parameters):
            return Oracle(found, f"tensorflow {tf.__version__}{where}")
    return None


def _of_a_framework(root: str) -> Callable[[str, frozenset[str]], Oracle | None]:
    """Return what finds a function of JAX or PyTorch; its operands have names of our own."""

    def find(name: str, _: frozenset[str]) -> Oracle | None:
        found = _looked_up(root, name)
        if not callable(found):
            return None
        version = importlib.import_module(root).__version__
        return Oracle(_by_position(found, name), f"{root} {version}")

    return find


def _by_position(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a function that passes its operands by position, if it takes them by no keyword."""
    operands = _OPERANDS.get(name.rpartition(".")[2], ("x", "y", "first", "second"))

    def call(**arguments: Any) -> Any:
        first = [arguments.pop(each) for each in operands if each in arguments]
        return function(*first, **arguments)

    return call


_OPERANDS = {
    "einsum": ("equation", "operand", "first", "second"),
    "where": ("condition", "x", "y"),
    "clip": ("arr",),
}


def _looked_up(root: str, path: str) -> Any:
    """Return the object at a dotted path, or None."""
    found: Any = importlib.import_module(root)
    dotted = root
    for part in path.split("."):
        dotted = f"{dotted}.{part}"
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = importlib.import_module(dotted)
            except ImportError:
                return None
    return found


def _takes(function: Callable[..., Any], parameters: frozenset[str]) -> bool:
    try:
        known = inspect.signature(function).parameters
    except ValueError:
        return True
    return parameters <= set(known)


# Which framework an old name belongs to; the longest root first.
_BY_ROOT: dict[str, Callable[[str, frozenset[str]], Oracle | None]] = {
    "tensorflow.keras.backend.": _of_the_backend,
    "keras.backend.": _of_the_backend,
    "tensorflow.keras.": _of_keras_2,
    "keras.": _of_keras_2,
    "tensorflow.": _of_tensorflow,
    "jax.": _of_a_framework("jax"),
    "torch.": _of_a_framework("torch"),
}


# Observations of functions whose own result says nothing.


def _name_inside(scope: contextlib.AbstractContextManager[Any]) -> str:
    with tf.Graph().as_default(), scope:
        return str(tf.constant(0.0).op.name)


OBSERVE: dict[str, Callable[[Any], Any]] = {"name_scope": _name_inside}

OLD_STATE: dict[str, Callable[[], Any]] = {
    "set_image_dim_ordering": tf_keras.backend.image_data_format
}
NEW_STATE: dict[str, Callable[[], Any]] = {"set_image_dim_ordering": keras.config.image_data_format}


@contextlib.contextmanager
def floats_of(name: str) -> Iterator[None]:
    """Set the default float dtype of both Keras versions, as a program may do."""
    setters = (keras.config.set_floatx, tf_keras.backend.set_floatx)
    before = keras.config.floatx()
    for each in setters:
        each(name)
    try:
        yield
    finally:
        for each in setters:
            each(before)


def reset_state() -> None:
    """Reset the settings and counters of both Keras versions."""
    tf_keras.backend.set_image_data_format("channels_last")
    keras.config.set_image_data_format("channels_last")
    whole_backend.reset_uids()
    keras.utils.clear_session()
