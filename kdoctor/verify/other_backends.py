"""Run the new side on JAX or PyTorch, as ``frameworks`` does on TensorFlow.

The old side still runs on TensorFlow, the only backend of Keras 2. This module does not need it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np

from kdoctor.verify.bind_inputs import WEIGHTS, batched, bind, check_promise
from kdoctor.verify.results import Ran, to_result
from kdoctor.verify.values import FLOATS, Array, Role, arrays_in

Call = Callable[[dict[str, Any]], Any]

# The modes of the new side: JAX has no graphs with an unknown batch, and PyTorch runs functions
# eagerly.
MODES = ("eager", "function", "symbolic", "symbolic_batch")


@dataclass(frozen=True, slots=True)
class _Inputs:
    """The inputs: ``free`` arrays become tensors, those in ``ready`` are passed as they are."""

    given: dict[str, Any]
    free: list[tuple[str, Array]]
    ready: dict[int, Any]
    variables: list[keras.Variable]

    def applied(self, call: Call, tensors: Sequence[Any]) -> Any:
        """Call the new side with these tensors in place of the free arrays."""
        inputs = self.ready | {
            id(array): tensor for (_, array), tensor in zip(self.free, tensors, strict=True)
        }
        result = call(bind(self.given, inputs))
        if any(result is variable for variable in self.variables):
            return keras.ops.convert_to_tensor(result)
        return result


def run_on_backend(mode: str, call: Call, given: dict[str, Any]) -> Ran:
    """Run the new side on the backend of this process; its errors propagate.

    Raises:
        Different: the shape of a symbolic result contradicts the real one.
    """
    inputs = _inputs_of(given)
    if mode.startswith("symbolic"):
        result = _symbolic(mode, call, inputs)
        return Ran(to_result(result), (), tuple(map(to_result, inputs.variables)))
    fed = [keras.ops.convert_to_tensor(array.data) for _, array in inputs.free]
    if keras.backend.backend() == "torch":
        return _on_torch(call, inputs, fed)
    return _on_jax(call, inputs, fed, jit=mode == "function")


def _inputs_of(given: dict[str, Any]) -> _Inputs:
    arrays = [(name, array) for name, value in given.items() for array in arrays_in(value)]
    variables = {
        id(array): keras.Variable(array.data, dtype=array.dtype, trainable=array.dtype in FLOATS)
        for _, array in arrays
        if array.role is Role.VARIABLE
    }
    plain = {id(array): array.data for _, array in arrays if array.role is Role.NUMPY}
    free = [(name, array) for name, array in arrays if array.role is Role.TENSOR]
    return _Inputs(given, free, variables | plain, list(variables.values()))


def _symbolic(mode: str, call: Call, inputs: _Inputs) -> Any:
    movable = [(name, array) for name, array in inputs.free if name not in WEIGHTS]
    symbols = [
        keras.Input(
            batch_shape=batched(array, name, movable) if mode.endswith("batch")
            else array.data.shape,
            dtype=array.dtype,
        )
        for name, array in movable
    ]  # fmt: skip
    made = {id(array): symbol for (_, array), symbol in zip(movable, symbols, strict=True)}
    for name, array in inputs.free:
        if name in WEIGHTS:
            made[id(array)] = keras.ops.convert_to_tensor(array.data)
    outputs = inputs.applied(call, [made[id(array)] for _, array in inputs.free])
    if not any(isinstance(each, keras.KerasTensor) for each in keras.tree.flatten(outputs)):
        return outputs
    values = keras.Function(symbols, outputs)(
        [keras.ops.convert_to_tensor(array.data) for _, array in movable]
    )
    check_promise(outputs, values)
    return values


def _on_torch(call: Call, inputs: _Inputs, fed: list[Any]) -> Ran:
    import torch  # noqa: PLC0415 - this process has PyTorch

    sources = [tensor.requires_grad_() for tensor in fed if tensor.dtype.is_floating_point]
    sources += [v.value for v in inputs.variables if v.value.dtype.is_floating_point]
    outputs = inputs.applied(call, fed)
    loss = _weighted_sum(outputs)
    gradients: tuple[Any, ...] = ()
    if loss is not None and sources:
        gradients = (None,) * len(sources)
        if loss.requires_grad:
            gradients = torch.autograd.grad(loss, sources, allow_unused=True)
    return Ran(
        to_result(outputs),
        tuple(None if each is None else to_result(each) for each in gradients),
        tuple(map(to_result, inputs.variables)),
    )


def _on_jax(call: Call, inputs: _Inputs, fed: list[Any], *, jit: bool) -> Ran:
    import jax  # noqa: PLC0415 - this process has JAX

    variables = inputs.variables
    plain: list[Any] = []

    def compute(tensors: list[Any], values: list[Any]) -> Any:
        """Return the loss, and the tensors of the result with the variables' new values."""
        with keras.StatelessScope(list(zip(variables, values, strict=True))) as scope:
            outputs = inputs.applied(call, tensors)
            after = [scope.get_current_value(each) for each in variables]
        leaves = keras.tree.flatten(outputs)
        plain[:] = [outputs, [keras.ops.is_tensor(each) for each in leaves]]
        made = [each for each in leaves if keras.ops.is_tensor(each)]
        loss = _weighted_sum(outputs)
        return 0.0 if loss is None else loss, (made, [*after])

    values = [each.value for each in variables]
    if jit:
        _, (made, after) = jax.jit(compute)(fed, values)
        outputs = _put_back(plain[0], plain[1], made)
    else:
        outputs, after = inputs.applied(call, fed), variables
    gradients: tuple[Any, ...] = ()
    # Gradients need compilation, so they are taken only if the code is compiled anyway.
    if jit and _weighted_sum(outputs) is not None:
        gradients = _gradients_on_jax(compute, fed, values)
    return Ran(to_result(outputs), gradients, tuple(map(to_result, _as_variables(after))))


