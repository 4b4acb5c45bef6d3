"""What is asked of the functions for images of ``tensorflow_addons`` that came later."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kdoctor.verify.addons.calls import drawn, integers, of_calls
from kdoctor.verify.addons.scenarios import Scenario, Side, of_images

_IMAGES = drawn(1, 2, 5, 6, 3)
_DOUBLES = _IMAGES.astype("float64")
_FLOW = drawn(2, 2, 5, 6, 2) * 2
_QUERIES = np.concatenate([drawn(3, 2, 4, 2) * 4, integers(4, 7, 2, 3, 2, dtype="float32")], 1)
_KNOWN, _VALUES, _ASKED = drawn(5, 2, 6, 2) * 3, drawn(6, 2, 6, 3), drawn(7, 2, 5, 2) * 3
_POINTS = tuple(each.astype("float64") for each in (_KNOWN, _VALUES, _ASKED))
_SOURCE = np.abs(drawn(8, 2, 4, 2)) + 0.5
_GOAL = _SOURCE + drawn(9, 2, 4, 2) * 0.5
_FINE = (_SOURCE.astype("float64"), _GOAL.astype("float64"))
_BYTES = integers(10, 256, 5, 6, 3, dtype="uint8")
_SHARES = np.abs(drawn(11, 4, 5, 3)) % 1.0
_REPLACE: Any = ([1.0, 2.0, 3.0], 7)
_LINES = np.array([[0, 1, 1, 0, 1], [1, 1, 0, 0, 1], [0, 0, 0, 1, 0], [2, 2, 1, 1, 2]], "int32")
_FILTERS: Any = (
    {}, {"filter_shape": 5, "padding": "SYMMETRIC"},
    {"filter_shape": (3, 2), "padding": "CONSTANT", "constant_values": 3},
)  # fmt: skip


def equalized(side: Side) -> Iterator[tuple[str, Any]]:
    """Equalize images of few values, so that there is something to do."""
    tf = side.tf
    for shape in ((20, 20), (20, 20, 2), (2, 18, 16, 1)):
        few = integers(12, 6, *shape) * integers(13, 9, *shape) * 4
        for dtype, bins in (("uint8", 256), ("float32", 200)):
            yield f"{shape} {dtype}", side.made(tf.constant(few.astype(dtype)), bins)
    yield "flat", side.made(tf.zeros([4, 4, 3], "uint8"))
    yield "below zero", side.made(tf.constant([[-1.5, 0.25], [3.0, 300.0]]))


def random_colours(side: Side) -> Iterator[tuple[str, Any]]:
    """Draw what cannot vary, and see that what can is bound."""
    tf = side.tf
    image = tf.constant(_SHARES)
    yield "same", side.made(image)
    bounds: Any = (0, 0.5, 0.5, 2, 2)
    yield "bound", side.made(image, *bounds)
    for wrong in ((-1,), (0, 2, 1), (0, 1, 1, 2, 1), (0, -1, 1)):
        try:
            side.made(image, *wrong)
        except ValueError:
            yield f"{wrong} raises", True


def components(side: Side) -> Iterator[tuple[str, Any]]:
    """Number components, with long ones among them."""
    tf = side.tf
    snake = np.ones((7, 7), "int32")
    snake[1::4, :-1] = snake[3::4, 1:] = 0
    many = integers(14, 3, 3, 9, 8)
    for about, images in (("lines", _LINES), ("snake", snake), ("many", many)):
        for dtype in ("int32", "uint8", "float32"):
            yield f"{about} {dtype}", side.made(tf.constant(images.astype(dtype)))
    yield "bool", side.made(tf.constant(many > 0))
    yield "none", side.made(tf.zeros([3, 4], "float32"))
    yield "all", side.made(tf.ones([2, 3, 4], "float32"))


def distances(side: Side) -> Iterator[tuple[str, Any]]:
    """Measure distances, of images without a zero as well."""
    tf = side.tf
    for shape in ((7, 6), (7, 6, 2), (2, 7, 6, 2)):
        image = (integers(15, 6, *shape) > 0).astype("uint8")
        for dtype in ("float32", "float64"):
            yield f"{shape} {dtype}", side.made(tf.constant(image), dtype=getattr(tf, dtype))
    yield "ones", side.made(tf.ones([3, 4], "uint8"))


IMAGES: dict[str, Scenario] = {
    "interpolate_bilinear": of_calls(
        (_IMAGES, _QUERIES), (_IMAGES, _QUERIES, {"indexing": "xy"}), (_DOUBLES, _QUERIES),
    ),
    "dense_image_warp": of_calls((_IMAGES, _FLOW), (_DOUBLES, _FLOW), (_IMAGES[:1], _FLOW[:1])),
    "interpolate_spline": of_calls(
        *((_KNOWN, _VALUES, _ASKED, order) for order in (1, 2, 3)),
        *((*_POINTS, order) for order in (4, 6)),
        (_KNOWN, _VALUES, _ASKED, 2, 0.1),
    ),
    "sparse_image_warp": of_calls(
        (_IMAGES, _SOURCE, _GOAL), (_DOUBLES, *_FINE, {"num_boundary_points": 2}),
        (_DOUBLES, *_FINE, 1, 0.1, 1), (_IMAGES[0], _SOURCE[:1], _GOAL[:1]),
        (_DOUBLES[0, :, :, 0], _FINE[0][:1], _FINE[1][:1], {"num_boundary_points": 3}),
        has_graph=False,
    ),
    "resampler": of_calls(
        (_IMAGES, drawn(16, 2, 7, 2) * 4), (_IMAGES, drawn(17, 2, 3, 4, 2) * 4),
        (_DOUBLES, drawn(18, 2, 7, 2).astype("float64") * 4),
    ),
    "mean_filter2d": of_images(*_FILTERS),
    "median_filter2d": of_images(*_FILTERS),
    "sharpness": of_images(*({"factor": each} for each in (0.0, 0.5, 1.0, 2.5))),
    "equalize": equalized,
    "blend": of_calls(
        *((_BYTES, _BYTES[::-1], each) for each in (0.0, 0.3, 1.0, 1.8)),
        *((_IMAGES * 99, _IMAGES[:, ::-1] * 99, each) for each in (0.3, 1.8)),
        has_gradients=False,
    ),
    "adjust_hsv_in_yiq": of_calls(
        (_SHARES,), (_SHARES, 0.5, 1.2, 0.8), (np.stack([_SHARES] * 2), 1.0, 0.5, 1.5),
        (_SHARES.astype("float64"), 0.5, 1.2, 0.8), (_BYTES, 0.0, 0.5, 0.5), has_graph=False,
        has_gradients=False,
    ),
    "random_hsv_in_yiq": random_colours,
    "shear_x": of_calls(
        *((_BYTES, 0.4, each) for each in _REPLACE), (_SHARES, -0.3, _REPLACE[0]),
        has_gradients=False,
    ),
    "shear_y": of_calls(
        *((_BYTES, 0.4, each) for each in _REPLACE), (_SHARES, -0.3, _REPLACE[0]),
        has_gradients=False,
    ),
    "translate_xy": of_calls(
        *((_BYTES, [1.0, 2.0], each) for each in _REPLACE), (_SHARES, [-1.5, 0.5], _REPLACE[0]),
        has_gradients=False,
    ),
    "connected_components": components,
    "euclidean_dist_transform": distances,
}  # fmt: skip
"""By the name of the function."""
ON_TORCH: dict[str, Scenario] = {
    "interpolate_spline": of_calls(*((_KNOWN, _VALUES, _ASKED, order) for order in (1, 2, 3))),
    "sparse_image_warp": of_calls((_IMAGES, _SOURCE, _GOAL)),
}
"""What can be asked where `keras.ops.matmul` and `maximum` make 32 bits of 64: with PyTorch."""
