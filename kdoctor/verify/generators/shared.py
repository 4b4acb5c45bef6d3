"""Generate arguments that many functions share."""

from __future__ import annotations

from typing import Any

import numpy as np

from kdoctor.verify.generators.scene import OMITTED, Scene, Strategy, changed
from kdoctor.verify.values import DTYPES, FLOATS, INTEGERS, Array


def x(scene: Scene, parameter: str) -> Array:
    """Generate the main tensor of a function."""
    array = scene.array(role=scene.any_role(parameter))
    if scene.conditions.known(parameter, "not_negative"):
        data = np.abs(array.data)
        return Array(np.where(np.isnan(data), np.ones_like(data), data), array.role)
    return array


def like_x(scene: Scene, parameter: str) -> Any:
    """Generate a second operand: of the same shape, of one that broadcasts, or a Python number."""
    if scene.conditions.known(parameter, "same_shape"):
        return scene.array()
    kind = scene.rng.choice(["same", "same", "stretched", "fewer", "number"])
    if kind == "number":
        return scene.rng.choice(
            [0, 1, 2, -1] if scene.dtype in INTEGERS else [0.0, 0.5, 2.0, 1, -1.5]
        )
    shape = scene.shape
    if kind == "stretched" and shape:
        shape = changed(shape, scene.rng.randrange(len(shape)), 1)
    if kind == "fewer" and shape:
        shape = shape[1:]
    return scene.array(shape, role=scene.any_role(parameter))


def axes(scene: Scene, _: str) -> Any:
    """Generate no axis, one, or several."""
    if scene.rng.random() < 0.2:
        return None
    if scene.rng.random() < 0.3 and scene.rank > 1:
        chosen = scene.rng.sample(range(scene.rank), scene.rng.randint(1, scene.rank))
        return scene.rng.choice([list, tuple])(chosen)
    return scene.an_axis()


def axis(scene: Scene, _: str) -> int:
    """Generate one axis."""
    return scene.an_axis()


def new_axis(scene: Scene, _: str) -> int:
    """Generate a position for a new axis."""
    return scene.rng.randrange(-scene.rank - 1, scene.rank + 1)


def flag(scene: Scene, _: str) -> bool:
    """Generate a bool."""
    return scene.rng.random() < 0.5


def number(scene: Scene, _: str) -> float | int:
    """Generate a number of the same type as the inputs."""
    if scene.dtype in INTEGERS:
        return scene.rng.choice([0, 1, 2, 3])
    return scene.rng.choice([0.0, 0.25, 0.5, 1.0, 2.0, 1])


def count(scene: Scene, _: str) -> int:
    """Generate a small count."""
    return scene.rng.choice([1, 2, 3])


def dtype(scene: Scene, _: str) -> str:
    """Generate the name of any dtype."""
    return scene.rng.choice(DTYPES)


def float_dtype(scene: Scene, _: str) -> str | None:
    """Generate the name of a floating dtype, or None."""
    return scene.rng.choice([*FLOATS, None])


def no_name(_: Scene, __: str) -> Any:
    """Omit the argument."""
    return OMITTED


def text(scene: Scene, _: str) -> str:
    """Generate a word."""
    return scene.rng.choice(["dense", "conv", "a_b", "x"])


def padding_word(scene: Scene, _: str) -> str:
    """Generate a padding mode."""
    return scene.rng.choice(["valid", "same"])


STRATEGIES: dict[str, Strategy] = {
    "x": x,
    "y": like_x,
    "a": like_x,
    "b": like_x,
    "reference": x,
    "variables": x,
    "elems": x,
    "axis": axis,
    "axes": axes,
    "keepdims": flag,
    "from_logits": flag,
    "dtype": float_dtype,
    "name": no_name,
    "alpha": number,
    "threshold": number,
    "max_value": number,
    "padding": padding_word,
    "n": count,
    "rep": count,
    "k": count,
    "height_factor": count,
    "width_factor": count,
    "depth_factor": count,
}
