"""Check the reference's gradients inside a program against what calculus says of small models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
from numpy.typing import NDArray

from kdoctor.reference import gradients as reference
from kdoctor.verify.reference.checks import Check
from kdoctor.verify.reference.results import Measured
from kdoctor.verify.reference.running import gradients, measured, tensor, worst

Array = NDArray[Any]
_RANDOM = np.random.default_rng(20261130)
_IMAGES = _RANDOM.normal(size=(3, 4, 5, 2)).astype("float32")
_KERNEL = _RANDOM.normal(size=(2, 3)).astype("float32")
_HEAD = _RANDOM.normal(size=(3, 4)).astype("float32")
_REAL, _FAKE = _RANDOM.normal(size=(2, 4, 3)).astype("float32")
_SHARE = np.array([0.0, 0.25, 0.5, 1.0], "float32")
_MODULE = "gradients"


def checks() -> Iterator[Check]:
    """Yield the checks of all functions."""
    known: dict[str, dict[str, Callable[[], Measured]]] = {
        "value_and_gradient": {"a cube": _cube, "the second derivative": _twice},
        "gradcam": {
            "calculus, the predicted class": lambda: _maps(None),
            "calculus, one class": lambda: _maps(2),
            "calculus, a class for each image": lambda: _maps(np.array([1, 0, 3])),
            "a layer by its name": lambda: _maps(1, layer="seen"),
        },
        "saliency": {
            "calculus, the predicted class": lambda: _slopes(None),
            "calculus, a class for each image": lambda: _slopes(np.array([2, 1, 0])),
        },
        "gradient_penalty": {
            "calculus": _penalty,
            "its gradient for the critic": _penalty_trained,
            "points are between": _between,
        },
        "gram_matrix": {"NumPy, element by element": _gram},
        "style_loss": {"NumPy, element by element": _style},
    }
    for subject, measures in known.items():
        for check, measure in measures.items():
            yield Check(_MODULE, subject, check, measure)


def _cube() -> Measured:
    value, slope = reference.value_and_gradient(lambda x: keras.ops.sum(x * x * x), _HEAD)
    return worst([measured(value, np.sum(_HEAD**3)), measured(slope, 3 * _HEAD**2)])


def _twice() -> Measured:
    def squared(x: Any) -> Any:
        _, slope = reference.value_and_gradient(lambda x: keras.ops.sum(x * x * x), x)
        return keras.ops.sum(slope * slope)

    (found,) = gradients(squared, [_HEAD])
    return measured(found, 36 * _HEAD**3)


def _classifier() -> Any:
    model = keras.Sequential([
        keras.Input(_IMAGES.shape[1:]),
        keras.layers.Conv2D(3, 1, use_bias=False, name="seen"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(4, "tanh", use_bias=False),
    ])  # fmt: skip
    model.set_weights([_KERNEL[None, None], _HEAD])
    return model


def _by_calculus(index: Any) -> tuple[Array, Array, Array]:
    """Return the features, and the slopes of the scores for features and for pixels."""
    maps = _IMAGES.astype("float64") @ _KERNEL
    scores = np.tanh(maps.mean(axis=(1, 2)) @ _HEAD)
    classes = scores.argmax(axis=1) if index is None else np.broadcast_to(index, len(maps))
    own = (1 - scores[np.arange(len(maps)), classes] ** 2)[:, None]
    slopes = own * _HEAD.T[classes] / (maps.shape[1] * maps.shape[2])
    return maps, slopes, slopes @ _KERNEL.T


def _maps(index: Any, layer: str | None = None) -> Measured:
    maps, slopes, _ = _by_calculus(index)
    expected = np.maximum(np.einsum("brcf,bf->brc", maps, slopes), 0)
    assert (expected > 0).any()
    assert (expected == 0).any()
    return measured(reference.gradcam(_classifier(), _IMAGES, index, layer), expected)


def _slopes(index: Any) -> Measured:
    _, _, pixels = _by_calculus(index)
    largest = np.abs(pixels).max(axis=1)[:, None, None]
    expected = np.broadcast_to(largest, _IMAGES.shape[:3])
    return measured(reference.saliency(_classifier(), _IMAGES, index), expected)


def _penalty() -> Measured:
    found = reference.gradient_penalty(
        lambda x: keras.ops.sum(x * x, axis=1) / 2, _REAL, _FAKE, _SHARE
    )
    points = _SHARE[:, None] * _REAL + (1 - _SHARE[:, None]) * _FAKE
    return measured(found, np.mean((np.linalg.norm(points, axis=1) - 1) ** 2))


def _penalty_trained() -> Measured:
    weights = _KERNEL[:1].T.copy()

    def penalty(weights: Any) -> Any:
        return reference.gradient_penalty(
            lambda x: keras.ops.matmul(x, weights), tensor(_REAL), tensor(_FAKE), _SHARE
        )

    (found,) = gradients(penalty, [weights])
    norm = np.linalg.norm(weights)
    return measured(found, 2 * (norm - 1) * weights / norm)


def _between() -> Measured:
    zeros, ones = np.zeros((500, 1), "float32"), np.ones((500, 1), "float32")
    # The slope at x is x, so the mean of (x - 1)² over [0, 1] is one third.
    found = reference.gradient_penalty(lambda x: x * x / 2, ones, zeros)
    return Measured(abs(float(keras.ops.convert_to_numpy(found)) - 1 / 3), 0.07)


def _gram() -> Measured:
    expected = np.zeros((3, 2, 2))
    for image, one, other in np.ndindex(*expected.shape):
        expected[image, one, other] = np.sum(_IMAGES[image, ..., one] * _IMAGES[image, ..., other])
    return measured(reference.gram_matrix(tensor(_IMAGES)), expected)


def _style() -> Measured:
    wanted = np.flip(_IMAGES, axis=0) * 0.5
    expected = np.zeros(3)
    for image, one, other in np.ndindex(3, 2, 2):
        own = np.sum(_IMAGES[image, ..., one] * _IMAGES[image, ..., other])
        his = np.sum(wanted[image, ..., one] * wanted[image, ..., other])
        expected[image] += (own - his) ** 2 / (4 * 2**2 * 20**2)
    return measured(reference.style_loss(tensor(_IMAGES), tensor(wanted.copy())), expected)
