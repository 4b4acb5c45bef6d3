"""PyTorch: gradients by ``torch.autograd``; nothing is compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from . import draws, masks
from .backend import Backend, leaves, with_tensors
from .tensorflow_calls import CallsOfTensorFlow


class TorchBackend(CallsOfTensorFlow, Backend):
    """PyTorch, which runs eagerly."""

    title = "PyTorch"
    narrowed = frozenset({("float64", "float32")})

    def tensor(self, array: np.ndarray) -> Any:
        """Convert an array to a tensor, which has its own memory."""
        return self.watched(torch.tensor(array))

    def is_tensor(self, value: Any) -> bool:
        """Say whether it is one of PyTorch."""
        return isinstance(value, torch.Tensor)

    def differentiate(
        self,
        call: Callable[[Any], Any],
        given: Any,
        variables: Sequence[Any] = (),
        *,
        wanted: bool = True,
    ) -> tuple[Any, list[Any] | None]:
        """Call it with tensors that record what becomes of them."""
        if not wanted:
            return call(given), None
        parts = leaves(given)
        places = [n for n, each in enumerate(parts) if each.is_floating_point()]
        floats = [parts[place].detach().clone().requires_grad_() for place in places]
        for place, tensor in zip(places, floats):  # noqa: B905 - strict= is of Python 3.10
            masks.hand_on(parts[place], tensor)
        value = call(with_tensors(given, places, floats))
        terms = [_weighted(part) for part in leaves(value)]
        terms = [each for each in terms if each is not None]
        if not terms:
            return value, None
        sources = [*floats, *(each.value for each in variables)]
        total = sum(terms[1:], terms[0])
        if not sources or not total.requires_grad:
            return value, [None] * len(sources)
        return value, list(torch.autograd.grad(total, sources, allow_unused=True))

    def compiled(self, name: str, call: Callable[[Any], Any], given: Any) -> dict[str, Any]:
        """Return nothing."""
        del name, call, given
        return {}


def _weighted(part: Any) -> Any:
    """Return a weighted sum, to take the gradient of every element; None if it is not floating."""
    if part is None:
        return None
    tensor = torch.as_tensor(part)
    if not tensor.is_floating_point():
        return None
    direction = torch.as_tensor(draws.direction(tuple(tensor.shape)), dtype=tensor.dtype)
    return (tensor * direction).sum().to(torch.float32)
