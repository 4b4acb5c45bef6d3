"""Generate arguments of functions that create, select and rearrange elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from kdoctor.verify.generators.networks import image
from kdoctor.verify.generators.scene import Scene, Strategy, changed
from kdoctor.verify.generators.shared import axes, count, dtype, new_axis, x
from kdoctor.verify.values import INTEGERS, Array, Function, Role


def _bounds(scene: Scene, parameter: str) -> Any:
    # Nobody writes a symbolic bound for something that is not symbolic itself.
    least = scene.values.get("min_value")
    if scene.rng.random() < 0.1:
        return None
    may_be_a_tensor = not scene.conditions.known(parameter, "no_tensor")
    if may_be_a_tensor and scene.values["x"].role is Role.TENSOR and scene.rng.random() < 0.2:
        return Array(np.full((), -1 if least is None else 7, scene.values["x"].data.dtype))
    whole = [-2, -1, 0, 1, 3, 6]
    choices = whole if scene.dtype in INTEGERS else [-1.0, -0.25, 0.0, 0.5, *whole]
    if least is not None:
        least = 6 if isinstance(least, Array) else least
        choices = [each for each in choices if each >= least]
    return scene.rng.choice(choices)


def _with_a_value(scene: Scene, parameter: str) -> Any:
    may_be_one = "made_a_number" in scene.conditions.facts and scene.rng.random() < 0.2
    if may_be_one or scene.conditions.known(parameter, "plain_number"):
        return scene.rng.choice([0, 1, -3, 0.0, 0.5, -1e-3, 1e30])
    return x(scene, parameter)


def _with_an_axis_of_one(scene: Scene, parameter: str) -> Array:
    if scene.shape:
        scene.shape = changed(scene.shape, scene.rng.randrange(scene.rank), 1)
    return x(scene, parameter)


def _axis_of_one(scene: Scene, _: str) -> int:
    ones = [index for index, size in enumerate(scene.shape) if size == 1]
    if not ones or scene.rng.random() < 0.1:
        return scene.an_axis()
    return scene.rng.choice(ones) - scene.rng.choice([0, scene.rank])


def _without_signed_zeros(scene: Scene, parameter: str) -> Array:
    drawn = x(scene, parameter)
    zero = np.zeros((), drawn.data.dtype)
    return Array(np.asarray(np.where(drawn.data == zero, zero, drawn.data)), drawn.role)


def _table(scene: Scene, parameter: str) -> Array:
    if len(scene.shape) != 2 and scene.rng.random() < 0.9:
        scene.shape = (scene.rng.choice([1, 2, 3]), scene.rng.choice([0, 1, 4]))
    return x(scene, parameter)


def _first_matrix(scene: Scene, parameter: str) -> Array:
    missing = max(2 - len(scene.shape), 0) if scene.rng.random() < 0.9 else 0
    scene.shape = (*scene.shape, *(scene.rng.choice([2, 3]) for _ in range(missing)))
    if "nothing_sparse" not in scene.conditions.facts and scene.rng.random() < 0.2:
        scene.shape, scene.dtype = (scene.rng.choice([2, 4]), 3), "float32"
        return scene.array(role=Role.SPARSE)
    return x(scene, parameter)


def _condition(scene: Scene, _: str) -> Array:
    if scene.conditions.known("condition", "is_scalar"):
        return scene.array((), dtype="bool")
    return scene.array(dtype=scene.rng.choice(["bool", "bool", "bool", "int32", "float32"]))


def _branch(scene: Scene, parameter: str) -> Any:
    if scene.conditions.known(parameter, "is_lambda"):
        array = scene.array()
        number = 1.0 if parameter.startswith("then") else 2.0
        return Function(f"lambda: {number}", lambda: np.full(array.data.shape, number, "float32"))
    return scene.array()


def _pattern(scene: Scene, _: str) -> tuple[int, ...]:
    return tuple(scene.rng.sample(range(scene.rank), scene.rank))


def _new_shape(scene: Scene, _: str) -> Any:
    size = int(np.prod(scene.shape, dtype=int))
    shapes: list[tuple[int, ...]] = [(-1,), (size,), (1, size), (size, 1), (-1, 1)]
    if scene.shape:
        shapes += [tuple(reversed(scene.shape)), (-1, scene.shape[-1]), (*scene.shape[:1], -1)]
    return scene.rng.choice([tuple, list])(scene.rng.choice(shapes))


def _several(scene: Scene, _: str) -> list[Array]:
    shapes = [scene.shape] * scene.rng.choice([1, 2, 3])
    return [scene.array(shape) for shape in shapes]


def _joinable(scene: Scene, _: str) -> list[Array]:
    """Generate tensors whose shapes differ in at most one axis."""
    if not scene.shape:
        return [scene.array(), scene.array()]
    axis = scene.rng.choice([0, scene.rank - 1])
    return [
        scene.array(changed(scene.shape, axis, scene.rng.choice([1, 2, 3])))
        for _ in range(scene.rng.choice([1, 2, 3]))
    ]


def _indices(scene: Scene, _: str) -> Array:
    limit = scene.shape[0] if scene.shape else 1
    shape = tuple(scene.rng.choice([1, 2, 3]) for _ in range(scene.rng.randrange(3)))
    is_outside = scene.rng.random() < 0.25  # out of bounds, which TensorFlow rejects only on a CPU
    least, most = (-limit - 1, limit + 2) if is_outside else (0, max(limit, 1))
    data = scene.numbers.integers(least, most, size=shape)
    return Array(np.asarray(data, scene.rng.choice(INTEGERS)))


def _classes(scene: Scene, _: str) -> Array:
    data = scene.numbers.integers(-1, 6, size=scene.shape)
    return Array(np.asarray(data, scene.rng.choice(INTEGERS)), scene.any_role("indices"))


def _repeats(scene: Scene, _: str) -> Any:
    return tuple(scene.rng.choice([1, 2, 3]) for _ in range(scene.rank))


def _pair(scene: Scene, _: str) -> tuple[int, int]:
    return (scene.rng.randrange(3), scene.rng.randrange(3))


def _pairs(scene: Scene, _: str) -> tuple[tuple[int, int], ...]:
    axes = 3 if "3d" in scene.function else 2
    return tuple((scene.rng.randrange(3), scene.rng.randrange(3)) for _ in range(axes))


def _start(scene: Scene, _: str) -> list[int]:
    return [scene.rng.randrange(max(size, 1)) for size in scene.shape]


def _size(scene: Scene, _: str) -> list[int]:
    start = scene.values["start"]
    return [
        scene.rng.randint(0, max(size - begin, 0))
        for size, begin in zip(scene.shape, start, strict=True)
    ]


def _any_shape(scene: Scene, _: str) -> Any:
    return scene.rng.choice([tuple, list])(scene.shape)


def _content(scene: Scene, _: str) -> Any:
    """Generate the value of a constant: a number, nested lists or an array."""
    if scene.flavour == "empty" or scene.rng.random() < 0.4:
        return scene.array(role=Role.NUMPY)
    data = scene.array(dtype=scene.rng.choice(["int32", "float64", "bool"]))
    return data.data.tolist()


def _range_start(scene: Scene, _: str) -> Any:
    return scene.rng.choice([0, 1, 3, 5, -2, 2.5])


def _range_stop(scene: Scene, _: str) -> Any:
    return scene.rng.choice([None, 0, 4, 7, -6])


def _range_step(scene: Scene, _: str) -> int:
    return scene.rng.choice([1, 2, -1])


def _second_matrix(scene: Scene, parameter: str) -> Array:
    """Generate a second factor for the matrix, or stack of matrices, generated first."""
    inner = scene.shape[-1] if scene.shape else 2
    known = scene.conditions.known("y", "of_rank")
    rank = 2 if known else scene.rng.choice([2, 2, 2, 3, 4, 1])
    lead = [scene.rng.choice([2, 3]) for _ in range(rank - 2)]
    shape = (inner,) if rank == 1 else (*lead, inner, scene.rng.choice([2, 5]))
    return scene.array(shape, role=scene.any_role(parameter))


def _batched_matrix(scene: Scene, parameter: str) -> Array:
    inner = scene.shape[-1] if scene.shape else 2
    lead = scene.shape[:-2] if scene.rng.random() < 0.5 else ()
    return scene.array((*lead, inner, scene.rng.choice([2, 5])), role=scene.any_role(parameter))


def _factor(scene: Scene, parameter: str) -> Any:
    """Generate a repetition factor: an integer, as Keras 2 casts it to int32, unless any works."""
    if scene.conditions.known(parameter, "whole_numbers"):
        return count(scene, parameter)
    return scene.rng.choice([1, 2, 3, 1.0, 2.0, 2.5, 1.9, np.int64(2), np.float32(1.5)])


STRATEGIES: dict[str, Strategy] = {
    **dict.fromkeys(
        (
            *("sum.axis", "prod.axis", "max.axis", "min.axis", "mean.axis", "std.axis"),
            *("var.axis", "any.axis", "all.axis", "logsumexp.axis", "l2_normalize.axis"),
        ),
        axes,
    ),
    "argmax.x": _without_signed_zeros,
    "argmin.x": _without_signed_zeros,
    "squeeze.x": _with_an_axis_of_one,
    "squeeze.axis": _axis_of_one,
    "clip.min_value": _bounds,
    "clip.max_value": _bounds,
    "switch.condition": _condition,
    "switch.then_expression": _branch,
    "switch.else_expression": _branch,
    "reshape.shape": _new_shape,
    "permute_dimensions.pattern": _pattern,
    "expand_dims.axis": new_axis,
    "concatenate.tensors": _joinable,
    "eval.x": _with_a_value,
    "get_value.x": _with_a_value,
    "batch_get_value.tensors": _several,
    "stack.x": _several,
    "stack.axis": new_axis,
    "tile.n": _repeats,
    "gather.indices": _indices,
    "temporal_padding.x": image(1),
    "spatial_2d_padding.x": image(2),
    "spatial_3d_padding.x": image(3),
    "temporal_padding.padding": _pair,
    "spatial_2d_padding.padding": _pairs,
    "spatial_3d_padding.padding": _pairs,
    "resize_images.x": image(2),
    "resize_images.height_factor": _factor,
    "resize_images.width_factor": _factor,
    "resize_volumes.x": image(3),
    "slice.start": _start,
    "slice.size": _size,
    "constant.value": _content,
    "variable.value": _content,
    "variable.dtype": dtype,
    "constant.dtype": dtype,
    "zeros.shape": _any_shape,
    "ones.shape": _any_shape,
    "zeros.dtype": dtype,
    "ones.dtype": dtype,
    "zeros_like.dtype": dtype,
    "ones_like.dtype": dtype,
    "eye.size": count,
    "cast.dtype": dtype,
    "arange.start": _range_start,
    "arange.stop": _range_stop,
    "arange.step": _range_step,
    "arange.dtype": dtype,
    "one_hot.indices": _classes,
    "one_hot.num_classes": count,
    "repeat.x": _table,
    "dot.x": _first_matrix,
    "dot.y": _second_matrix,
    "matmul.a": x,
    "matmul.b": _batched_matrix,
}
