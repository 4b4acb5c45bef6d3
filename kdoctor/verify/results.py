"""What a run gave, in plain data that any framework's results come down to."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Result:
    """A result taken apart. ``kind`` is what sort of object it is, and so how it may be used.

    An array can be changed in place, a number of NumPy cannot, and is a key of a dict.
    """

    kind: str
    dtype: str = ""
    data: Any = None
    parts: tuple[Result, ...] = ()


class Different(Exception):
    """Two results differ, and in what."""

    def __init__(self, what: str, detail: str) -> None:
        super().__init__(f"{what}: {detail}")
        self.what = what


def taken_apart(value: object) -> Result:
    """Take a result of any framework apart."""
    import keras  # noqa: PLC0415 - where results are only read, there may be no backend

    if isinstance(value, keras.Variable):
        numbers = keras.ops.convert_to_numpy(value)
        return Result("variable", keras.backend.standardize_dtype(value.dtype), numbers)
    # What nobody imported in this process made nothing in it: elsewhere there is no TensorFlow.
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
            return Result("TensorShape", parts=tuple(taken_apart(item) for item in value))
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
            return Result(kind, parts=tuple(taken_apart(item) for item in value))
    if keras.ops.is_tensor(value):
        numbers = keras.ops.convert_to_numpy(value)
        return Result("tensor", keras.backend.standardize_dtype(_dtype_of(value)), numbers)
    return Result(type(value).__name__, data=value)


def _dtype_of(tensor: Any) -> Any:
    return tensor.dtype


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run gave: the result, gradients by input (None: not connected), variables' values."""

    result: Result
    gradients: tuple[Result | None, ...]
    variables: tuple[Result, ...]
