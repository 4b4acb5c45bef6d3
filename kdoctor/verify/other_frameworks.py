"""Run the old side of a rewrite of JAX's or PyTorch's own functions, in whatever process.

Keras has one backend in a process. JAX and PyTorch need no Keras: they run beside each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kdoctor.verify.bind_inputs import bind
from kdoctor.verify.results import Ran, Result, to_result
from kdoctor.verify.values import FLOATS, Array, Role, arrays_in, as_dtype

Call = Callable[[dict[str, Any]], Any]

_NARROW = {"float64": "float32", "int64": "int32"}


def framework_of(left: str) -> str:
    """Return the framework that a left side is of, "" for TensorFlow's and Keras' own."""
    root = left.partition(".")[0]
    return root if root in {"jax", "torch"} else ""


def run_on_framework(framework: str, call: Call, given: dict[str, Any]) -> Ran:
    """Run the old side on a framework, eagerly; its errors propagate."""
    if framework == "jax":
        return _on_jax(call, _Inputs.of(given, _JAX))
    return _on_torch(call, _Inputs.of(given, _TORCH))


def as_framework_has(framework: str, value: Any) -> Any:
    """Return an argument as the framework can have it: JAX computes in 32 bits."""
    if framework != "jax":
        return value
    if isinstance(value, Array):
        new = _NARROW.get(value.dtype, value.dtype)
        return value if new == value.dtype else Array(value.data.astype(new), value.role)
    if isinstance(value, list | tuple):
        return type(value)(as_framework_has(framework, each) for each in value)
    return value


@dataclass(frozen=True, slots=True)
class _Framework:
    """How a framework makes tensors of arrays, and results of tensors."""

    tensor: Callable[[Any], Any]
    is_tensor: Callable[[Any], bool]
    numbers: Callable[[Any], Any]


def _jax_tensor(data: Any) -> Any:
    import jax.numpy as jnp  # noqa: PLC0415 - not every process has it

    return jnp.asarray(data)


def _is_jax(value: Any) -> bool:
    import jax  # noqa: PLC0415

    return isinstance(value, jax.Array)


def _torch_tensor(data: Any) -> Any:
    import torch  # noqa: PLC0415

    if data.dtype.name == "bfloat16":
        return torch.from_numpy(data.astype("float32")).to(torch.bfloat16)
    return torch.from_numpy(np.array(data))


def _is_torch(value: Any) -> bool:
    import torch  # noqa: PLC0415

    return isinstance(value, torch.Tensor)


def _torch_numbers(value: Any) -> Any:
    name = str(value.dtype).removeprefix("torch.")
    if name == "bfloat16":
        return value.detach().float().numpy().astype(as_dtype(name))
    return value.detach().numpy()


_JAX = _Framework(_jax_tensor, _is_jax, np.asarray)
_TORCH = _Framework(_torch_tensor, _is_torch, _torch_numbers)


@dataclass(frozen=True, slots=True)
class _Inputs:
    """The inputs: tensors and variables are ``moving``, in this order; arrays pass as they are."""

    given: dict[str, Any]
    moving: list[Array]
    plain: dict[int, Any]
    tensors: list[Any]
    framework: _Framework

    @classmethod
    def of(cls, given: dict[str, Any], framework: _Framework) -> _Inputs:
        """Return the inputs that are made of arguments."""
        arrays = [array for value in given.values() for array in arrays_in(value)]
        if any(array.role is Role.SPARSE for array in arrays):
            raise TypeError("sparse tensors are TensorFlow's")
        moving = [each for each in arrays if each.role is Role.TENSOR]
        moving += [each for each in arrays if each.role is Role.VARIABLE]
        plain = {id(each): each.data for each in arrays if each.role is Role.NUMPY}
        return cls(given, moving, plain, [framework.tensor(e.data) for e in moving], framework)

    def applied(self, call: Call, tensors: Sequence[Any]) -> Any:
        """Call the old side with these tensors."""
        made = {id(array): tensor for array, tensor in zip(self.moving, tensors, strict=True)}
        return call(bind(self.given, self.plain | made))

    def ran(self, outputs: Any, gradients: Sequence[Any]) -> Ran:
        """Return a run: variables keep their values."""
        variables = [each for each in self.moving if each.role is Role.VARIABLE]
        return Ran(
            self.result(outputs),
            tuple(None if each is None else self.result(each) for each in gradients),
            tuple(Result("variable", each.dtype, each.data) for each in variables),
        )

    def result(self, value: Any) -> Result:
        """Return a value as plain data."""
        if isinstance(value, list | tuple):
            return Result(type(value).__name__, parts=tuple(map(self.result, value)))
        if self.framework.is_tensor(value):
            numbers = np.asarray(self.framework.numbers(value))
            return Result("tensor", numbers.dtype.name, numbers)
        if isinstance(value, np.ndarray):  # of an array `jnp.reshape` gives an array
            return Result("tensor", value.dtype.name, value)
        return to_result(value)


def _on_jax(call: Call, inputs: _Inputs) -> Ran:
    import jax  # noqa: PLC0415

    sources = [at for at, each in enumerate(inputs.tensors) if each.dtype.name in FLOATS]
    outputs: Any = None

    def floats(*moving: Any) -> list[Any]:
        nonlocal outputs
        tensors = [*inputs.tensors]
        for at, each in zip(sources, moving, strict=True):
            tensors[at] = each
        outputs = inputs.applied(call, tensors)
        leaves = [each for each in jax.tree.leaves(outputs) if _is_jax(each)]
        return [each for each in leaves if each.dtype.name in FLOATS]

    if not sources:
        floats()
        return inputs.ran(outputs, ())
    made, derive = jax.vjp(floats, *(inputs.tensors[at] for at in sources))
    weights = [jax.numpy.asarray(_weights(each.shape), each.dtype) for each in made]
    gradients = derive(weights) if made else ()
    return inputs.ran(inputs.applied(call, inputs.tensors), gradients)


def _on_torch(call: Call, inputs: _Inputs) -> Ran:
    import torch  # noqa: PLC0415

    sources = [each.requires_grad_() for each in inputs.tensors if each.dtype.is_floating_point]
    outputs = inputs.applied(call, inputs.tensors)
    total: Any = None
    for each in outputs if isinstance(outputs, list | tuple) else [outputs]:
        if _is_torch(each) and each.dtype.is_floating_point:
            weights = torch.from_numpy(_weights(each.shape)).to(each.dtype)
            term = (each * weights).sum().to(torch.float64)
            total = term if total is None else total + term
    gradients: Sequence[Any] = ()
    if total is not None and sources:
        gradients = (None,) * len(sources)
        if total.requires_grad:
            gradients = torch.autograd.grad(total, sources, allow_unused=True)
    return inputs.ran(outputs, gradients)


def _weights(shape: Sequence[int]) -> Any:
    return np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(tuple(shape))
