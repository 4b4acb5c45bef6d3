"""Checks of the base class of layers that learn by ``adapt``, by subclasses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tf_keras.src.engine.base_preprocessing_layer import PreprocessingLayer

from kdoctor.verify.keras_2_code.classes import family_of
from kdoctor.verify.keras_2_code.comparing import assert_same, result

_CASES = 40


def _adapted_layers(base: Any) -> dict[str, Any]:
    """Return subclasses as people write them."""

    class Centered(base):  # type: ignore[misc]
        def build(self, input_shape: Any) -> None:
            size = input_shape[-1]
            self.total = self.add_weight(name="total", shape=(size,), initializer="zeros")
            self.count = self.add_weight(name="count", shape=(), initializer="zeros")
            self.mean = self.add_weight(name="mean", shape=(size,), initializer="zeros")
            super().build(input_shape)

        def update_state(self, data: Any) -> None:
            data = tf.cast(data, "float32")
            self.total.assign_add(tf.reduce_sum(data, 0))
            self.count.assign_add(tf.cast(tf.shape(data)[0], "float32"))

        def finalize_state(self) -> None:
            self.mean.assign(tf.math.divide_no_nan(self.total, self.count))

        def reset_state(self) -> None:
            for each in (self.total, self.count, self.mean):
                each.assign(tf.zeros_like(each))

        def call(self, inputs: Any) -> Any:
            return inputs - tf.convert_to_tensor(self.mean)

    class Stateless(base):  # type: ignore[misc]
        """Has no state, as casts and texts' cleaners."""

        def call(self, inputs: Any) -> Any:
            return tf.cast(inputs, "float32")

    return {each.__name__: each for each in (Centered, Stateless)}


def _adapted(new: Any) -> None:
    random = np.random.default_rng(46)
    olds = _adapted_layers(PreprocessingLayer)
    news = _adapted_layers(new)
    for _ in range(_CASES):
        rows, size = int(random.integers(1, 80)), int(random.integers(1, 5))
        data = random.normal(size=(rows, size)).astype("float32")
        batch, as_dataset = int(random.integers(1, 40)), bool(random.integers(2))
        steps = int(random.integers(1, 4)) if as_dataset and rows > 4 * batch else None
        about = f"{rows} rows of {size} by {batch}, {steps} steps, a dataset: {as_dataset}"
        both = [
            _learned(made["Centered"], data, batch, steps, as_dataset=as_dataset)
            for made in (olds, news)
        ]
        assert_same(both, about)
    for made in (olds, news):
        assert not made["Stateless"]().is_adapted
    x = np.arange(6).reshape(2, 3)
    assert_same([made["Stateless"]()(x) for made in (olds, news)], "without a state")
    assert_same(
        [result(made["Stateless"]().adapt, x) for made in (olds, news)], "no `update_state`"
    )
    bare = [result(base().reset_state) for base in (PreprocessingLayer, new)]
    assert_same(bare, "no `reset_state`")


def _learned(
    layer: Any, data: Any, batch: int, steps: int | None, *, as_dataset: bool
) -> list[Any]:
    made, told = layer(), []
    for part in (data, data[: len(data) // 2 + 1] * 2):  # the second begins anew
        if as_dataset:
            made.adapt(tf.data.Dataset.from_tensor_slices(part).batch(batch), steps=steps)
        else:
            made.adapt(part, batch_size=batch)
        told += [made(tf.constant(data)), made.is_adapted]
    made.reset_state()
    made.compile()
    return [*told, made.is_adapted, made(tf.constant(data))]


CHECKS: dict[str, Callable[[Any], None]] = {
    "PreprocessingLayer": _adapted,
    "PREPROCESSING": family_of(PreprocessingLayer),
}
