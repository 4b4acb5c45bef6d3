"""Checks of the base class of layers that draw random numbers, by subclasses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras.src.engine import base_layer

from kdoctor.verify.keras_2_code.comparing import assert_same, result
from kdoctor.verify.keras_2_code.functions import one_of

_CASES = 40
_CALLS = 3  # of one layer: each draws other numbers
_SHAPES = ((3, 4), (2, 5, 3), (1, 8))
_GIVEN: tuple[dict[str, Any], ...] = (
    {},
    {"force_generator": True},
    *({"rng_type": each} for each in ("stateful", "stateless", "legacy_stateful")),
    {"force_generator": True, "rng_type": "stateless"},
)


def _random_layers(base: Any) -> dict[str, Any]:
    """Return subclasses as people write them."""

    class Normal(base):  # type: ignore[misc]
        def call(self, inputs: Any) -> Any:
            drawn = self._random_generator.random_normal
            return inputs + drawn(tf.shape(inputs), 2.0, stddev=0.5)

    class Uniform(base):  # type: ignore[misc]
        def call(self, inputs: Any) -> Any:
            generator = self._random_generator
            whole = generator.random_uniform((4,), minval=1, maxval=9, dtype=tf.int32)
            return inputs * generator.random_uniform(shape=(), maxval=3.0), whole

    class Truncated(base):  # type: ignore[misc]
        def call(self, inputs: Any) -> Any:
            return inputs - self._random_generator.truncated_normal(inputs.shape[1:], nonce=7)

    class Dropped(base):  # type: ignore[misc]
        def call(self, inputs: Any) -> Any:
            shape = (tf.shape(inputs)[0], *(1 for _ in inputs.shape[1:]))
            return self._random_generator.dropout(inputs, 0.5, noise_shape=shape)

    class Seeded(base):  # type: ignore[misc]
        """Gives operations of TensorFlow a seed of its own."""

        def call(self, inputs: Any) -> Any:
            seed = self._random_generator.make_seed_for_stateless_op()
            legacy = self._random_generator.make_legacy_seed()
            if seed is None:
                return tf.random.shuffle(inputs, seed=legacy)
            return inputs + tf.random.stateless_uniform(tf.shape(inputs), seed)

    made = (Normal, Uniform, Truncated, Dropped, Seeded)
    return {each.__name__: each for each in made}


def _random(new: Any) -> None:
    random = np.random.default_rng(46)
    olds, news = _random_layers(base_layer.BaseRandomLayer), _random_layers(new)
    for _ in range(_CASES):
        name, shape = one_of(random, sorted(olds)), one_of(random, _SHAPES)
        given, seed = one_of(random, _GIVEN), int(random.integers(1, 1000))
        x = tf.constant(random.normal(size=shape).astype("float32"))
        about = f"{name} {given} {seed} of {shape}"
        assert_same([_drawn(made[name], x, seed, given) for made in (olds, news)], about)
        configs = [made[name](seed=seed, **given).get_config() for made in (olds, news)]
        assert_same([each.get("rng_type") for each in configs], f"the config of {about}")
        again = news[name].from_config(configs[1]).get_config()
        assert_same([configs[0].get("rng_type"), again.get("rng_type")], f"{about}, made again")
    for name in sorted(olds):
        x = random.normal(size=(4, 6)).astype("float32")
        both = ((tf_keras, olds[name]), (keras, news[name]))
        assert_same([_predicted(root, made, x) for root, made in both], f"{name} in a model")
    refused = [result(made["Normal"], rng_type="other") for made in (olds, news)]
    assert_same(refused, "an unknown kind")


def _drawn(layer: Any, x: Any, seed: int, given: dict[str, Any]) -> list[Any]:
    tf.random.set_seed(46)
    made = layer(seed=seed, **given)
    return [made(x) for _ in range(_CALLS)]


def _predicted(root: Any, layer: Any, x: Any) -> list[Any]:
    inputs = root.Input(x.shape[1:])
    made = layer(seed=3, force_generator=True)
    model = root.Model(inputs, made(inputs))
    return [model.predict(x, verbose=0) for _ in range(_CALLS)]


CHECKS: dict[str, Callable[[Any], None]] = {"BaseRandomLayer": _random}
