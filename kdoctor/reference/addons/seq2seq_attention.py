"""Attention of tensorflow_addons, for the decoders of sequences."""

import collections
import math

import keras
import tensorflow as tf


def hardmax(logits, name=None):
    """Return 1 for the largest of the last axis, else 0."""
    logits = tf.convert_to_tensor(logits)
    depth = logits.shape[-1] or tf.shape(logits)[-1]
    return tf.one_hot(tf.argmax(logits, -1), depth, dtype=logits.dtype)


class AttentionMechanism(keras.layers.Layer):
    """A layer that is given a memory once, and then asked what to attend to."""

    def __init__(
        self,
        memory,
        probability_fn,
        query_layer=None,
        memory_layer=None,
        memory_sequence_length=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.query_layer, self.memory_layer = query_layer, memory_layer
        self.default_probability_fn = self.probability_fn = probability_fn
        self.keys = self.values = self.batch_size = None
        self._memory_initialized = False
        self.supports_masking = True
        if memory is not None:
            inputs = memory
            if memory_sequence_length is not None:
                inputs = [memory, tf.convert_to_tensor(memory_sequence_length)]
            self.values = super().__call__(inputs, setup_memory=True)

    @property
    def memory_initialized(self):
        """Whether there is a memory."""
        return self._memory_initialized

    def build(self, input_shape):
        """Build the layer of the memory, with all else that needs no query."""
        if self.memory_layer is not None and not self.memory_layer.built:
            is_one = isinstance(input_shape[-1], int)
            self.memory_layer.build(input_shape if is_one else input_shape[0])
        self.built = True

    def __call__(self, inputs, **kwargs):
        """Take a memory, or answer a query."""
        if kwargs.get("setup_memory", False):
            self._memory_initialized = False
        if self._memory_initialized:
            if len(inputs) not in (2, 3):
                raise ValueError("Expect the inputs to have 2 or 3 tensors")
            inputs = [*inputs, self.values][:3]
        return super().__call__(inputs, **kwargs)

    def call(self, inputs, mask=None, setup_memory=False, **kwargs):
        """Take a memory, or answer a query."""
        if not setup_memory:
            if not self._memory_initialized:
                raise ValueError(
                    "Cannot query the attention before the setup of memory"
                )
            return self._calculate_attention(inputs[0], inputs[1])
        lengths = None
        if isinstance(inputs, (list, tuple)):
            mask = mask[0] if isinstance(mask, (list, tuple)) else mask
            lengths = inputs[1] if len(inputs) == 2 else None
            inputs = inputs[0]
        self.setup_memory(inputs, lengths, mask)
        return self.values

    def setup_memory(self, memory, memory_sequence_length=None, memory_mask=None):
        """Take a memory; what is behind its length, or masked, is not attended to."""
        memory = tf.convert_to_tensor(memory)
        if memory_sequence_length is not None:
            if memory_mask is not None:
                raise ValueError(
                    "memory_sequence_length and memory_mask cannot be used at same time"
                )
            lengths = tf.convert_to_tensor(memory_sequence_length)
            tf.debugging.assert_positive(
                lengths, "All values in memory_sequence_length must greater than zero."
            )
            memory_mask = tf.sequence_mask(lengths, tf.shape(memory)[1])
        self.values = memory
        self.probability_fn = self.default_probability_fn
        if memory_mask is not None:
            kept = tf.cast(memory_mask, memory.dtype)
            self.values = memory * tf.reshape(
                kept, [*tf.unstack(tf.shape(kept)), *[1] * (len(memory.shape) - 2)]
            )

            def masked(score, previous):
                lowest = score.dtype.min * tf.ones_like(score)
                score = tf.where(tf.cast(memory_mask, tf.bool), score, lowest)
                return self.default_probability_fn(score, previous)

            self.probability_fn = masked
        self.keys = self.values
        if self.memory_layer is not None:
            self.keys = self.memory_layer(self.values)
        self.batch_size = self.keys.shape[0] or tf.shape(self.keys)[0]
        self._alignments_size = self.keys.shape[1] or tf.shape(self.keys)[1]
        self._memory_initialized = True

    def _calculate_attention(self, query, state):
        raise NotImplementedError

    def compute_mask(self, inputs, mask=None):
        """Return no mask: what is attended to is no sequence."""

    def _process_probability_fn(self, func_name):
        known = {"softmax": tf.nn.softmax, "hardmax": hardmax}
        if func_name not in known:
            raise ValueError(f"Invalid probability function: {func_name}")
        return known[func_name]

    @property
    def alignments_size(self):
        """How long the memory is."""
        size = self._alignments_size
        return size if isinstance(size, int) else tf.TensorShape([None])

    @property
    def state_size(self):
        """How long the memory is."""
        return self.alignments_size

    def initial_alignments(self, batch_size, dtype):
        """Return zeros."""
        return tf.zeros([batch_size, self._alignments_size], dtype=dtype)

    def initial_state(self, batch_size, dtype):
        """Return the state before the first query."""
        return self.initial_alignments(batch_size, dtype)

    def get_config(self):
        """Return the arguments, without the memory."""
        config = {**super().get_config(), "memory": None}
        for name in ("query_layer", "memory_layer"):
            layer = getattr(self, name)
            if layer is not None:
                config[name] = keras.saving.serialize_keras_object(layer)
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Make it from its arguments."""
        config = dict(config)
        for name in ("query_layer", "memory_layer"):
            if config.get(name):
                config[name] = keras.saving.deserialize_keras_object(
                    config[name], custom_objects=custom_objects
                )
        return cls(**config)


@keras.saving.register_keras_serializable("Addons", "LuongAttention")
class LuongAttention(AttentionMechanism):
    """Attention by the product of a query with each step of the memory."""

    def __init__(
        self,
        units,
        memory=None,
        memory_sequence_length=None,
        scale=False,
        probability_fn="softmax",
        dtype=None,
        name="LuongAttention",
        **kwargs,
    ):
        self.probability_fn_name = probability_fn
        probabilities = self._process_probability_fn(probability_fn)
        memory_layer = kwargs.pop("memory_layer", None) or keras.layers.Dense(
            units, name="memory_layer", use_bias=False, dtype=dtype
        )
        self.units, self.scale, self.scale_weight = units, scale, None
        super().__init__(
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            query_layer=None,
            memory_layer=memory_layer,
            probability_fn=lambda score, previous: probabilities(score),
            name=name,
            dtype=dtype,
            **kwargs,
        )

    def build(self, input_shape):
        """Make the weight of the scale."""
        super().build(input_shape)
        if self.scale and self.scale_weight is None:
            self.scale_weight = self.add_weight(
                name="attention_g", initializer="ones", shape=()
            )

    def _calculate_attention(self, query, state):
        depth, units = query.shape[-1], self.keys.shape[-1]
        if depth != units:
            raise ValueError(
                f"The query has {depth} units, the keys have {units}: set units={depth}"
            )
        score = tf.squeeze(tf.matmul(query[:, None], self.keys, transpose_b=True), [1])
        if self.scale_weight is not None:
            score = tf.convert_to_tensor(self.scale_weight) * score
        alignments = self.probability_fn(score, state)
        return alignments, alignments

    def get_config(self):
        """Return the arguments, without the memory."""
        own = {
            "units": self.units,
            "scale": self.scale,
            "probability_fn": self.probability_fn_name,
        }
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "BahdanauAttention")
class BahdanauAttention(AttentionMechanism):
    """Attention by a query added to each step of the memory."""

    def __init__(
        self,
        units,
        memory=None,
        memory_sequence_length=None,
        normalize=False,
        probability_fn="softmax",
        kernel_initializer="glorot_uniform",
        dtype=None,
        name="BahdanauAttention",
        **kwargs,
    ):
        self.probability_fn_name = probability_fn
        probabilities = self._process_probability_fn(probability_fn)
        query_layer = kwargs.pop("query_layer", None) or keras.layers.Dense(
            units, name="query_layer", use_bias=False, dtype=dtype
        )
        memory_layer = kwargs.pop("memory_layer", None) or keras.layers.Dense(
            units, name="memory_layer", use_bias=False, dtype=dtype
        )
        self.units, self.normalize = units, normalize
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.attention_v = self.attention_g = self.attention_b = None
        super().__init__(
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            query_layer=query_layer,
            memory_layer=memory_layer,
            probability_fn=lambda score, previous: probabilities(score),
            name=name,
            dtype=dtype,
            **kwargs,
        )

    def build(self, input_shape):
        """Make the weights that score, and those that normalize them."""
        super().build(input_shape)
        if self.attention_v is None:
            self.attention_v = self.add_weight(
                name="attention_v",
                shape=[self.units],
                initializer=self.kernel_initializer,
            )
        if self.normalize and self.attention_g is None:
            length = keras.initializers.Constant(math.sqrt(1.0 / self.units))
            self.attention_g = self.add_weight(
                name="attention_g", initializer=length, shape=()
            )
            self.attention_b = self.add_weight(
                name="attention_b", shape=[self.units], initializer="zeros"
            )

    def _calculate_attention(self, query, state):
        query = self.query_layer(query) if self.query_layer else query
        scored = tf.convert_to_tensor(self.attention_v)
        mixed = self.keys + query[:, None]
        if self.attention_g is not None:
            length = tf.math.rsqrt(tf.reduce_sum(tf.square(scored)))
            scored = tf.convert_to_tensor(self.attention_g) * scored * length
            mixed += tf.convert_to_tensor(self.attention_b)
        alignments = self.probability_fn(
            tf.reduce_sum(scored * tf.tanh(mixed), [2]), state
        )
        return alignments, alignments

    def get_config(self):
        """Return the arguments, without the memory."""
        own = {
            "units": self.units,
            "normalize": self.normalize,
            "probability_fn": self.probability_fn_name,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
        }
        return {**super().get_config(), **own}


class AttentionWrapperState(
    collections.namedtuple(
        "AttentionWrapperState",
        (
            "cell_state",
            "attention",
            "alignments",
            "alignment_history",
            "attention_state",
        ),
    )
):
    """The state of a cell with attention."""

    def clone(self, **kwargs):
        """Return a state with other parts, each of the shape that it had."""

        def as_before(old, new):
            if tf.is_tensor(old) and tf.is_tensor(new):
                tf.debugging.assert_equal(tf.shape(new), tf.shape(old))
            return new

        return tf.nest.map_structure(as_before, self, self._replace(**kwargs))
