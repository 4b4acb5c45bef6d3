"""JAX: gradients by ``jax.grad``, and calls compiled by ``jax.jit``, as Keras compiles training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import draws, masks
from .backend import COMPILED, Backend, leaves, with_tensors
from .tensorflow_calls import CallsOfTensorFlow


class JaxBackend(CallsOfTensorFlow, Backend):
    """JAX. What a call does to variables is kept apart, where it is traced."""

    title = "JAX"
    narrowed = frozenset({("float64", "float32")})
    compiles_calls = True

    def tensor(self, array: np.ndarray) -> Any:
        """Convert an array to a tensor."""
        return self.watched(jnp.asarray(array))

    def is_tensor(self, value: Any) -> bool:
        """Say whether it is one of JAX."""
        return isinstance(value, jax.Array)

    def differentiate(
        self,
        call: Callable[[Any], Any],
        given: Any,
        variables: Sequence[Any] = (),
        *,
        wanted: bool = True,
    ) -> tuple[Any, list[Any] | None]:
        """Differentiate the traced call, then call it once more for its value and its effects."""
        gradients = self._gradients(call, given, variables) if wanted else None
        return call(given), gradients

    def _gradients(
        self, call: Callable[[Any], Any], given: Any, variables: Sequence[Any]
    ) -> list[Any] | None:
        import keras

        parts = leaves(given)
        places = [n for n, each in enumerate(parts) if jnp.issubdtype(each.dtype, jnp.floating)]
        floats = [parts[place] for place in places]
        are_floating: list[bool] = []

        def total(tensors: list[Any], values: list[Any]) -> Any:
            for place, tensor in zip(places, tensors):  # noqa: B905 - strict= is of Python 3.10
                masks.hand_on(parts[place], self.watched(tensor))
            state = list(zip(variables, values))  # noqa: B905
            with keras.StatelessScope(state):
                terms = [
                    _weighted(part) for part in leaves(call(with_tensors(given, places, tensors)))
                ]
            terms = [each for each in terms if each is not None]
            are_floating.append(bool(terms))
            return sum(terms, jnp.float32(0))

        values = [jnp.asarray(each.value) for each in variables]
        found = jax.grad(total, argnums=(0, 1))(floats, values) if floats or values else ([], [])
        return [*found[0], *found[1]] if are_floating and all(are_floating) else None

    def compiled(self, name: str, call: Callable[[Any], Any], given: Any) -> dict[str, Any]:
        """Call it below ``jax.jit``."""
        import keras

        kept: list[Any] = []

        def traced(tensors: list[Any]) -> list[Any]:
            for before, tensor in zip(parts, tensors):  # noqa: B905
                masks.hand_on(before, self.watched(tensor))
            with keras.StatelessScope():
                value = call(with_tensors(given, range(len(parts)), tensors))
            flat, structure = jax.tree_util.tree_flatten(value)
            kept[:] = [flat, structure]
            return [each for each in flat if isinstance(each, jax.Array)]

        parts = leaves(given)
        numbers = iter(jax.jit(traced)(parts))
        flat, structure = kept
        flat = [next(numbers) if isinstance(each, jax.Array) else each for each in flat]
        return {f"{name}{COMPILED}": jax.tree_util.tree_unflatten(structure, flat)}


def _weighted(part: Any) -> Any:
    """Return a weighted sum, to take the gradient of every element; None if it is not floating."""
    if part is None:
        return None
    tensor = jnp.asarray(part)
    if not jnp.issubdtype(tensor.dtype, jnp.floating):
        return None
    direction = jnp.asarray(draws.direction(tuple(tensor.shape)), tensor.dtype)
    return jnp.sum(tensor * direction).astype("float32")
