"""Compare a definition with Keras 2's, told which by its name."""

from __future__ import annotations

from typing import Any

from kdoctor.verify.keras_2_code import (
    caches,
    classes,
    functions,
    losses,
    preprocessing_layers,
    random_layers,
    recorded,
)
from kdoctor.verify.keras_2_code.comparing import compare_calls


def compare(code: str, new: Any) -> None:
    """Compare a definition with that of Keras 2.

    Raises:
        AssertionError: they differ, and for which input.
    """
    drawn = {**functions.DRAWS, **losses.DRAWS}.get(code)
    modules = (caches, classes, losses, preprocessing_layers, random_layers, recorded)
    check = {name: each for one in modules for name, each in one.CHECKS.items()}.get(code)
    if drawn is None and check is None:
        raise KeyError(code)
    if drawn is not None:
        compare_calls(drawn[0], new, drawn[1])
    if check is not None:
        check(new)
