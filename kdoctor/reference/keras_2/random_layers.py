"""The base class of Keras 2's layers that draw random numbers, and what it draws them from."""

import random

import keras
import tensorflow as tf


class RandomGenerator:
    """Draw random numbers: from a `tf.random.Generator`, from a seed alone, or as `tf.random`."""

    RNG_STATELESS = "stateless"
    RNG_STATEFUL = "stateful"
    RNG_LEGACY_STATEFUL = "legacy_stateful"

    def __init__(self, seed=None, rng_type=None, force_generator=False):
        kinds = (self.RNG_STATEFUL, self.RNG_LEGACY_STATEFUL, self.RNG_STATELESS)
        if rng_type not in (None, *kinds):
            raise ValueError(f"`rng_type` is one of {kinds}, not {rng_type!r}")
        self._seed, self._generator = seed, None
        self._rng_type = rng_type or self.RNG_LEGACY_STATEFUL
        if force_generator:
            self._rng_type = self.RNG_STATEFUL

    def _maybe_init(self):
        if self._rng_type == self.RNG_LEGACY_STATEFUL:
            return
        if self._seed is None:
            self._seed = random.randint(1, int(1e9))
        if self._rng_type == self.RNG_STATEFUL and self._generator is None:
            make = tf.random.Generator.from_seed
            with tf.init_scope():
                self._generator = make(self._seed, alg="auto_select")

    def make_seed_for_stateless_op(self):
        """Return two numbers as a seed, None for a generator of legacy random numbers."""
        self._maybe_init()
        if self._rng_type == self.RNG_STATELESS:
            return [self._seed, 0]
        if self._rng_type == self.RNG_STATEFUL:
            return self._generator.make_seeds()[:, 0]
        return None

    def make_legacy_seed(self):
        """Return the seed, which is another one each time, or None."""
        if self._seed is None:
            return None
        self._seed += 1
        return self._seed - 1

    def _drawn(self, kind, nonce, shape, low, high, dtype):
        """Draw numbers; `low` and `high` are what the two parameters of `kind` are given."""
        self._maybe_init()
        given = (shape, low, high, dtype or keras.config.floatx())
        if self._rng_type == self.RNG_STATEFUL:
            return getattr(self._generator, kind)(*given)
        if self._rng_type == self.RNG_LEGACY_STATEFUL:
            return getattr(tf.random, kind)(*given, seed=self.make_legacy_seed())
        seed = self.make_seed_for_stateless_op()
        if nonce:
            seed = tf.random.experimental.stateless_fold_in(seed, nonce)
        return getattr(tf.random, f"stateless_{kind}")(shape, seed, *given[1:])

    def random_normal(self, shape, mean=0.0, stddev=1.0, dtype=None, nonce=None):
        """Draw from a normal distribution."""
        return self._drawn("normal", nonce, shape, mean, stddev, dtype)

    def random_uniform(self, shape, minval=0.0, maxval=None, dtype=None, nonce=None):
        """Draw from a uniform distribution."""
        return self._drawn("uniform", nonce, shape, minval, maxval, dtype)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=None, nonce=None):
        """Draw from a normal distribution, nothing beyond two standard deviations."""
        return self._drawn("truncated_normal", nonce, shape, mean, stddev, dtype)

    def dropout(self, inputs, rate, noise_shape=None):
        """Set a share of the inputs to zero."""
        self._maybe_init()
        if self._rng_type == self.RNG_STATEFUL:
            draw = self._generator.uniform
            return tf.nn.experimental.general_dropout(inputs, rate, draw, noise_shape)
        if self._rng_type == self.RNG_STATELESS:
            given = {"seed": self.make_seed_for_stateless_op(), "noise_shape": noise_shape}
            return tf.nn.experimental.stateless_dropout(inputs, rate, **given)
        return tf.nn.dropout(inputs, rate, noise_shape, self.make_legacy_seed())


class BaseRandomLayer(keras.layers.Layer):
    """A layer that draws random numbers from its `_random_generator`."""

    def __init__(self, seed=None, force_generator=False, rng_type=None, **kwargs):
        super().__init__(**kwargs)
        self._random_generator = RandomGenerator(seed, rng_type, force_generator)

    def build(self, input_shape):
        """Make the generator outside of the graph."""
        super().build(input_shape)
        self._random_generator._maybe_init()

    def get_config(self):
        """Tell the kind of the generator where it is none of legacy random numbers."""
        config = super().get_config()
        kind = self._random_generator._rng_type
        if kind != RandomGenerator.RNG_LEGACY_STATEFUL:
            config["rng_type"] = kind
        return config
