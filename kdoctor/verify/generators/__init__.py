"""Generate the arguments of a case, with one small function for each parameter.

``STRATEGIES`` in these modules are keyed by parameter (``axis``), or by function and parameter
(``gather.indices``) if that function gives it another meaning. A new function needs entries only
for parameters with a new meaning. A generated value may be invalid (an axis of a scalar): the old
side then raises, and the case counts as outside.
"""

from __future__ import annotations

from typing import Any

from kdoctor.verify.conditions import Conditions
from kdoctor.verify.generators import (
    arrangement,
    backends,
    calls,
    graph,
    networks,
    other_frameworks,
    shared,
    tensorflow,
)
from kdoctor.verify.generators.scene import FLAVOURS, OMITTED, Scene, Strategy
from kdoctor.verify.values import DTYPES, FLOATS, HALVES

__all__ = ["FLAVOURS", "OMITTED", "Scene", "draw", "dtypes_under"]

_STRATEGIES: dict[str, Strategy] = {
    **graph.STRATEGIES, **shared.STRATEGIES, **arrangement.STRATEGIES,
    **networks.STRATEGIES, **calls.STRATEGIES, **tensorflow.STRATEGIES, **backends.STRATEGIES,
}  # fmt: skip


def draw(scene: Scene, parameter: str, default: object) -> Any:
    """Generate one argument; ``OMITTED`` to use the default."""
    conditions = scene.conditions
    if parameter in conditions.values:
        choices = conditions.values[parameter]
        may_be_left_out = any(_same(default, choice) for choice in choices)
        return (
            OMITTED if may_be_left_out and scene.rng.random() < 0.5 else scene.rng.choice(choices)
        )
    strategy = _strategy(scene, parameter)
    if strategy is None:
        raise KeyError(parameter)
    known = conditions.properties.get(parameter, set())
    if "not_given" in known:
        return OMITTED
    for _ in range(20):
        needed = (
            default is OMITTED
            or parameter in scene.needed
            or "given" in known
            or (default is None and bool(known & {"not_none", "whole_numbers"}))
        )
        if not needed and scene.rng.random() < 0.4:
            return OMITTED
        value = strategy(scene, parameter)
        if _fits(value, known):
            return value
    return value


def _strategy(scene: Scene, parameter: str) -> Strategy | None:
    names = (f"{scene.function}.{parameter}", parameter)
    tables = (other_frameworks.STRATEGIES, _STRATEGIES) if scene.framework else (_STRATEGIES,)
    return next((table[name] for table in tables for name in names if name in table), None)


def dtypes_under(conditions: Conditions) -> tuple[str, ...]:
    """Return the dtypes that the inputs of a rewrite may have."""
    allowed = (*FLOATS, "bool") if "not_integer" in conditions.facts else DTYPES
    if "no_halves" in conditions.facts:
        return tuple(each for each in allowed if each not in HALVES)
    return allowed


def _fits(value: object, properties: set[str]) -> bool:
    if "not_none" in properties and value is None:
        return False
    if "from_the_front" in properties and isinstance(value, int) and value < 0:
        return False
    return "whole_numbers" not in properties or type(value) is int


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other
