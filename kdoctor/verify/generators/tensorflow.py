"""Generate arguments of TensorFlow functions that have a special meaning there."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from kdoctor.verify.generators import arrangement, networks, shared
from kdoctor.verify.generators.scene import OMITTED, Scene, Strategy, float_of
from kdoctor.verify.values import DTYPES, INTEGERS, Array, as_dtype


def _tensor(scene: Scene, _: str) -> Array:
    return scene.array()


def _second(scene: Scene, parameter: str) -> Any:
    drawn = shared.like_x(scene, parameter)
    return scene.array(drawn.data.shape) if isinstance(drawn, Array) else drawn


def _dtype(scene: Scene, _: str) -> Any:
    name = scene.rng.choice(DTYPES)
    return scene.rng.choice([name, tf.as_dtype(name)])


def _index_type(scene: Scene, _: str) -> Any:
    return scene.rng.choice(["int32", "int64", tf.int32, tf.int64])


def _axes_of_one(scene: Scene, parameter: str) -> Any:
    if "input" not in scene.values:
        return arrangement.STRATEGIES["squeeze.axis"](scene, parameter)
    drawn = scene.rng.random()
    ones = [index for index, size in enumerate(scene.shape) if size == 1]
    if drawn < 0.2:
        return None
    if drawn < 0.5 and ones:
        return ones
    return arrangement.STRATEGIES["squeeze.axis"](scene, parameter)


def _permutation(scene: Scene, _: str) -> Any:
    order = scene.rng.sample(range(scene.rank), scene.rank)
    return scene.rng.choice([list, tuple])(order)


def _joinable(scene: Scene, parameter: str) -> Any:
    return arrangement.STRATEGIES["concatenate.tensors"](scene, parameter)


def _several(scene: Scene, parameter: str) -> Any:
    return arrangement.STRATEGIES["stack.x"](scene, parameter)


def _some_axes(scene: Scene, _: str) -> list[int]:
    return scene.rng.sample(range(scene.rank), scene.rng.randint(min(scene.rank, 1), scene.rank))


def _pads(scene: Scene, _: str) -> list[list[int]]:
    least = min([each for each in scene.shape if each] or [1])
    return [[scene.rng.randrange(least), scene.rng.randrange(least)] for _ in range(scene.rank)]


def _parts(scene: Scene, _: str) -> Any:
    if scene.conditions.known("num_or_size_splits", "sizes"):
        rest = scene.shape[1:] or (2,)
        if scene.rng.random() < 0.5:
            scene.shape = (*scene.shape[:1], *rest[:-1], 4) if scene.shape else (2, 4)
            scene.needed.add("axis")
        else:
            scene.shape = (4, *rest)  # along the batch, whose size must be known
            modes = scene.conditions.modes
            scene.conditions.modes = tuple(each for each in modes if "batch" not in each)
        scene.values["value"] = scene.array()
        return scene.rng.choice([[1, 3], [2, 1, 1], (2, 2)])
    return scene.rng.choice([1, 1, 2, 3])


def _axis_of_parts(scene: Scene, _: str) -> Any:
    if scene.conditions.known("num_or_size_splits", "sizes"):
        if "axis" not in scene.needed:
            return scene.rng.choice([0, -len(scene.shape), OMITTED])
        return scene.rng.choice([-1, len(scene.shape) - 1])
    return scene.an_axis()


def _shape_to_stretch_to(scene: Scene, _: str) -> Any:
    return scene.rng.choice([tuple, list])((*([2] * scene.rng.randrange(2)), *scene.shape))


def _flags(scene: Scene, _: str) -> Any:
    return scene.rng.choice([True, False])


def _matrix(scene: Scene, _: str) -> Array:
    lead = scene.shape[:-2]
    scene.shape = (*lead, scene.rng.choice([1, 2, 3]), scene.rng.choice([2, 3]))
    return scene.array()


def _maybe_square(scene: Scene, parameter: str) -> Array:
    """Generate a tensor, sometimes a square matrix, with which a column may pass as a row."""
    if len(scene.shape) == 2 and scene.rng.random() < 0.5:
        scene.shape = (scene.shape[0],) * 2
    return shared.x(scene, parameter)


def _maybe_column(scene: Scene, parameter: str) -> Any:
    is_free = not scene.conditions.known(parameter, "same_shape")
    if is_free and len(scene.shape) == 2 and scene.rng.random() < 0.5:
        return scene.array((scene.shape[0], 1), role=scene.any_role(parameter))
    return shared.like_x(scene, parameter)


def _other_matrix(scene: Scene, _: str) -> Array:
    *lead, rows, columns = scene.shape
    inner = rows if scene.conditions.values.get("transpose_a") == (True,) else columns
    outer = scene.rng.choice([1, 2, 4])
    turned = scene.conditions.values.get("transpose_b") == (True,)
    shape = (outer, inner) if turned else (inner, outer)
    return scene.array((*lead, *shape))


def _square(scene: Scene, _: str) -> Array:
    """Generate a symmetric, well-conditioned matrix."""
    size = scene.rng.choice([1, 2, 3])
    scene.shape = (scene.rng.choice([1, 3]), *scene.shape[3:], size, size)
    data = scene.numbers.normal(size=scene.shape)
    data = data @ np.swapaxes(data, -1, -2) + 2 * np.eye(size)
    dtype = scene.dtype if scene.dtype in {"float32", "float64"} else "float32"
    return Array(np.asarray(data, dtype))


def _equation_of_one(scene: Scene, _: str) -> str:
    scene.shape = tuple(scene.rng.choice([2, 3]) for _ in range(2))
    return scene.rng.choice(["ij->ji", "ij->i", "ij->", "ij->ij"])


def _first_of_two(scene: Scene, _: str) -> Array:
    scene.shape = (2, 3, 4)
    equations = ["bij,bij->bi", "bij,bij->bij", "bij,bkj->bik", "bij,bij->b"]
    scene.values["equation"] = scene.rng.choice(equations)
    return scene.array()


def _contracted(scene: Scene, _: str) -> Any:
    return scene.rng.choice([1, 1, 0, [[-1], [0]]])


def _second_factor(scene: Scene, _: str) -> Array:
    return scene.array((scene.shape[-1] if scene.shape else 2, 3))


def _window(scene: Scene, _: str) -> Any:
    return scene.rng.choice([1, 2, (2, 2), [2, 1], 3])


def _image(scene: Scene, _: str) -> Array:
    scene.sizes = (scene.rng.choice([4, 6]), scene.rng.choice([4, 5, 6]))
    scene.channels = 3 if "rgb" in scene.function else scene.rng.choice([1, 2, 3, 4])
    if "to_depth" in scene.function or "to_space" in scene.function:
        scene.sizes, scene.channels = (4, 6), scene.rng.choice([4, 8])
    if scene.flavour == "special":
        scene.flavour = "ordinary"
    scene.shape = (scene.rng.choice([1, 2, 3]), *scene.sizes, scene.channels)
    return scene.array(dtype=float_of(scene))


def _block(scene: Scene, _: str) -> int:
    return scene.rng.choice([2])


def _new_size(scene: Scene, _: str) -> Any:
    size = (scene.rng.choice([2, 4, 8, 9]), scene.rng.choice([3, 5, 10]))
    return scene.rng.choice([list, tuple])(size)


def _filters(scene: Scene, _: str) -> Array:
    sizes = tuple(scene.rng.choice([1, 2, 3]) for _ in scene.sizes)
    data: Array = scene.array((*sizes, scene.channels, 2), scene.values["input"].dtype)
    return data


def _method(scene: Scene, _: str) -> str:
    return scene.rng.choice(["bilinear", "nearest", "bicubic", "lanczos3", "lanczos5"])


def _labels(scene: Scene, _: str) -> Array:
    scene.shape = scene.shape or (3,)
    data = np.clip(scene.numbers.random(scene.shape) * 1.4 - 0.2, 0, 1)
    return Array(np.asarray(data, as_dtype(float_of(scene))))


def _shares(scene: Scene, _: str) -> Array:
    """Generate labels that sum to 1 along the last axis."""
    scene.shape = (scene.rng.choice([1, 3]), scene.rng.choice([2, 4]))
    data = scene.numbers.random(scene.shape) + 0.1
    dtype = as_dtype(float_of(scene))
    return Array(np.asarray(data / data.sum(-1, keepdims=True), dtype))


def _scores(scene: Scene, _: str) -> Array:
    return scene.array(dtype=float_of(scene))


def _class_numbers(scene: Scene, _: str) -> Array:
    scene.shape = (scene.rng.choice([1, 3]), scene.rng.choice([2, 4]))
    data = scene.numbers.integers(0, scene.shape[-1], size=scene.shape[:-1])
    return Array(np.asarray(data, scene.rng.choice(INTEGERS)))


def _rest(scene: Scene, parameter: str) -> Any:
    if "begin" not in scene.values:
        return arrangement.STRATEGIES["slice.size"](scene, parameter)
    return [
        scene.rng.choice([-1, length - start])
        for length, start in zip(scene.shape, scene.values["begin"], strict=True)
    ]


def _predictions(scene: Scene, parameter: str) -> Any:
    if "targets" not in scene.values:  # Keras has a different order
        return networks.STRATEGIES["in_top_k.predictions"](scene, parameter)
    return scene.array(dtype="float32")


def _targets(scene: Scene, parameter: str) -> Any:
    if "predictions" in scene.values:
        return networks.STRATEGIES["in_top_k.targets"](scene, parameter)
    scene.shape = (scene.rng.choice([1, 3, 5]), scene.rng.choice([4, 6]))
    return Array(np.asarray(scene.numbers.integers(0, 4, size=scene.shape[:1]), "int32"))


def _rate(scene: Scene, _: str) -> float:
    return scene.rng.choice([0.1, 0.5])


def _large(scene: Scene, _: str) -> Array:
    return Array(np.ones((100, 200), as_dtype(scene.rng.choice(["float32", "float64"]))))


def _condition(scene: Scene, _: str) -> Array:
    return scene.array(dtype="bool")


def _branch(scene: Scene, parameter: str) -> Any:
    drawn = _second(scene, parameter)
    return scene.array() if parameter == "x" else drawn


def _lower(scene: Scene, _: str) -> Any:
    return scene.rng.choice([-1, 0] if scene.dtype in INTEGERS else [-1.0, 0.0, -2])


def _upper(scene: Scene, _: str) -> Any:
    return scene.rng.choice([1, 3] if scene.dtype in INTEGERS else [1.0, 0.5, 2])


def _content(scene: Scene, _: str) -> Any:
    return scene.rng.choice([1, 2] if scene.dtype in INTEGERS else [1.0, -0.5, 3])


def _left_or_right(scene: Scene, _: str) -> Any:
    return scene.rng.choice([1, -1, 2])


def _order(scene: Scene, parameter: str) -> Any:
    drawn = scene.array()
    if scene.function == "argsort":  # equal elements may be swapped
        flat = scene.numbers.permutation(drawn.data.size).reshape(drawn.data.shape)
        return Array(np.asarray(flat, drawn.data.dtype) if drawn.dtype != "bool" else drawn.data)
    return arrangement.STRATEGIES["argmax.x"](scene, parameter)


STRATEGIES: dict[str, Strategy] = {
    "input_": _tensor,
    "dim": shared.no_name,
    "layout": shared.no_name,
    "shift": shared.no_name,
    "validate_indices": shared.no_name,
    "batch_dims": shared.no_name,
    "conjugate": shared.no_name,
    "exclusive": shared.no_name,
    "reverse": shared.no_name,
    "stable": shared.no_name,
    "index_type": shared.no_name,
    "preserve_aspect_ratio": shared.no_name,
    "dilations": shared.no_name,
    "adjoint": shared.no_name,
    **dict.fromkeys(
        (
            *("adjoint_a", "adjoint_b", "a_is_sparse", "b_is_sparse", "grad_a", "grad_b"),
            *("noise_shape", "seed"),
        ),
        shared.no_name,
    ),
    "matmul.output_type": shared.no_name,
    "sorted": _flags,
    "approximate": _flags,
    "resize.antialias": _flags,
    **dict.fromkeys((f"{name}.y" for name in ("atan2",)), _tensor),
    "atan2.x": _second,
    "cast.dtype": _dtype,
    "zeros_like.dtype": _dtype,
    "ones_like.dtype": _dtype,
    "one_hot.dtype": _dtype,
    "one_hot.indices": arrangement.STRATEGIES["one_hot.indices"],
    "one_hot.depth": shared.count,
    "one_hot.axis": shared.new_axis,
    "on_value": shared.no_name,
    "off_value": shared.no_name,
    "output_type": _index_type,
    "count_nonzero.dtype": _index_type,
    "clip_by_value.clip_value_min": _lower,
    "clip_by_value.clip_value_max": _upper,
    "where.condition": _condition,
    "where.x": _branch,
    "where.y": _branch,
    "add.x": _maybe_square,
    "add.y": _maybe_column,
    "add_n.inputs": _several,
    "concat.values": _joinable,
    "stack.values": _several,
    "stack.axis": shared.new_axis,
    "expand_dims.axis": shared.new_axis,
    "squeeze.input": arrangement.STRATEGIES["squeeze.x"],
    "squeeze.axis": _axes_of_one,
    "reshape.shape": arrangement.STRATEGIES["reshape.shape"],
    "transpose.perm": _permutation,
    "num": shared.no_name,
    "num_or_size_splits": _parts,
    "split.axis": _axis_of_parts,
    "multiples": arrangement.STRATEGIES["tile.n"],
    "repeats": shared.count,
    "reverse.axis": _some_axes,
    "roll.shift": _left_or_right,
    "broadcast_to.shape": _shape_to_stretch_to,
    "slice.begin": arrangement.STRATEGIES["slice.start"],
    "transpose.a": _tensor,
    "slice.size": _rest,
    "gather.indices": arrangement.STRATEGIES["gather.indices"],
    "paddings": _pads,
    "constant_values": _content,
    "out_type": shared.no_name,
    **dict.fromkeys(
        (
            f"{name}.axis"
            for name in (
                *("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_all"),
                *("reduce_any", "reduce_logsumexp", "reduce_mean", "reduce_std"),
                *("reduce_variance", "count_nonzero"),
            )
        ),
        shared.axes,
    ),
    "argmax.input": _order,
    "argmin.input": _order,
    "argsort.values": _order,
    "moments.axes": lambda scene, parameter: _some_axes(scene, parameter) or [0],
    "top_k.input": _order,
    "in_top_k.targets": _targets,
    "in_top_k.predictions": _predictions,
    "matmul.a": _matrix,
    "matmul.b": _other_matrix,
    "tensordot.a": _matrix,
    "tensordot.b": _second_factor,
    "tensordot.axes": _contracted,
    "equation": _equation_of_one,
    "operand": _tensor,
    "first": _first_of_two,
    "second": _tensor,
    "matrix_transpose.a": _matrix,
    "trace.x": _matrix,
    "inv.input": _square,
    "det.input": _square,
    "cholesky.input": _square,
    "band_part.input": _matrix,
    "num_lower": shared.count,
    "num_upper": shared.count,
    "bias_add.value": _image,
    "dropout.x": _large,
    "dropout.rate": _rate,
    **dict.fromkeys(
        (
            *("max_pool2d.input", "avg_pool2d.input", "conv2d.input"),
            *("depth_to_space.input", "space_to_depth.input"),
            *("images", "image"),
        ),
        _image,
    ),
    "conv2d.filters": _filters,
    "ksize": _window,
    "max_pool2d.strides": _window,
    "avg_pool2d.strides": _window,
    "conv2d.strides": _window,
    "block_size": _block,
    "resize.size": _new_size,
    "method": _method,
    "softmax_cross_entropy_with_logits.labels": _shares,
    "sigmoid_cross_entropy_with_logits.labels": _labels,
    "sparse_softmax_cross_entropy_with_logits.labels": _class_numbers,
    **dict.fromkeys(
        (
            f"{name}_cross_entropy_with_logits.logits"
            for name in ("softmax", "sigmoid", "sparse_softmax")
        ),
        _scores,
    ),
}
