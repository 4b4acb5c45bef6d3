"""Results of a run as plain data, the same for all frameworks."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Result:
    """A result as plain data. ``kind`` is the kind of object, which decides how it can be used.

    An array can be changed in place; a NumPy number cannot, but can be a key of a dict.
    """

    kind: str
    dtype: str = ""
    data: Any = None
    parts: tuple[Result, ...] = ()


class Different(Exception):
    """Two results differ; says in what respect."""

    def __init__(self, what: str, detail: str) -> None:
        super().__init__(f"{what}: {detail}")
        self.what = what


def to_result(value: object) -> Result:
    """Convert a result of any framework to plain data."""
    import keras  # noqa: PLC0415 - processes that only read results may have no backend

    if isinstance(value, keras.Variable):
        numbers = keras.ops.convert_to_numpy(value)
        return Result("variable", keras.backend.standardize_dtype(value.dtype), numbers)
    # A framework that was not imported made no results; TensorFlow may not even be installed.
    if tf := sys.modules.get("tensorflow"):
        if isinstance(value, tf.IndexedSlices):
            value = tf.convert_to_tensor(value)
        if isinstance(value, tf.SparseTensor):
            dense = tf.sparse.to_dense(tf.sparse.reorder(value))
            return Result("sparse tensor", value.dtype.name, dense.numpy())
        if isinstance(value, tf.Variable | tf.Tensor):
            kind = "variable" if isinstance(value, tf.Variable) else "tensor"
            return Result(kind, value.dtype.name, value.numpy())
        if isinstance(value, tf.TensorShape):
            return Result("TensorShape", parts=tuple(to_result(item) for item in value))
    match value:
        case np.ndarray():
            kind = "array" if value.flags.writeable else "read-only array"
            return Result(kind, value.dtype.name, value)
        case np.generic():
            return Result("NumPy number", value.dtype.name, np.asarray(value))
        case bool() | str() | None:
            return Result("value", data=value)
        case int():
            return Result("whole number", data=value)
        case float():
            return Result("number", data=value)
        case list() | tuple() | map():
            kind = type(value).__name__
            return Result(kind, parts=tuple(to_result(item) for item in value))
    if keras.ops.is_tensor(value):
        numbers = keras.ops.convert_to_numpy(value)
        return Result("tensor", keras.backend.standardize_dtype(_dtype_of(value)), numbers)
    return Result(type(value).__name__, data=value)


def _dtype_of(tensor: Any) -> Any:
    return tensor.dtype


@dataclass(frozen=True, slots=True)
class Ran:
    """A run: its result, gradients by input (None: not connected), and variables' values."""

    result: Result
    gradients: tuple[Result | None, ...]
    variables: tuple[Result, ...]
