"""Compare two results by kind, dtype, shape and values."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kdoctor.verify.results import Different, Result
from kdoctor.verify.values import FLOATS, TOLERANCES


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds within which two results may differ.

    ``allowed`` names permitted differences (see ``conditions.ALLOWED``); ``coarsest`` is the least
    precise dtype among the inputs. ``retyped`` holds pairs of dtypes that a backend always
    converts: such a pair is added to ``met``, and compared as the second.
    """

    allowed: frozenset[str] = frozenset()
    coarsest: str = "float64"
    retyped: Collection[tuple[str, str]] = ()
    met: set[str] = field(default_factory=set)

    def take(self, old: str, new: str) -> bool:
        """Say whether one dtype may become the other."""
        if old == new:
            return True
        if (old, new) in self.retyped:
            self.met.add(f"{old} -> {new}")
            return True
        return "dtype_does_not_matter" in self.allowed and (old, new) == ("int64", "int32")


def difference(old: Result, new: Result, bounds: Bounds) -> float:
    """Return the difference of two values that are equal within bounds.

    Raises:
        Different: in kind, type, shape, or value.
    """
    if old.kind != new.kind and not _kinds_may_differ(old.kind, new.kind, bounds.allowed):
        raise Different("kind", f"{old.kind} -> {new.kind}")
    if old.parts or new.parts:
        if len(old.parts) != len(new.parts):
            raise Different("length", f"{len(old.parts)} -> {len(new.parts)}")
        return max(
            difference(one, other, bounds) for one, other in zip(old.parts, new.parts, strict=True)
        )
    if "indexed" in bounds.allowed:
        return _numbers_apart(np.asarray(old.data), np.asarray(new.data), "float64")
    if not bounds.take(old.dtype, new.dtype):
        raise Different("dtype", f"{old.dtype} -> {new.dtype}")
    if not old.dtype:
        if old.data != new.data:
            raise Different("value", f"{old.data!r} -> {new.data!r}")
        return 0.0
    if np.shape(old.data) != np.shape(new.data):
        raise Different("shape", f"{np.shape(old.data)} -> {np.shape(new.data)}")
    return _numbers_apart(old.data, new.data, coarser(bounds.coarsest, new.dtype))


def coarser(one: str, other: str) -> str:
    """Return the dtype with the wider tolerance."""
    return max(one, other, key=lambda name: TOLERANCES.get(name, 0.0))


def same_distribution(old: Result, new: Result, bounds: Bounds) -> float:
    """Return the Kolmogorov-Smirnov distance of two large samples if chance explains it.

    Raises:
        Different: in kind, dtype or shape; or the distance is larger than chance gives in all but
            one of 10 000 draws.
    """
    same_type = bounds.take(old.dtype, new.dtype)
    if not same_type or (old.kind, np.shape(old.data)) != (new.kind, np.shape(new.data)):
        raise Different("kind, dtype or shape", f"{old.kind} {old.dtype} -> {new.kind} {new.dtype}")
    one = np.sort(np.asarray(old.data, "float64").ravel())
    other = np.sort(np.asarray(new.data, "float64").ravel())
    both = np.concatenate([one, other])
    distance = np.abs(
        np.searchsorted(one, both, "right") / one.size
        - np.searchsorted(other, both, "right") / other.size
    ).max()
    if distance > 2.3 * np.sqrt(2 / one.size):
        raise Different("distribution", f"they are {distance:.3f} apart")
    return float(distance)


def _kinds_may_differ(old: str, new: str, allowed: frozenset[str]) -> bool:
    return ("is_read_only" in allowed and (old, new) == ("variable", "tensor")) or (
        "indexed" in allowed and (old, new) == ("tensor", "whole number")
    )


def _numbers_apart(old: Any, new: Any, coarsest: str) -> float:
    dtype = np.asarray(old).dtype.name
    if dtype not in FLOATS:
        if not np.array_equal(old, new):
            raise Different("value", _first(old, new, np.asarray(old != new)))
        return 0.0
    limit = TOLERANCES[coarser(dtype, coarsest)]
    one, other = np.asarray(old, "float64"), np.asarray(new, "float64")
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    if not one.size or same.all():
        return 0.0
    # Where large numbers cancel out, the absolute error of the result is theirs.
    largest = np.abs(one[np.isfinite(one)]).max(initial=0.0)
    largest /= 1 if limit > 1e-3 else 10
    with np.errstate(invalid="ignore", over="ignore"):
        scale = np.maximum(np.maximum(1.0, np.abs(one)), largest)
        apart = np.where(same, 0.0, np.abs(one - other) / scale)
    if not (apart <= limit).all():
        raise Different("value", _first(one, other, ~(apart <= limit)))
    return float(apart.max())


def _first(old: Any, new: Any, differs: Any) -> str:
    """Describe the first number that differs, and count all that do."""
    places = np.argwhere(differs)
    place = tuple(places[0]) if places.size else ()
    where = f" at {[int(each) for each in place]}" if place else ""
    return (
        f"{np.asarray(old)[place]!s} -> {np.asarray(new)[place]!s}{where}, "
        f"{np.count_nonzero(differs)} of {np.size(old)} numbers"
    )
