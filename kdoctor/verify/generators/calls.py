"""Generate arguments of functions that assign, call functions, or draw random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from kdoctor.verify.generators.scene import Scene, Strategy
from kdoctor.verify.generators.shared import count, no_name, number, text
from kdoctor.verify.values import INTEGERS, Array, Function, Returning, Role, as_dtype


def _large_shape(_: Scene, __: str) -> tuple[int, int]:
    return (100, 200)


def _probability(scene: Scene, _: str) -> float | int | Array:
    chosen: float = scene.rng.choice([0.0, 0.1, 0.5, 0.9, 1.0, 0, 1])
    as_array = scene.rng.random() < 0.3
    return Array(np.full((1, 200), chosen, "float32")) if as_array else chosen


def _bound(scene: Scene, parameter: str) -> float | int:
    """Generate one end of a range: an integer if integers are drawn from it.

    1 equals the default, which is a float and rejected as such.
    """
    kinds = scene.conditions.values.get("dtype", ())
    if kinds and set(kinds) <= set(INTEGERS):
        return scene.rng.choice([-3, 0, 2] if parameter == "minval" else [1, 3, 5, 40])
    return number(scene, parameter) if parameter == "minval" else count(scene, parameter)


def _level(scene: Scene, _: str) -> float | int:
    return scene.rng.choice([0.0, 0.1, 0.25, 0.5, 0.9, 0])


def _large(scene: Scene, _: str) -> Array:
    return Array(np.ones((100, 200), as_dtype(scene.rng.choice(["float32", "float64"]))))


def _assigned(scene: Scene, _: str) -> Any:
    if scene.rng.random() < 0.3 and not scene.shape:
        return scene.rng.choice([1, 2])
    return scene.array(role=scene.rng.choice([Role.TENSOR, Role.NUMPY]))


def _of_one(scene: Scene, _: str) -> Function:
    return scene.rng.choice(
        [
            Function("lambda a: a + a", lambda a: a + a),
            Function("lambda a: a * a - a", lambda a: a * a - a),
            Function("lambda a: a[..., 0]", lambda a: a[..., 0]),
        ]
    )


def _of_two(scene: Scene, _: str) -> Function:
    return scene.rng.choice(
        [
            Function("lambda a, b: a + a - b", lambda a, b: a + a - b),
            Function("lambda a, b: a - b * b", lambda a, b: a - b * b),
        ]
    )


def _initial(scene: Scene, _: str) -> Any:
    return None if scene.rng.random() < 0.2 else scene.array(scene.shape[1:])


def _variable(scene: Scene, _: str) -> Array:
    return scene.array(role=Role.VARIABLE)


def _choice(scene: Scene, parameter: str) -> Any:
    """Generate a branch of ``in_train_phase``: a tensor, or a function that returns one."""
    drawn = scene.array()
    return Returning(drawn) if scene.conditions.known(parameter, "is_function") else drawn


def _square_stack(scene: Scene, _: str) -> Array:
    """Generate square matrices (any axes pair up); no product overflows (see EXCEPTIONS)."""
    if "x" not in scene.values:
        size = scene.rng.choice([2, 3])
        scene.shape = (scene.rng.choice([1, 2, 4]), size, size)
    drawn = scene.array()
    if drawn.dtype != "float16":
        return drawn
    small = np.clip(drawn.data, np.float16(-100), np.float16(100))
    return Array(np.where(np.isfinite(drawn.data), small, drawn.data), drawn.role)


STRATEGIES: dict[str, Strategy] = {
    **dict.fromkeys(
        (
            *("set_value.x", "update.x", "update_add.x", "update_sub.x"),
            "moving_average_update.x",
        ),
        _variable,
    ),
    **dict.fromkeys(
        (f"in_{phase}_phase.{name}" for phase in ("train", "test") for name in ("x", "alt")),
        _choice,
    ),
    "training": lambda scene, _: scene.rng.choice([True, False]),
    "batch_dot.x": _square_stack,
    "batch_dot.y": _square_stack,
    "variable.name": text,
    "variable.constraint": no_name,
    "set_value.value": _assigned,
    "update.new_x": _assigned,
    "update_add.increment": _assigned,
    "update_sub.decrement": _assigned,
    "moving_average_update.value": _assigned,
    "moving_average_update.momentum": number,
    "map_fn.fn": _of_one,
    "foldl.fn": _of_two,
    "foldr.fn": _of_two,
    "initializer": _initial,
    "random_normal.shape": _large_shape,
    "random_uniform.shape": _large_shape,
    "truncated_normal.shape": _large_shape,
    "random_bernoulli.shape": _large_shape,
    "random_binomial.shape": _large_shape,
    "random_bernoulli.p": _probability,
    "random_binomial.p": _probability,
    "dropout.x": _large,
    "dropout.level": _level,
    "mean": number,
    "stddev": count,
    "minval": _bound,
    "maxval": _bound,
    "name_scope.name": text,
    "unique_object_name.name": text,
    **dict.fromkeys(
        (
            *("unique_object_name.name_uid_map", "unique_object_name.avoid_names"),
            *("unique_object_name.namespace", "unique_object_name.zero_based"),
            "unique_object_name.avoid_observed_names",
        ),
        no_name,
    ),
}
