"""Generate arguments of TensorFlow functions in code that Keras runs: KD801."""

from __future__ import annotations

from typing import Any

import numpy as np

from kdoctor.verify.generators.scene import Scene, Strategy
from kdoctor.verify.generators.shared import no_name, number
from kdoctor.verify.values import INTEGERS, Array

_SEGMENTS = 3
_PARTS = 4  # rows of what is scattered into


def _shape(scene: Scene, _: str) -> Any:
    return scene.rng.choice([tuple, list])(scene.shape)


def _numbers(scene: Scene, _: str) -> Array:
    """Generate numbers of rows, of a table that has ``scene.shape``."""
    limit = scene.shape[0] if scene.shape else 1
    shape = tuple(scene.rng.choice([1, 2, 3]) for _ in range(scene.rng.randrange(3)))
    data = scene.numbers.integers(0, max(limit, 1), size=shape)
    return Array(np.asarray(data, scene.rng.choice(INTEGERS)))


def _rows(scene: Scene, _: str) -> Array:
    scene.shape = scene.shape or (3,)
    return scene.array()


def _segments(scene: Scene, _: str) -> Array:
    data = scene.numbers.integers(0, _SEGMENTS, size=scene.shape[:1])
    return Array(np.asarray(data, scene.rng.choice(INTEGERS)))


def _all_segments(_: Scene, __: str) -> int:
    return _SEGMENTS


def _places(scene: Scene, _: str) -> Array:
    """Generate different rows of a table, each once: of two updates of one row none is the last."""
    if "tensor" not in scene.values:
        scene.shape = (_PARTS, *scene.shape[1:])
    count = scene.shape[0] if scene.shape else 1
    chosen = scene.numbers.permutation(count)[: max(count - 1, 1)]
    return Array(np.asarray(chosen[:, None], scene.rng.choice(INTEGERS)))


def _updates(scene: Scene, _: str) -> Array:
    count = scene.values["indices"].data.shape[0]
    return scene.array((count, *scene.shape[1:]))


STRATEGIES: dict[str, Strategy] = {
    **dict.fromkeys(
        (
            *("constant.shape", "dtype_hint", "batch_shape", "padding_value", "align"),
            *("max_norm", "bad_indices_policy", "fill.layout"),
        ),
        no_name,
    ),
    "fill.dims": _shape,
    "fill.value": number,
    "embedding_lookup.ids": _numbers,
    **{
        f"unsorted_segment_{name}.{parameter}": strategy
        for name in ("sum",)
        for parameter, strategy in (
            ("data", _rows),
            ("segment_ids", _segments),
            ("num_segments", _all_segments),
        )
    },
    **{
        f"{name}.{parameter}": strategy
        for name in ("scatter_nd", "tensor_scatter_nd_update")
        for parameter, strategy in (("indices", _places), ("updates", _updates))
    },
    "scatter_nd.shape": _shape,
}
