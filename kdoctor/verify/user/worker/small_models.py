"""A small model with data, for callbacks and functions of a model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import draws
from .frameworks import Side

PICTURES, VECTORS = "a small model on images", "a small model on vectors"
_SHAPES = {PICTURES: (8, 8, 3), VECTORS: (6,)}
_CLASSES, _TRAINED, _HELD_OUT = 3, 12, 8
BATCH = 4


class Data(NamedTuple):
    """Training data and held-out data of a model."""

    x: np.ndarray
    y: np.ndarray
    held_out_x: np.ndarray
    held_out_y: np.ndarray


def data(kind: str) -> Data:
    """Return images or vectors with one-hot classes."""
    draw = draws.rng(501)
    shape = _SHAPES[kind]
    x = draw.normal(size=(_TRAINED + _HELD_OUT, *shape)).astype("float32")
    seen = x.reshape(len(x), -1) @ draw.normal(size=(int(np.prod(shape)), _CLASSES))
    y = np.eye(_CLASSES, dtype="float32")[seen.argmax(-1)]
    return Data(x[:_TRAINED], y[:_TRAINED], x[_TRAINED:], y[_TRAINED:])


def model(kind: str, side: Side) -> Any:
    """Return a compiled model with the same weights on both sides."""
    layers = side.keras.layers
    inputs = side.keras.Input(shape=_SHAPES[kind], name="given")
    if kind == PICTURES:
        x = layers.Conv2D(4, 3, padding="same", activation="relu", name="conv_1")(inputs)
        x = layers.Conv2D(4, 3, activation="relu", name="conv_2")(x)
        x = layers.Flatten(name="flat")(x)
    else:
        x = layers.Dense(5, activation="tanh", name="dense_0")(inputs)
    outputs = layers.Dense(_CLASSES, activation="softmax", name="dense_1")(x)
    found = side.keras.Model(inputs, outputs, name="small")
    found.set_weights(
        [
            (0.4 * draws.rng(600 + number).normal(size=each.shape)).astype("float32")
            for number, each in enumerate(found.get_weights())
        ]
    )
    metrics = ["accuracy", "mse"]
    # Eagerly: with so few batches, tracing a graph costs more than it saves.
    found.compile("sgd", "categorical_crossentropy", metrics=metrics, run_eagerly=True)
    return found


def resolved(value: Any, kind: str, side: Side, made: Any = None) -> Any:
    """Replace the placeholders in a value by real objects; ``made`` is the model, if there is one.

    Each side makes its own: a model cannot be passed from one process to the other.
    """
    if isinstance(value, draws.Drawn):
        return _drawn(value.what, kind, side, made)
    if isinstance(value, (list, tuple)):
        return type(value)(resolved(each, kind, side, made) for each in value)
    if isinstance(value, dict):
        return {key: resolved(each, kind, side, made) for key, each in value.items()}
    return value


def _drawn(what: str, kind: str, side: Side, made: Any) -> Any:
    if what == "model":
        return model(kind, side) if made is None else made
    if what == "layer name":
        return "conv_2" if kind == PICTURES else "dense_1"
    if what == "layer":
        return side.keras.layers.Dense(4, name="inner")
    if what == "cell":
        return side.keras.layers.SimpleRNNCell(4, name="inner")
    if what == "optimizer":
        return side.keras.optimizers.SGD(0.1)
    if what == "schedule":
        return _halved
    held = data(kind)
    pairs = {"held_out": (held.held_out_x, held.held_out_y), "trained": (held.x, held.y)}
    return {**pairs, "x": held.held_out_x, "y": held.held_out_y}[what]


def _halved(epoch: int, rate: float = 0.1) -> float:
    """Return a learning rate for an epoch, like a schedule."""
    return float(rate) / (1.0 + float(epoch))
