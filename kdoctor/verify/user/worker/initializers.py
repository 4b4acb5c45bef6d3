"""Record what the weights of layers are initialized by, and draw many values of it.

A small weight does not tell a uniform distribution from a normal one.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
from typing import Any

from .chance import Spread, spread_of_many
from .frameworks import Side
from .measurement import plain

_MANY = 65_536  # values
# By the identity of a variable, which is kept, so that no other one gets it.
_USED: dict[int, tuple[Any, Any]] = {}
_KERAS: list[Any] = []


def watch(side: Side) -> None:
    """Record the initializer of each weight that a layer adds from now on."""
    _KERAS.append(side.keras)
    layer = side.keras.layers.Layer
    add_weight = layer.add_weight
    signature = inspect.signature(add_weight)

    @functools.wraps(add_weight)
    def recording(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = add_weight(self, *args, **kwargs)
        with contextlib.suppress(TypeError):
            given = signature.bind(self, *args, **kwargs).arguments
            _USED[id(made)] = (made, given.get("initializer") or "glorot_uniform")
        return made

    layer.add_weight = recording


def drawn(variable: Any) -> Spread | None:
    """Return the statistics of many values of a variable's initializer; None if unknown."""
    _, initializer = _USED.get(id(variable), (None, None))
    if initializer is None:
        return None
    shape = tuple(variable.shape)
    with contextlib.suppress(Exception):
        times = math.ceil(_MANY / max(1, math.prod(shape)))
        larger = (shape[0] * times, *shape[1:])
        values = plain(_KERAS[-1].initializers.get(initializer)(larger))
        return spread_of_many(values) if values.shape == larger else None
    return None