def _gradients_on_jax(compute: Any, fed: list[Any], values: list[Any]) -> tuple[Any, ...]:
    import jax  # noqa: PLC0415

    both = [*fed, *values]
    sources = [index for index, each in enumerate(both) if each.dtype.name in FLOATS]
    if not sources:
        return ()

    def loss_of(*moving: Any) -> Any:
        now = [*both]
        for index, each in zip(sources, moving, strict=True):
            now[index] = each
        return compute(now[: len(fed)], now[len(fed) :])[0]

    found = jax.jit(jax.grad(loss_of, argnums=tuple(range(len(sources)))))(
        *(both[index] for index in sources)
    )
    return tuple(map(to_result, found))


def _put_back(structure: Any, is_tensor: list[bool], made: list[Any]) -> Any:
    """Return the result of a traced call with numbers in place of the traced values."""
    numbers = iter(made)
    leaves = keras.tree.flatten(structure)
    flat = [
        next(numbers) if tensor else leaf for leaf, tensor in zip(leaves, is_tensor, strict=True)
    ]
    return keras.tree.pack_sequence_as(structure, flat)


def _as_variables(values: Sequence[Any]) -> list[Any]:
    return [
        each if isinstance(each, keras.Variable) else keras.Variable(each, dtype=each.dtype.name)
        for each in values
    ]


def _weighted_sum(outputs: Any) -> Any:
    """Return a weighted sum of all floating results, with a different weight for each number."""
    total = None
    for part in keras.tree.flatten(outputs):
        if not keras.ops.is_tensor(part):
            continue
        dtype = keras.backend.standardize_dtype(part.dtype)
        if dtype not in FLOATS:
            continue
        weights = np.linspace(0.5, 1.5, int(np.prod(part.shape))).reshape(tuple(part.shape))
        weighted = part * keras.ops.convert_to_tensor(weights, dtype)
        term = keras.ops.cast(keras.ops.sum(weighted), "float32")
        total = term if total is None else total + term
    return total
