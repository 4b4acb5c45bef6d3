"""Attention mechanisms of tensorflow_addons that never go back."""

import math

import keras
import tensorflow as tf

from kdoctor.reference.addons.seq2seq_attention import AttentionMechanism
from kdoctor.reference.addons.seq2seq_monotonic import monotonic_attention


class MonotonicAttentionMechanism(AttentionMechanism):
    """An attention that begins with the first step, and never goes back."""

    def __init__(
        self,
        units,
        sigmoid_noise=0.0,
        sigmoid_noise_seed=None,
        score_bias_init=0.0,
        mode="parallel",
        dtype=None,
        **kwargs,
    ):
        memory_layer = kwargs.pop("memory_layer", None) or keras.layers.Dense(
            units, name="memory_layer", use_bias=False, dtype=dtype
        )
        self.units, self.mode = units, mode
        self.sigmoid_noise = sigmoid_noise
        self.sigmoid_noise_seed = sigmoid_noise_seed
        self.score_bias_init = score_bias_init
        self.attention_score_bias = None
        super().__init__(
            memory_layer=memory_layer,
            probability_fn=self.monotonic_probabilities,
            dtype=dtype,
            **kwargs,
        )

    def build(self, input_shape):
        """Make the number that is added to each score."""
        super().build(input_shape)
        if self.attention_score_bias is None:
            self.attention_score_bias = self.add_weight(
                name="attention_score_bias",
                initializer=keras.initializers.Constant(self.score_bias_init),
                shape=(),
            )

    def monotonic_probabilities(self, score, previous):
        """Return what is attended to, by the scores and by what was attended to."""
        if self.sigmoid_noise > 0:
            noise = tf.random.normal(
                tf.shape(score), dtype=score.dtype, seed=self.sigmoid_noise_seed
            )
            score += self.sigmoid_noise * noise
        is_hard = self.mode == "hard"
        chosen = tf.cast(score > 0, score.dtype) if is_hard else tf.sigmoid(score)
        return monotonic_attention(chosen, previous, self.mode)

    def raw_score(self, query):
        """Return the score of each step of the memory."""
        raise NotImplementedError

    def _calculate_attention(self, query, state):
        score = self.raw_score(query) + tf.convert_to_tensor(self.attention_score_bias)
        alignments = self.probability_fn(score, state)
        return alignments, alignments

    def initial_alignments(self, batch_size, dtype):
        """Return 1 for the first step of the memory, else 0."""
        first = tf.zeros([batch_size], dtype=tf.int32)
        return tf.one_hot(first, self._alignments_size, dtype=dtype)

    def get_config(self):
        """Return the arguments, without the memory."""
        own = {
            "units": self.units,
            "sigmoid_noise": self.sigmoid_noise,
            "sigmoid_noise_seed": self.sigmoid_noise_seed,
            "score_bias_init": self.score_bias_init,
            "mode": self.mode,
        }
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "LuongMonotonicAttention")
class LuongMonotonicAttention(MonotonicAttentionMechanism):
    """Attention that never goes back, by the product of a query with the memory."""

    def __init__(
        self,
        units,
        memory=None,
        memory_sequence_length=None,
        scale=False,
        sigmoid_noise=0.0,
        sigmoid_noise_seed=None,
        score_bias_init=0.0,
        mode="parallel",
        dtype=None,
        name="LuongMonotonicAttention",
        **kwargs,
    ):
        self.scale, self.attention_g = scale, None
        super().__init__(
            units,
            sigmoid_noise,
            sigmoid_noise_seed,
            score_bias_init,
            mode,
            dtype,
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            query_layer=None,
            name=name,
            **kwargs,
        )

    def build(self, input_shape):
        """Make the weight of the scale."""
        if self.scale and self.attention_g is None:
            self.attention_g = self.add_weight(
                name="attention_g", initializer="ones", shape=()
            )
        super().build(input_shape)

    def raw_score(self, query):
        """Return the score of each step of the memory."""
        depth, units = query.shape[-1], self.keys.shape[-1]
        if depth != units:
            raise ValueError(
                f"The query has {depth} units, the keys have {units}: set units={depth}"
            )
        score = tf.squeeze(tf.matmul(query[:, None], self.keys, transpose_b=True), [1])
        if self.attention_g is None:
            return score
        return tf.convert_to_tensor(self.attention_g) * score

    def get_config(self):
        """Return the arguments, without the memory."""
        return {**super().get_config(), "scale": self.scale}


@keras.saving.register_keras_serializable("Addons", "BahdanauMonotonicAttention")
class BahdanauMonotonicAttention(MonotonicAttentionMechanism):
    """Attention that never goes back, by a query added to each step of the memory."""

    def __init__(
        self,
        units,
        memory=None,
        memory_sequence_length=None,
        normalize=False,
        sigmoid_noise=0.0,
        sigmoid_noise_seed=None,
        score_bias_init=0.0,
        mode="parallel",
        kernel_initializer="glorot_uniform",
        dtype=None,
        name="BahdanauMonotonicAttention",
        **kwargs,
    ):
        query_layer = kwargs.pop("query_layer", None) or keras.layers.Dense(
            units, name="query_layer", use_bias=False, dtype=dtype
        )
        self.normalize = normalize
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.attention_v = self.attention_g = self.attention_b = None
        super().__init__(
            units,
            sigmoid_noise,
            sigmoid_noise_seed,
            score_bias_init,
            mode,
            dtype,
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            query_layer=query_layer,
            name=name,
            **kwargs,
        )

    def build(self, input_shape):
        """Make the weights that score, and those that normalize them."""
        if self.attention_v is None:
            self.attention_v = self.add_weight(
                name="attention_v",
                shape=[self.units],
                initializer=self.kernel_initializer,
            )
        super().build(input_shape)
        if self.normalize and self.attention_g is None:
            length = keras.initializers.Constant(math.sqrt(1.0 / self.units))
            self.attention_g = self.add_weight(
                name="attention_g", initializer=length, shape=()
            )
            self.attention_b = self.add_weight(
                name="attention_b", shape=[self.units], initializer="zeros"
            )

    def raw_score(self, query):
        """Return the score of each step of the memory."""
        query = self.query_layer(query) if self.query_layer else query
        scored = tf.convert_to_tensor(self.attention_v)
        mixed = self.keys + query[:, None]
        if self.attention_g is not None:
            length = tf.math.rsqrt(tf.reduce_sum(tf.square(scored)))
            scored = tf.convert_to_tensor(self.attention_g) * scored * length
            mixed += tf.convert_to_tensor(self.attention_b)
        return tf.reduce_sum(scored * tf.tanh(mixed), [2])

    def get_config(self):
        """Return the arguments, without the memory."""
        own = {
            "normalize": self.normalize,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
        }
        return {**super().get_config(), **own}
