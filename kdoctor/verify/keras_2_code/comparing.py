"""What it takes for two definitions to do the same: the value, its dtype, and its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from msgspec import Struct

CASES = 200
_SEED = 46
_REFUSED = (
    *(ValueError, AssertionError, TypeError, ZeroDivisionError, AttributeError, IndexError),
    *(NotImplementedError, tf.errors.OpError),
)


class Case(Struct):
    """Arguments for both: the same, or for Keras 3 those in ``new``."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = {}
    new: tuple[Any, ...] | None = None


Draw = Callable[[np.random.Generator], Case]


def compare_calls(old: Callable[..., Any], new: Callable[..., Any], draw: Draw) -> None:
    """Call both with drawn arguments."""
    random = np.random.default_rng(_SEED)
    answered = 0
    for _ in range(CASES):
        case = draw(random)
        one = result(old, *case.args, **case.kwargs)
        other = result(new, *(case.args if case.new is None else case.new), **case.kwargs)
        assert_same([one, other], f"{case.args} {case.kwargs}")
        answered += not isinstance(one, Refused)
    assert answered, "nothing was drawn that it takes"


class Refused(Struct, frozen=True):
    """What a call that raises gives: which of the exceptions does not matter to who passes that."""


def result(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return what a call gives."""
    try:
        return function(*args, **kwargs)
    except _REFUSED:
        return Refused()


def assert_same(results: Sequence[Any], about: str) -> None:
    """Raise where the results of Keras 2 and Keras 3 differ.

    Raises:
        AssertionError: they do.
    """
    one, other = results
    problem = next(difference(one, other), None)
    assert problem is None, f"{about}: {problem}"


def difference(one: Any, other: Any) -> Iterator[str]:
    """Yield how a result of Keras 3 differs from that of Keras 2."""
    if kind_of(one) != kind_of(other):
        yield f"{kind_of(one)} {one!r} -> {kind_of(other)} {other!r}"
    elif isinstance(one, dict):
        if one.keys() != other.keys():
            yield f"{sorted(one)} -> {sorted(other)}"
        for key in one:
            yield from difference(one[key], other[key])
    elif isinstance(one, (list, tuple)):
        if len(one) != len(other):
            yield f"{one!r} -> {other!r}"
        for first, second in zip(one, other, strict=False):
            yield from difference(first, second)
    elif kind_of(one) == "tensor" or isinstance(one, np.ndarray):
        yield from _of_arrays(one, other)
    elif one is not other and one != other and not (one != one and other != other):  # noqa: PLR0124 - NaN
        yield f"{one!r} -> {other!r}"


def _of_arrays(one: Any, other: Any) -> Iterator[str]:
    if one.dtype != other.dtype or tuple(one.shape) != tuple(other.shape):
        yield f"{one.dtype} {one.shape} -> {other.dtype} {other.shape}"
    elif not _is_symbolic(one):
        before, after = (np.asarray(each, "float64") for each in (one, other))
        if not np.allclose(before, after, rtol=1e-5, atol=1e-6, equal_nan=True):
            yield f"{before} -> {after}"


def _is_symbolic(value: Any) -> bool:
    return tf.is_tensor(value) and not hasattr(value, "numpy")


def kind_of(value: Any) -> str:
    """Return what kind of object it is, the same for both releases."""
    is_tensor = isinstance(value, (tf.Tensor, tf.Variable, keras.Variable))
    return "tensor" if is_tensor else type(value).__name__
