"""How each backend of Keras makes tensors, takes gradients and compiles a call."""

from __future__ import annotations

import importlib
from typing import Any

from .backend import Backend

TENSORFLOW, JAX, TORCH = "tensorflow", "jax", "torch"
_CLASSES = {
    TENSORFLOW: (".on_tensorflow", "TensorFlowBackend"),
    JAX: (".on_jax", "JaxBackend"),
    TORCH: (".on_torch", "TorchBackend"),
}


def backend_named(name: str) -> Backend:
    """Return a backend; its framework is imported here."""
    module, found = _CLASSES[name]
    made: Any = getattr(importlib.import_module(module, __package__), found)()
    assert isinstance(made, Backend)
    return made
