"""The base class of Keras 2's layers that learn from data before the training: by `adapt`."""

import keras
import tensorflow as tf


class PreprocessingLayer(keras.layers.Layer):
    """A layer whose state is computed from data before the training: by `adapt`."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._is_adapted = False
        self._reset_state_impl = self.reset_state
        self.reset_state = self._reset_state_wrapper

    @property
    def is_adapted(self):
        """Whether `adapt` has run since the state was last reset."""
        return self._is_adapted

    def update_state(self, data):
        """Add a batch to the state."""
        raise NotImplementedError

    def reset_state(self):
        """Set the state back to what it was before `adapt`."""
        raise NotImplementedError

    def finalize_state(self):
        """Compute what follows from the state, after the last batch."""

    def compile(self, run_eagerly=None, steps_per_execution=None):
        """Do nothing: `adapt` runs batch by batch, outside of a graph."""

    def adapt(self, data, batch_size=None, steps=None):
        """Compute the state anew from a dataset or from arrays."""
        if self.built:
            self.reset_state()
        if not isinstance(data, tf.data.Dataset):
            data = tf.data.Dataset.from_tensor_slices(data).batch(batch_size or 32)
        for batch in data if steps is None else data.take(steps):
            self._adapt_maybe_build(batch)
            self.update_state(batch)
        self.finalize_state()
        self._is_adapted = True

    def _adapt_maybe_build(self, data):
        if not self.built:
            self.build(getattr(data, "shape", None))
            self.built = True

    def _reset_state_wrapper(self):
        self._reset_state_impl()
        self._is_adapted = False
