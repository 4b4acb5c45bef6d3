"""How the backends of Keras 3 differ in running the new side of a rewrite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np

from kdoctor.verify import frameworks, other_backends
from kdoctor.verify.frameworks import NEW
from kdoctor.verify.jobs import DEFAULT_BACKEND, MODES
from kdoctor.verify.results import Different, Ran, Result
from kdoctor.verify.values import Array, arrays_in

Run = Callable[[str, Callable[[dict[str, Any]], Any], dict[str, Any]], Ran]

_NARROW = {"float64": "float32", "int64": "int32"}

# On JAX and PyTorch, Keras 3 computes in 32 bits by default, whatever the input dtype; PyTorch
# counts and indexes in 64.
_RETYPED = {
    DEFAULT_BACKEND: frozenset[tuple[str, str]](),
    "jax": frozenset(_NARROW.items()),
    "torch": frozenset([*_NARROW.items(), ("int32", "int64")]),
}

# What counts in 64 bits on PyTorch counts in 32 on TensorFlow.
_FROM_ANOTHER = frozenset([("int64", "int32")])

# Differences between the frameworks themselves, which are not the fault of a rewrite.
_AT_THE_EDGE = "numbers at NaN or infinity"
_GRADIENT_AT_THE_EDGE = "gradients at NaN, infinity, zero or between equal numbers"
_NO_KERNEL = "no kernel for these types on a CPU"
_RECIPROCAL = (
    "float16 divided by less than 1/65504: XLA multiplies by the reciprocal, which is infinite"
)


@dataclass(frozen=True, slots=True)
class Backend:
    """One backend: how it runs the new side, and how it changes dtypes.

    ``retyped`` holds pairs of dtypes: a result of the first on TensorFlow may have the second here.
    ``coarsest`` is the best precision that results can have. ``is_exact``: both sides run on
    TensorFlow, so that no difference is of the frameworks.
    """

    name: str
    run: Run
    modes: tuple[str, ...]
    retyped: frozenset[tuple[str, str]] = frozenset()
    coarsest: str = "float64"
    is_exact: bool = False

    def explains(
        self, problem: Exception, arguments: dict[str, Any], gradients: Sequence[Result | None] = ()
    ) -> str:
        """Return why a result differs through no fault of the rewrite; "" if no reason is known.

        On TensorFlow, which decides what is safe, nothing is explained away.
        """
        if self.is_exact:
            return ""
        if not isinstance(problem, Different):
            return _NO_KERNEL if "not implemented for" in str(problem) else ""
        found = [array.data for value in arguments.values() for array in arrays_in(value)]
        if not all(map(_is_finite, found)):
            return _GRADIENT_AT_THE_EDGE if gradients else _AT_THE_EDGE
        has_nan = any(each is not None and not _is_finite(each.data) for each in gradients)
        if gradients and (has_nan or any(map(_has_zeros_or_equals, found))):
            return _GRADIENT_AT_THE_EDGE
        return ""

    def explains_in_16_bits(self, arguments: dict[str, Any]) -> str:
        """Return why float16 may differ although 32 bits do not; "" if no reason is known.

        XLA turns ``x / y`` into a product with ``1 / y`` if ``y`` is broadcast to ``x``.
        """
        found = [array for value in arguments.values() for array in arrays_in(value)]
        too_small = any(array.dtype == "float16" and _has_no_reciprocal(array) for array in found)
        return _RECIPROCAL if self.name == "jax" and too_small else ""

    def derives(self, mode: str) -> bool:
        """Say whether gradients are compared in this mode."""
        return self.name != "jax" or mode != "eager"

    def narrowed(self, value: Any) -> Any:
        """Return an argument with its arrays narrowed to the widest dtypes that the backend has."""
        if isinstance(value, Array):
            wide = value.dtype
            new = _NARROW.get(wide, wide) if self.name == "jax" else wide
            return value if new == wide else Array(value.data.astype(np.dtype(new)), value.role)
        if isinstance(value, list | tuple):
            return type(value)(self.narrowed(each) for each in value)
        return value


def this_backend(old_side: str = "") -> Backend:
    """Return the backend of this process, which is fixed when Keras is imported.

    ``old_side`` is the framework of the old side, "" for TensorFlow.
    """
    name = keras.backend.backend()
    if name == DEFAULT_BACKEND:
        run: Run = lambda *job: frameworks.run(NEW, *job)  # noqa: E731
        if old_side:
            return Backend(name, run, MODES, _FROM_ANOTHER, "float32")
        return Backend(name, run, MODES, is_exact=True)
    return other_backend(name, other_backends.run_on_backend)


def other_backend(name: str, run: Run) -> Backend:
    """Return JAX or PyTorch; ``run`` runs the new side, here or on another machine."""
    return Backend(name, run, other_backends.MODES, _RETYPED[name], "float32")


def _is_finite(data: Any) -> bool:
    return bool(np.isfinite(np.asarray(data, "float64")).all())


def _has_zeros_or_equals(data: Any) -> bool:
    numbers = np.asarray(data, "float64")
    return bool((numbers == 0).any()) or np.unique(numbers).size < numbers.size


def _has_no_reciprocal(array: Array) -> bool:
    numbers = np.abs(np.asarray(array.data, "float64"))
    return bool(((numbers > 0) & (numbers < 1 / np.finfo("float16").max)).any())
