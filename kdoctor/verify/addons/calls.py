"""Ways to ask a function of several tensors what it does; run beside tensorflow_addons as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from kdoctor.verify.addons.scenarios import Scenario, Side, _floats, _random

_Case = tuple[Any, ...]


def drawn(seed: int, *shape: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    """Return numbers about 0."""
    return _floats(_random(seed), *shape).astype(dtype)


def integers(seed: int, below: int, *shape: int, dtype: str = "int32") -> np.ndarray[Any, Any]:
    """Return integers from 0."""
    return _random(seed).integers(0, below, shape).astype(dtype)


def of_calls(
    *cases: _Case, has_gradients: bool = True, has_graph: bool = True, tail: int = 1
) -> Scenario:
    """Return the scenario of a function that is called with arrays, and other things behind them.

    It is asked for its results, the gradients by all that are floats, and the results in a graph
    that knows of the shapes the last ``tail`` dimensions alone.
    """

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        tf = side.tf
        for number, case in enumerate(cases):
            options = case[-1] if isinstance(case[-1], dict) else {}
            given = case[:-1] if options or isinstance(case[-1], dict) else case
            arrays = [each for each in given if isinstance(each, np.ndarray)]
            rest = given[len(arrays) :]
            with tf.GradientTape() as tape:
                tensors = [tf.constant(each) for each in arrays]
                floats = [each for each in tensors if "float" in str(each.dtype)]
                tape.watch(floats)
                found = _listed(side.made(*tensors, *rest, **options))
                total = _total(side, found)
            for place, each in enumerate(found):
                yield f"{number} {place}", each
            if has_gradients and floats:
                slopes = tape.gradient(total, floats, unconnected_gradients="zero")
                for place, each in enumerate(slopes):
                    yield f"{number} gradient {place}", side.tf.convert_to_tensor(each)
            if not (has_graph and isinstance(tf, ModuleType)):  # other backends have none
                continue
            for place, each in enumerate(_in_a_graph(side, arrays, tail, rest, options)):
                yield f"{number} graph {place}", each

    return run


def _in_a_graph(side: Side, arrays: Any, tail: int, rest: Any, options: dict[str, Any]) -> Any:
    tf = side.tf

    def shape(each: Any) -> list[int | None]:
        known = max(0, each.ndim - tail)
        return [None] * known + list(each.shape[known:])

    signature = [tf.TensorSpec(shape(each), each.dtype.name) for each in arrays]
    call = tf.function(
        lambda *tensors: _listed(side.made(*tensors, *rest, **options)), input_signature=signature
    )
    return call(*map(tf.constant, arrays))


def _listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, list | tuple) else [found]


def _total(side: Side, found: list[Any]) -> Any:
    """Return a number that all results which are floats have their part in."""
    floats = [side.tf.convert_to_tensor(each) for each in found]
    floats = [each for each in floats if "float" in str(each.dtype)]
    squares = [side.tf.reduce_sum(side.tf.cast(each, "float32") ** 2) for each in floats]
    return sum(squares, side.tf.constant(0.0))


def of_arrays(*cases: _Case) -> Scenario:
    """Return the scenario of a function of NumPy."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        for number, case in enumerate(cases):
            for place, each in enumerate(_listed(side.made(*case))):
                yield f"{number} {place}", np.asarray(each)

    return run


def of_failures(scenario: Scenario, *cases: tuple[str, Callable[[Side], Any]]) -> Scenario:
    """Return a scenario that also asks which calls raise, by what they are."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        yield from scenario(side)
        for about, call in cases:
            try:
                call(side)
            except Exception:  # noqa: BLE001 - of which kind is not the question
                yield f"{about} raises", True
            else:
                yield f"{about} raises", False

    return run
