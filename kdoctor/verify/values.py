"""Input values of proofs: arrays that become tensors of any framework."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

# The types that Keras 2 code computes in. 8- and 16-bit integers are not among them: Keras 2 lets
# their sums overflow, Keras 3 widens them.
FLOATS = ("float32", "float64", "float16", "bfloat16")
HALVES = ("float16", "bfloat16")
INTEGERS = ("int32", "int64")
DTYPES = (*FLOATS, *INTEGERS, "bool")

# Tolerances: both sides may add up in a different order. Relative to the value, to 1, or to a tenth
# of the largest number in the result (to all of it for 16 bits), whichever is largest; by the least
# precise dtype involved.
TOLERANCES = {"float64": 1e-10, "float32": 2e-5, "float16": 3e-2, "bfloat16": 6e-2}


class Role(enum.StrEnum):
    """The form in which an array is passed."""

    TENSOR = "tensor"
    NUMPY = "numpy"
    VARIABLE = "variable"
    SPARSE = "sparse"


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    """An input that holds numbers."""

    data: np.ndarray[Any, Any]
    role: Role = Role.TENSOR

    @property
    def dtype(self) -> str:
        """The name of its dtype, including ``bfloat16``."""
        return str(self.data.dtype.name)

    def __repr__(self) -> str:
        numbers = np.array2string(
            self.data.astype("float64") if self.data.dtype != bool else self.data,
            separator=", ", threshold=8, precision=4,
        ).replace("\n", "")  # fmt: skip
        return f"{self.role}({self.dtype}, {self.data.shape}, {numbers})"


@dataclass(frozen=True, slots=True)
class Function:
    """A function passed as an argument, with its source text."""

    text: str
    call: Callable[..., Any]

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Returning:
    """A function without parameters, passed as an argument, that returns an input."""

    result: Array

    def __repr__(self) -> str:
        return f"lambda: {self.result!r}"


def as_dtype(name: str) -> np.dtype[Any]:
    """Return the NumPy dtype of a name; ``bfloat16`` comes from ml_dtypes."""
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def arrays_in(value: object) -> list[Array]:
    """Return the arrays of a value (an array, a list of them, anything else), in order."""
    if isinstance(value, Array):
        return [value]
    if isinstance(value, Returning):
        return [value.result]
    if isinstance(value, list | tuple):
        return [array for item in value for array in arrays_in(item)]
    return []


def with_arrays(value: object, make: Callable[[Array], object]) -> object:
    """Return the value with ``make`` applied to each array."""
    if isinstance(value, Array):
        return make(value)
    if isinstance(value, Function):
        return value.call
    if isinstance(value, Returning):
        result = make(value.result)
        return lambda: result
    if isinstance(value, list | tuple):
        return type(value)(with_arrays(item, make) for item in value)
    return value
