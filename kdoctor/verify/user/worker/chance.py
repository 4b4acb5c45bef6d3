"""Statistics of random values over many calls: mean, variance, share of zeros, shared draws."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

_GROUPS, _FAST_CALLS, _CALLS, _SLOW_CALLS = 8, 25, 5, 2  # groups of calls, and calls in each
_FAST, _SLOW, _TOO_SLOW = 0.005, 0.05, 0.4  # CPU seconds of one call
_ERRORS = 7.0  # standard errors by which the sides may differ
_ERRORS_OF_PRODUCTS = 10.0  # whose distribution has long tails
_OF_SIZE = 1e-3  # relative difference that is also allowed
_MIN_VALUES = 16  # values of a weight, for its distribution
_MAX_VALUES = 200_000  # in one call


def _told(before: object, after: object) -> str:
    return f"{before} on Keras 2, {after} on Keras 3"


@dataclass
class Spread:
    """Named statistics of a random value, each with its standard error."""

    found: dict[str, tuple[float, float]]

    def apart(self, other: Spread, told: Callable[[object, object], str] = _told) -> str:
        """Describe the first statistic that differs, as told; "" if none does."""
        for name, (mean, error) in self.found.items():
            if name not in other.found:
                return f"{name}: {told(f'{mean:.4g}', 'none')}"
            mine, its = other.found[name]
            if not np.isfinite([mean, mine]).all():
                if str(mean) != str(mine):
                    return f"{name}: {told(f'{mean:.4g}', f'{mine:.4g}')}"
                continue
            errors = _ERRORS_OF_PRODUCTS if name.startswith("covariance") else _ERRORS
            allowed = errors * float(np.hypot(error, its)) + _OF_SIZE * abs(mean) + 1e-6
            if abs(mean - mine) > allowed:
                return f"{name}: {told(f'{mean:.4g}', f'{mine:.4g}')}"
        return ""


def spread_of_calls(call: Callable[[], list[Any]]) -> Spread | None:
    """Return statistics of a function's results over many calls; None if that takes too long.

    Each group of calls gives one value of each statistic. Their variation between groups gives the
    standard error, even if the values of one call are correlated.
    """
    groups: dict[str, list[float]] = {}
    taken = _seconds(call)
    if taken > _TOO_SLOW:
        return None
    if taken > _FAST:
        taken = min(taken, _seconds(call))  # the first call of all may build a lot
    count = _SLOW_CALLS if taken > _SLOW else _CALLS if taken > _FAST else _FAST_CALLS
    for _ in range(_GROUPS):
        results = [_of_numbers(call()) for _ in range(count)]
        for number, (place, first) in enumerate(results[0].items()):
            several = [each[place] for each in results if place in each]
            if len(several) < count or any(each.shape != first.shape for each in several):
                continue
            if first.size > _MAX_VALUES or not first.size:
                return None
            values = np.stack(several)
            at = f" of {place}" if number else ""
            with np.errstate(all="ignore"):
                groups.setdefault(f"mean{at}", []).append(float(values.mean()))
                variance = float(values.var(axis=0, ddof=1).mean())
                groups.setdefault(f"variance{at}", []).append(variance)
                groups.setdefault(f"share of zeros{at}", []).append(float((values == 0).mean()))
                for name, value in _shape_of(values):
                    groups.setdefault(f"{name}{at}", []).append(value)
    found = {
        name: (float(np.mean(values)), float(np.std(values, ddof=1)) / len(values) ** 0.5)
        for name, values in groups.items()
        if len(values) == _GROUPS
    }
    return Spread(found) if found else None


def _seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _shape_of(values: np.ndarray) -> Iterator[tuple[str, float]]:
    """Yield what tells distributions of equal variance apart, from several calls of a function.

    A uniform one from a normal one; and one draw for a whole channel from one for each element.
    All are means over differences of two calls: they do not depend on how many calls there are.
    """
    apart = np.abs(np.diff(values, axis=0))
    yield "mean deviation", float(apart.mean())
    for axis in range(1, values.ndim):
        size = values.shape[axis]
        if size > 1:
            both = apart.take(range(size - 1), axis=axis) * apart.take(range(1, size), axis=axis)
            yield f"covariance along axis {axis - 1}", float(both.mean())


def spread_of_weight(values: np.ndarray) -> Spread | None:
    """Return the statistics of a weight's initial values; None if there are too few."""
    if values.size < _MIN_VALUES or values.dtype.kind != "f":
        return None
    exact = values.astype("float64")
    deviation, count = float(exact.std()), values.size
    return Spread(
        {
            "mean": (float(exact.mean()), deviation / count**0.5),
            "standard deviation": (deviation, deviation / (2 * count) ** 0.5),
        }
    )


def spread_of_many(values: np.ndarray) -> Spread | None:
    """Return the same for many values of an initializer, with what tells its distribution."""
    found = spread_of_weight(values)
    if found is not None:
        sizes = np.abs(values.astype("float64") - values.mean(dtype="float64"))
        error = float(sizes.std()) / values.size**0.5
        found.found["mean deviation"] = (float(sizes.mean()), error)
    return found


def _of_numbers(leaves: list[Any]) -> dict[str, np.ndarray]:
    return {
        f"value {number}": leaf.astype("float64")
        for number, leaf in enumerate(leaves)
        if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fiub"
    }
