"""Drive a layer, a model, a loss or a whole program on random data, on whichever backend runs.

What is driven may be tied to TensorFlow; nothing here is. So a test that fails on another backend
fails for what the program does.
"""

from __future__ import annotations

import functools
import importlib
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import keras
import numpy as np

SAMPLES = 8
IMAGES = 256


def real(*shape: int, samples: int = SAMPLES) -> np.ndarray:
    """Return numbers between 0 and 1, ``(samples, *shape)``."""
    return np.random.default_rng(0).random((samples, *shape), dtype=np.float32)


def ids(end: int, *shape: int, samples: int = SAMPLES) -> np.ndarray:
    """Return integers below ``end``, ``(samples, *shape)``."""
    return np.random.default_rng(0).integers(0, end, (samples, *shape)).astype("int32")


def one_hot(classes: int, *shape: int) -> np.ndarray:
    """Return labels of ``classes`` classes, ``(samples, *shape, classes)``."""
    return np.eye(classes, dtype=np.float32)[ids(classes, *shape)]


class Applied(keras.layers.Layer):
    """A function as a layer: it meets the tensors of the backend."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def call(self, *inputs: Any) -> Any:
        """Call it."""
        return self.function(*inputs)


def trains(
    layer: Callable[..., Any],
    *data: np.ndarray,
    listed: bool = False,
    batch: int | None = None,
    **options: Any,
) -> None:
    """Build a functional model around a layer, train it for one epoch, and let it predict.

    ``listed`` passes the inputs as one list, as merging layers take them; ``batch`` is the size of
    the batch where the code needs to know it; ``options`` go to the call.
    """
    if not isinstance(layer, keras.layers.Layer):
        layer = Applied(functools.partial(layer, **options))
        options = {}
    inputs = [
        keras.Input(batch_shape=(batch, *each.shape[1:]), dtype=each.dtype.name) for each in data
    ]
    outputs = layer(inputs, **options) if listed else layer(*inputs, **options)
    outputs = [each for each in keras.tree.flatten(outputs) if each is not None]
    model = keras.Model(inputs, outputs)
    predicted = _predicted(model, data)
    if model.trainable_weights:
        _fits(model, data, predicted)


def trains_with(
    loss: Callable[..., Any], labels: np.ndarray, shape: tuple[int, ...], activation: str = "linear"
) -> None:
    """Train a small model whose predictions have ``shape`` for one epoch, with this loss."""
    inputs = keras.Input(shape)
    outputs = keras.layers.Dense(shape[-1], activation=activation)(inputs)
    model = keras.Model(inputs, outputs)
    model.compile("adam", loss=loss)
    history = model.fit(real(*shape), labels, batch_size=4, verbose=0)
    assert np.isfinite(history.history["loss"]).all()


def runs(program: str | Path) -> None:
    """Run a program to its end, with a few random images or sentences for each data set."""
    folder = Path(program).parent
    with mock.patch.object(sys, "path", [str(folder), *sys.path]):
        patches = [
            mock.patch.object(importlib.import_module(f"{root}.{name}"), "load_data", load)
            for root in ("keras.datasets", "keras._tf_keras.keras.datasets")
            for name, load in _DATA.items()
        ]
        for patch in patches:
            patch.start()
        try:
            runpy.run_path(str(program), run_name="__main__")
        finally:
            for patch in patches:
                patch.stop()


def _predicted(model: Any, data: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    predicted = model.predict(data[0] if len(data) == 1 else list(data), batch_size=4, verbose=0)
    arrays = [np.asarray(each) for each in keras.tree.flatten(predicted)]
    assert all(np.isfinite(each).all() for each in arrays if each.dtype.kind == "f")
    return arrays


def _fits(model: Any, data: tuple[np.ndarray, ...], predicted: list[np.ndarray]) -> None:
    model.compile("sgd", loss=["mse"] * len(predicted) if len(predicted) > 1 else "mse")
    targets = [np.zeros_like(each) for each in predicted]
    history = model.fit(
        data[0] if len(data) == 1 else list(data),
        targets[0] if len(targets) == 1 else targets,
        batch_size=4,
        verbose=0,
    )
    assert np.isfinite(history.history["loss"]).all()


def _images(*size: int) -> Callable[..., Any]:
    def load() -> Any:
        draw = np.random.default_rng(0)
        images = draw.integers(0, 255, (IMAGES, *size)).astype("uint8")
        labels = draw.integers(0, 10, IMAGES if len(size) == 2 else (IMAGES, 1)).astype("uint8")
        return (images, labels), (images, labels)

    return load


def _sentences(num_words: int = 1000, **_: Any) -> Any:
    draw = np.random.default_rng(0)
    texts = np.empty(IMAGES, object)
    for number in range(IMAGES):
        texts[number] = draw.integers(1, num_words, draw.integers(5, 30)).tolist()
    return (texts, draw.integers(0, 2, IMAGES)), (texts, draw.integers(0, 2, IMAGES))


_DATA = {
    "mnist": _images(28, 28),
    "fashion_mnist": _images(28, 28),
    "cifar10": _images(32, 32, 3),
    "imdb": _sentences,
}
