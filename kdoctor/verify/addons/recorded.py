"""The record of what ``tensorflow_addons`` gave, and how a result is held to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import keras
import numpy as np

from kdoctor.verify.addons.cases import SCENARIOS
from kdoctor.verify.addons.scenarios import Side

RESULTS = Path(__file__).with_name("results.json")
_RELATIVE, _ABSOLUTE = 1e-4, 1e-5


def compare(code: str, new: Callable[..., Any]) -> None:
    """Hold what stands for a name of ``tensorflow_addons`` to all that was recorded of it.

    Raises:
        AssertionError: it gives something else, and where.
    """
    import tensorflow as tf  # noqa: PLC0415 - other backends do without

    keras.utils.clear_session()
    compare_with(recorded_in(RESULTS)[code], SCENARIOS[code](Side(new, keras, tf)), code)


def compare_with(known: dict[str, Any], found: Iterable[tuple[str, Any]], code: str) -> None:
    """Hold results to the recorded ones.

    Raises:
        AssertionError: one is something else, or missing.
    """
    asked = set()
    for about, result in found:
        asked.add(about)
        problem = next(differences(known[about], result), "")
        assert not problem, f"{code}, {about}: {problem}"
    assert asked == set(known), f"{code}: {sorted(asked ^ set(known))}"


@cache
def recorded_in(path: Path) -> dict[str, dict[str, Any]]:
    """Return the recorded results by name."""
    recorded: dict[str, Any] = json.loads(path.read_text("utf-8"))
    results: dict[str, dict[str, Any]] = recorded["results"]
    return results


def differences(known: Any, found: Any) -> Iterator[str]:
    """Yield how a result differs from the recorded one."""
    if not isinstance(known, dict):
        if known != found and not (
            isinstance(known, float) and np.isclose(known, found, rtol=_RELATIVE)
        ):
            yield f"{known!r} -> {found!r}"
        return
    dtype = found.dtype if hasattr(found, "dtype") else np.asarray(found).dtype
    array = np.asarray(found)
    name = keras.backend.standardize_dtype(dtype)
    if (name, list(array.shape)) != (known["dtype"], known["shape"]):
        yield f"{known['dtype']} {known['shape']} -> {name} {list(array.shape)}"
        return
    old = np.array(known["data"], "float64").reshape(known["shape"])
    new = array.astype("float64")
    if not np.allclose(old, new, rtol=_RELATIVE, atol=_ABSOLUTE, equal_nan=True):
        yield f"{old} -> {new}"
