"""Generate arguments of TensorFlow functions whose names differ from those in Keras."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from kdoctor.verify.generators import arrangement
from kdoctor.verify.generators.networks import image
from kdoctor.verify.generators.scene import OMITTED, Scene, Strategy, float_of
from kdoctor.verify.generators.shared import axes, axis, count, flag, like_x, new_axis, number, x
from kdoctor.verify.values import DTYPES, INTEGERS, Array, as_dtype


def _dtype(scene: Scene, _: str) -> Any:
    """Generate a dtype as in TensorFlow code: ``tf.float32``, or its name."""
    name = scene.rng.choice(DTYPES)
    return scene.rng.choice([name, tf.as_dtype(name)])


def _integer_dtype(scene: Scene, _: str) -> Any:
    return tf.as_dtype(scene.rng.choice(INTEGERS))


def _permutation(scene: Scene, _: str) -> Any:
    if scene.rng.random() < 0.2:
        return None
    return scene.rng.choice([list, tuple])(scene.rng.sample(range(scene.rank), scene.rank))


def _parts(scene: Scene, _: str) -> Any:
    """Generate the number of parts of a split, or their sizes."""
    along = scene.shape[0] if scene.shape else 1
    if scene.rng.random() < 0.3 and along > 1:
        return [1, along - 1]
    return scene.rng.choice([1, along or 1, 2])


def _alike(scene: Scene, _: str) -> list[Array]:
    return [scene.array() for _ in range(scene.rng.choice([1, 2, 3]))]


def _padding(scene: Scene, _: str) -> list[list[int]]:
    return [[scene.rng.randrange(3), scene.rng.randrange(3)] for _ in scene.shape]


def _shift(scene: Scene, _: str) -> int:
    return scene.rng.choice([-2, -1, 0, 1, 3])


def _labels(scene: Scene, _: str) -> Array:
    data = np.clip(scene.numbers.random(scene.shape) * 1.4 - 0.2, 0, 1)
    return Array(np.asarray(data, as_dtype(float_of(scene))))


def _logits(scene: Scene, _: str) -> Array:
    return scene.array(dtype=float_of(scene))


def _truth_value(scene: Scene, parameter: str) -> Array:
    return scene.array(dtype="bool", role=scene.any_role(parameter))


def _low(scene: Scene, _: str) -> Any:
    return scene.rng.choice([-2, -1, 0] if scene.dtype in INTEGERS else [-1.0, -0.25, 0.0, -2])


def _high(scene: Scene, _: str) -> Any:
    return scene.rng.choice([0, 1, 3, 6] if scene.dtype in INTEGERS else [0.0, 0.5, 1.0, 6])


def _range_limit(scene: Scene, _: str) -> Any:
    return scene.rng.choice([None, 0, 4, 7])


def _image_size(scene: Scene, _: str) -> Any:
    return scene.rng.choice([list, tuple])([scene.rng.choice([2, 4, 8]) for _ in range(2)])


def _how_many(scene: Scene, _: str) -> Any:
    return scene.rng.choice([0, 1, 2, 3, -1])


STRATEGIES: dict[str, Strategy] = {
    "input_tensor": x,
    "input": x,
    "tensor": x,
    "tensors": _alike,
    "t": x,
    "features": x,
    "params": x,
    "images": image(2),
    "values": _alike,
    "logits": _logits,
    "labels": _labels,
    "perm": _permutation,
    "ord": lambda scene, _: scene.rng.choice(["euclidean", 1, 2, np.inf]),
    "num_or_size_splits": _parts,
    "num": lambda _, __: OMITTED,
    "depth": count,
    "on_value": number,
    "off_value": number,
    "clip_value_min": _low,
    "clip_value_max": _high,
    "limit": _range_limit,
    "delta": count,
    "paddings": _padding,
    "constant_values": number,
    "shift": _shift,
    "keepdims": flag,
    "keep_dims": flag,
    "exclusive": flag,
    "conjugate": lambda _, __: OMITTED,
    "validate_indices": lambda _, __: OMITTED,
    "batch_dims": lambda _, __: OMITTED,
    "out_type": _integer_dtype,
    "output_type": _integer_dtype,
    "epsilon": lambda scene, _: scene.rng.choice([1e-12, 1e-7, 1e-3]),
    "seed": lambda _, __: OMITTED,
    "reverse": flag,
    "direction": lambda scene, _: scene.rng.choice(["ASCENDING", "DESCENDING"]),
    "num_lower": _how_many,
    "num_upper": _how_many,
    "transpose_a": flag,
    "transpose_b": flag,
    "argmax.input": arrangement.STRATEGIES["argmax.x"],
    "argmin.input": arrangement.STRATEGIES["argmin.x"],
    "concat.values": arrangement.STRATEGIES["concatenate.tensors"],
    "tile.multiples": arrangement.STRATEGIES["tile.n"],
    "squeeze.input": arrangement.STRATEGIES["squeeze.x"],
    "convert_to_tensor.value": arrangement.STRATEGIES["constant.value"],
    "cast.dtype": _dtype,
    "range.start": count,
    "reduce_sum.axis": axes,
    "reduce_mean.axis": axes,
    "reduce_max.axis": axes,
    "reduce_min.axis": axes,
    "reduce_prod.axis": axes,
    "reduce_any.axis": axes,
    "reduce_all.axis": axes,
    "reduce_any.input_tensor": _truth_value,
    "reduce_all.input_tensor": _truth_value,
    "reduce_logsumexp.axis": axes,
    "reduce_std.axis": axes,
    "reduce_variance.axis": axes,
    "count_nonzero.axis": axes,
    "norm.axis": axis,
    "roll.axis": axis,
    "split.value": x,
    "unstack.value": x,
    "transpose.a": x,
    "expand_dims.input": x,
    "stack.values": _alike,
    "stack.axis": new_axis,
    "add_n.inputs": _alike,
    "sort.values": x,
    "argsort.values": x,
    "logical_and.x": _truth_value,
    "logical_or.x": _truth_value,
    "logical_xor.x": _truth_value,
    "logical_not.x": _truth_value,
    "logical_and.y": _truth_value,
    "logical_or.y": _truth_value,
    "logical_xor.y": _truth_value,
    "where.condition": _truth_value,
    "where.x": like_x,
    "where.y": like_x,
    "resize.size": _image_size,
    "resize.method": lambda scene, _: scene.rng.choice(["bilinear", "nearest"]),
    "linspace.start": number,
    "linspace.stop": number,
    "linspace.num": count,
    "eye.num_rows": count,
    "eye.num_columns": count,
    "identity.input": x,
    "moments.axes": axes,
    "leaky_relu.alpha": lambda scene, _: scene.rng.choice([0.0, 0.1, 0.2, 0.3]),
    "normal.shape": lambda _, __: (100, 200),
    "uniform.shape": lambda _, __: (100, 200),
    "normal.mean": number,
    "normal.stddev": count,
}
