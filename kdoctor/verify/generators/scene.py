"""The state shared by the arguments of one case, and the generation of numbers."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kdoctor.verify.conditions import Conditions
from kdoctor.verify.values import FLOATS, INTEGERS, Array, Role, as_dtype

OMITTED = object()
FLAVOURS = ("ordinary", "ordinary", "ordinary", "special", "empty", "ones", "tiny")
_SPECIAL = (float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1e4, -1e4, 1e-7, 88.0)


@dataclass(slots=True)
class Scene:
    """State shared by the arguments of a case: dtype, shape, flavour, and values so far."""

    function: str
    rng: random.Random
    numbers: np.random.Generator
    conditions: Conditions
    dtype: str
    rank: int
    flavour: str
    values: dict[str, Any] = field(default_factory=dict)
    shape: tuple[int, ...] = ()
    # For images and similar data:
    layout: str = "channels_last"
    sizes: tuple[int, ...] = ()
    channels: int = 1
    needed: set[str] = field(default_factory=set)  # required parameters
    framework: str = ""  # "jax" or "torch", if the function is one of theirs

    def __post_init__(self) -> None:
        sizes = [1] if self.flavour == "ones" else [2, 3, 4]
        self.shape = tuple(self.rng.choice(sizes) for _ in range(self.rank))
        if self.flavour == "empty" and self.rank:
            self.shape = changed(self.shape, self.rng.randrange(self.rank), 0)

    def array(
        self,
        shape: tuple[int, ...] | None = None,
        dtype: str | None = None,
        role: str | None = None,
    ) -> Array:
        """Generate numbers of both signs with zeros, or with NaN, infinities and extremes."""
        shape = self.shape if shape is None else shape
        dtype = self.dtype if dtype is None else dtype
        data = self.numbers.normal(size=shape) * 2
        if dtype in INTEGERS:
            data = np.round(data * 3)
        data = np.where(self.numbers.random(shape) < 0.1, 0.0, data)
        if dtype in FLOATS and self.flavour == "special":
            special = self.numbers.choice(_SPECIAL, size=shape)
            data = np.where(self.numbers.random(shape) < 0.4, special, data)
        if dtype in FLOATS and self.flavour == "tiny":
            data *= 1e-7
        with np.errstate(over="ignore"):
            made = (data > 0) if dtype == "bool" else data.astype(as_dtype(dtype))
        return Array(np.asarray(made), Role(role or Role.TENSOR))

    def any_role(self, parameter: str) -> Role:
        """Pick the form of an argument: mostly a tensor, sometimes a variable or a NumPy array."""
        if "first_is_symbolic" in self.conditions.facts and not self.values:
            return Role.TENSOR
        if self.conditions.known(parameter, "no_tensor"):
            return Role.NUMPY
        if self.conditions.known(parameter, "no_array"):
            roles = [Role.TENSOR, Role.TENSOR, Role.VARIABLE]
            if self.conditions.known(parameter, "no_variable"):
                roles = roles[:1]
            return self.rng.choice(roles)
        if any(self.conditions.known(parameter, each) for each in _NO_VARIABLE):
            return Role.TENSOR
        if self.conditions.known(parameter, "is_tensor"):
            roles = [Role.TENSOR, Role.TENSOR, Role.VARIABLE]
            if self.conditions.known(parameter, "no_variable"):
                roles = roles[:1]
            return self.rng.choice(roles)
        if self.conditions.known(parameter, "no_variable"):
            return self.rng.choice([Role.TENSOR, Role.TENSOR, Role.NUMPY])
        if self.shape and self.dtype != "bool" and "nothing_sparse" not in self.conditions.facts:
            return self.rng.choices(list(Role), [22, 3, 3, 2])[0]
        return self.rng.choices([Role.TENSOR, Role.NUMPY, Role.VARIABLE], [8, 1, 1])[0]

    def an_axis(self) -> int:
        """Pick an axis, counted from either end."""
        return self.rng.randrange(-self.rank, self.rank) if self.rank else 0


_NO_VARIABLE = ("never_variable", "no_raw_variable")
Strategy = Callable[[Scene, str], Any]


def changed(shape: tuple[int, ...], axis: int, size: int) -> tuple[int, ...]:
    """Return a shape with a different size along one axis."""
    return (*shape[:axis], size, *shape[axis + 1 :])


def float_of(scene: Scene) -> str:
    """Return the scene's dtype if it is floating, else float32."""
    return scene.dtype if scene.dtype in FLOATS else "float32"
