"""Generate arguments of losses, convolutions and pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

from kdoctor.verify.generators.scene import OMITTED, Scene, Strategy, float_of
from kdoctor.verify.generators.shared import number
from kdoctor.verify.values import INTEGERS, Array, as_dtype


def _truth(scene: Scene, _: str) -> Array:
    """Generate targets of a loss: probabilities, including 0 and 1."""
    data = np.clip(scene.numbers.random(scene.shape) * 1.4 - 0.2, 0, 1)
    return Array(np.asarray(data, as_dtype(float_of(scene))))


def _prediction(scene: Scene, _: str) -> Array:
    """Generate predictions: probabilities, sometimes exactly 0 or 1, or any number."""
    if scene.rng.random() < 0.5:
        return scene.array(dtype=float_of(scene))
    data = np.clip(scene.numbers.random(scene.shape) * 1.2 - 0.1, 0, 1)
    return Array(np.asarray(data, as_dtype(float_of(scene))))


def _class_numbers(scene: Scene, _: str) -> Array:
    classes = max(scene.shape[-1], 1) if scene.shape else 1
    data = scene.numbers.integers(0, classes, size=scene.shape[:-1])
    return Array(np.asarray(data, scene.rng.choice([*INTEGERS, "float32"])))


def _top_predictions(scene: Scene, _: str) -> Array:
    scene.shape = (scene.rng.choice([1, 3, 5]), scene.rng.choice([4, 6]))
    return scene.array(dtype="float32")


def _scores(scene: Scene, _: str) -> Array:
    return Array(np.asarray(scene.numbers.integers(0, 4, size=scene.shape[:1]), "int32"))


def image(axes: int) -> Strategy:
    """Return a generator of sequences, images or volumes in the data format of the case."""

    def strategy(scene: Scene, _: str) -> Array:
        scene.sizes = tuple(scene.rng.choice([4, 5, 6]) for _ in range(axes))
        scene.channels = scene.rng.choice([1, 2, 3])
        scene.flavour = "ordinary"
        formats = scene.conditions.values.get("data_format", ("channels_last", "channels_first"))
        scene.layout = str(scene.rng.choice(formats))
        if scene.layout == "channels_first":
            scene.needed.add("data_format")
        batch = scene.rng.choice([1, 2, 3])
        first = scene.layout == "channels_first"
        around = (scene.channels, *scene.sizes) if first else (*scene.sizes, scene.channels)
        scene.shape = (batch, *around)
        return scene.array(dtype=float_of(scene))

    return strategy


def _image_of_rank(scene: Scene, parameter: str) -> Array:
    drawn: Array = image(max(scene.rank - 2, 1))(scene, parameter)
    return drawn


def _data_format(scene: Scene, _: str) -> str | None:
    if scene.layout == "channels_first":
        return scene.layout
    return scene.rng.choice([None, "channels_last"])


def _dim_ordering(scene: Scene, _: str) -> str:
    return scene.rng.choice(["tf", "th"])


def _kernel(scene: Scene, _: str) -> Array:
    sizes = tuple(scene.rng.choice([1, 2, 3]) for _ in scene.sizes)
    return scene.array((*sizes, scene.channels, scene.rng.choice([1, 2, 4])), float_of(scene))


def _pointwise(scene: Scene, _: str) -> Array:
    depth = scene.values["depthwise_kernel"].data.shape
    ones = (1,) * len(scene.sizes)
    return scene.array((*ones, depth[-2] * depth[-1], 3), float_of(scene))


def _steps(scene: Scene, parameter: str) -> Any:
    """Generate strides or dilations; at most one is not 1, as no framework accepts both."""
    axes = len(scene.sizes)
    other = {"strides": "dilation_rate", "dilation_rate": "strides"}[parameter]
    if scene.values.get(other, OMITTED) not in (OMITTED, 1, (1,) * axes):
        return OMITTED
    if axes == 1:
        return scene.rng.choice([1, 2])
    return scene.rng.choice([(1,) * axes, (2,) * axes])


def _pool_size(scene: Scene, _: str) -> tuple[int, ...]:
    return tuple(scene.rng.choice([1, 2, 3]) for _ in scene.sizes)


def _pool_steps(scene: Scene, _: str) -> tuple[int, ...]:
    return tuple(scene.rng.choice([1, 2]) for _ in scene.sizes)


def _bias(scene: Scene, _: str) -> Array:
    shape = scene.shape[-1:] if scene.rng.random() < 0.7 else scene.shape[1:]
    return scene.array(shape)


STRATEGIES: dict[str, Strategy] = {
    "data_format": _data_format,
    "dim_ordering": _dim_ordering,
    "target": _truth,
    "output": _prediction,
    "kernel": _kernel,
    "depthwise_kernel": _kernel,
    "pointwise_kernel": _pointwise,
    "strides": _steps,
    "dilation_rate": _steps,
    "pool_size": _pool_size,
    "pool2d.strides": _pool_steps,
    "pool3d.strides": _pool_steps,
    "conv1d.x": image(1),
    "conv2d.x": image(2),
    "conv3d.x": image(3),
    "depthwise_conv2d.x": image(2),
    "separable_conv1d.x": image(1),
    "separable_conv2d.x": image(2),
    "pool2d.x": image(2),
    "pool3d.x": image(3),
    "bias_add.x": _image_of_rank,
    "bias_add.bias": _bias,
    "sparse_categorical_crossentropy.target": _class_numbers,
    "categorical_focal_crossentropy.gamma": number,
    "in_top_k.predictions": _top_predictions,
    "in_top_k.targets": _scores,
}
