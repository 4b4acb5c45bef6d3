"""Run a function eagerly or compiled, and compute gradients, on the backend in use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from kdoctor.verify.reference.results import Measured

Function = Callable[..., Any]

EAGERLY, COMPILED, WITH_XLA = "eagerly", "compiled", "compiled with XLA"

BACKEND: str = keras.backend.backend()
# The ways to run a plain function: JAX compiles only with XLA; PyTorch runs functions eagerly,
# whatever `compile` sets for a model.
WAYS = {
    "tensorflow": (EAGERLY, COMPILED, WITH_XLA),
    "jax": (EAGERLY, WITH_XLA),
    "torch": (EAGERLY,),
}[BACKEND]

# The relative error of a sum of a few hundred terms.
# Except on TensorFlow, Keras promotes float64 with anything to float32 (keras/src/backend/common/
# dtypes.py, BIT64_TO_BIT32_DTYPE).
_FLOAT64 = 1e-10 if BACKEND == "tensorflow" else 1e-6
TOLERANCES = {"float64": _FLOAT64, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
GRADIENT_TOLERANCE = 1e-5  # central differences in float64 with a step of 1e-6


def in_way(function: Function, way: str) -> Function:
    """Return the function, compiled if ``way`` requires it."""
    if way == EAGERLY:
        return function
    if BACKEND == "jax":
        import jax  # noqa: PLC0415 - the backend of this process

        return jax.jit(function)  # type: ignore[no-any-return]
    import tensorflow as tf  # noqa: PLC0415

    return tf.function(function, jit_compile=way == WITH_XLA)  # type: ignore[no-any-return]


def gradients(function: Function, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return the gradients of a scalar function with respect to all of its arguments."""
    tensors = [tensor(each) for each in arrays]
    if BACKEND == "tensorflow":
        import tensorflow as tf  # noqa: PLC0415

        with tf.GradientTape() as tape:
            tape.watch(tensors)
            value = function(*tensors)
        found = tape.gradient(value, tensors, unconnected_gradients="zero")
    elif BACKEND == "jax":
        import jax  # noqa: PLC0415

        found = jax.grad(function, argnums=tuple(range(len(tensors))))(*tensors)
    else:
        import torch  # noqa: PLC0415

        tensors = [each.detach().requires_grad_() for each in tensors]
        found = torch.autograd.grad(
            function(*tensors), tensors, allow_unused=True, materialize_grads=True
        )
    return [array(each) for each in found]


def finite_differences(
    function: Function, arrays: Sequence[NDArray[Any]], step: float = 1e-6
) -> list[NDArray[Any]]:
    """Return the gradients by central differences, (f(x + h) − f(x − h)) / 2h per element."""
    found = []
    for at, moved in enumerate(arrays):
        gradient = np.zeros(moved.shape)
        for index in np.ndindex(moved.shape):
            value = []
            for sign in (1.0, -1.0):
                there = [each.copy() for each in arrays]
                there[at][index] += sign * step
                value.append(float(array(function(*there))))
            gradient[index] = (value[0] - value[1]) / (2 * step)
        found.append(gradient)
    return found


def tensor(array: NDArray[Any]) -> Any:
    """Convert an array to a tensor of the same dtype; PyTorch would narrow float64 by default."""
    return keras.ops.convert_to_tensor(array, dtype=array.dtype.name)


def array(tensor: Any) -> NDArray[Any]:
    """Convert a tensor of this backend to a NumPy array."""
    return np.asarray(keras.ops.convert_to_numpy(tensor))


def difference(found: Any, expected: Any) -> float:
    """Return the largest difference, relative to the largest expected number if that is > 1.

    Raises:
        ValueError: the shapes differ; there is no broadcasting.
    """
    found, expected = array(found), np.asarray(expected, np.float64)
    if found.shape != expected.shape:
        raise ValueError(f"shape {found.shape} instead of {expected.shape}")
    if not expected.size:
        return 0.0
    scale = max(1.0, float(np.max(np.abs(expected))))
    return float(np.max(np.abs(found.astype(np.float64) - expected))) / scale


def measured(found: Any, expected: Any, dtype: str = "float32") -> Measured:
    """Return the difference with the tolerance of a dtype."""
    return Measured(difference(found, expected), TOLERANCES[dtype])


def worst(parts: Sequence[Measured]) -> Measured:
    """Return the part with the largest error relative to its tolerance."""
    return max(
        parts,
        key=lambda each: np.inf if np.isnan(each.error) else each.error / each.tolerance,
    )
