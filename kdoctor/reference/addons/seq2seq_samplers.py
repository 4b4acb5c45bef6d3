"""Samplers of tensorflow_addons: what a decoder reads at each step."""

import abc

import tensorflow as tf


def time_first(tensor):
    """Swap the batch and the time of a tensor that has both."""
    rank = len(tensor.shape)
    return tensor if rank < 2 else tf.transpose(tensor, [1, 0, *range(2, rank)])


def as_steps(tensor):
    """Return the steps of a tensor, time first, as an array to read from."""
    size, shape = tf.shape(tensor)[0], tensor.shape[1:]
    return tf.TensorArray(tensor.dtype, size, element_shape=shape).unstack(tensor)


def bernoulli_sample(
    probs=None, logits=None, dtype=tf.int32, sample_shape=(), seed=None
):
    """Draw ones with some probabilities, else zeros."""
    probs = tf.convert_to_tensor(tf.sigmoid(logits) if probs is None else probs)
    shape = tf.concat([tf.reshape(sample_shape, [-1]), tf.shape(probs)], axis=0)
    drawn = tf.random.uniform(shape, seed=seed, dtype=probs.dtype)
    return tf.cast(drawn < probs, dtype)


def categorical_sample(logits, dtype=tf.int32, sample_shape=(), seed=None):
    """Draw classes by their logits."""
    logits = tf.convert_to_tensor(logits)
    shape = tf.reshape(tf.cast(sample_shape, tf.int32), [-1])
    rows = tf.reshape(logits, [-1, tf.shape(logits)[-1]])
    drawn = tf.random.categorical(rows, tf.reduce_prod(shape), seed=seed)
    shape = tf.concat([shape, tf.shape(logits)[:-1]], axis=0)
    return tf.cast(tf.reshape(tf.transpose(drawn), shape), dtype)


def probability_of(sampling_probability):
    """Return a probability as a tensor; a variable as it is, to be read later."""
    if not hasattr(sampling_probability, "assign"):
        sampling_probability = tf.convert_to_tensor(sampling_probability)
    if len(sampling_probability.shape) not in (0, 1):
        raise ValueError("sampling_probability must be either a scalar or a vector.")
    return sampling_probability


class Sampler(abc.ABC):
    """What gives a decoder its inputs, and draws from its outputs."""

    @abc.abstractmethod
    def initialize(self, inputs, **kwargs):
        """Return which sequences have ended, and the first inputs."""

    @abc.abstractmethod
    def sample(self, time, outputs, state):
        """Return the ids that are drawn from the outputs of a step."""

    @abc.abstractmethod
    def next_inputs(self, time, outputs, state, sample_ids):
        """Return which sequences have ended, the next inputs and the next state."""

    @property
    @abc.abstractmethod
    def batch_size(self):
        """The size of the batch, once `initialize` was called."""

    @property
    @abc.abstractmethod
    def sample_ids_shape(self):
        """The shape of what `sample` returns for each sequence."""

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self):
        """The dtype of what `sample` returns."""


class SizedSampler(Sampler):
    """A sampler that knows the size of its batch once it was initialized."""

    _batch_size = None

    @property
    def batch_size(self):
        """The size of the batch, once `initialize` was called."""
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self):
        """The shape of what `sample` returns for each sequence."""
        return tf.TensorShape([])

    @property
    def sample_ids_dtype(self):
        """The dtype of what `sample` returns."""
        return tf.int32


class CustomSampler(SizedSampler):
    """A sampler that is made of functions."""

    def __init__(
        self,
        initialize_fn,
        sample_fn,
        next_inputs_fn,
        sample_ids_shape=None,
        sample_ids_dtype=None,
    ):
        self._initialize_fn, self._sample_fn = initialize_fn, sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._sample_ids_shape = tf.TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or tf.int32

    @property
    def sample_ids_shape(self):
        """The shape of what `sample` returns for each sequence."""
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self):
        """The dtype of what `sample` returns."""
        return self._sample_ids_dtype

    def initialize(self, inputs, **kwargs):
        """Return which sequences have ended, and the first inputs."""
        finished, first = self._initialize_fn(inputs, **kwargs)
        self._batch_size = tf.size(finished)
        return finished, first

    def sample(self, time, outputs, state):
        """Return the ids that are drawn from the outputs of a step."""
        return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(self, time, outputs, state, sample_ids):
        """Return which sequences have ended, the next inputs and the next state."""
        return self._next_inputs_fn(
            time=time, outputs=outputs, state=state, sample_ids=sample_ids
        )


class TrainingSampler(SizedSampler):
    """A sampler that reads its inputs, whatever the outputs are."""

    def __init__(self, time_major=False):
        self.time_major = time_major

    def initialize(self, inputs, sequence_length=None, mask=None):
        """Return which sequences have ended, and the first inputs."""
        self.inputs = tf.convert_to_tensor(inputs)
        inputs = self.inputs if self.time_major else time_first(self.inputs)
        self._batch_size = tf.shape(inputs)[1]
        self.input_tas = as_steps(inputs)
        if sequence_length is not None and mask is not None:
            raise ValueError("sequence_length and mask can't both be given.")
        if sequence_length is not None:
            self.sequence_length = tf.convert_to_tensor(sequence_length)
            if len(self.sequence_length.shape) != 1:
                raise ValueError("Expected sequence_length to be vector.")
        elif mask is not None:
            self.sequence_length = self.length_of(tf.convert_to_tensor(mask))
        else:
            self.sequence_length = tf.fill([self._batch_size], tf.shape(inputs)[0])
        self.zero_inputs = tf.zeros_like(inputs[0])
        finished = tf.equal(0, self.sequence_length)
        return finished, self.read(0, tf.reduce_all(finished))

    def length_of(self, mask):
        """Return the lengths of sequences that are padded at their end."""
        if len(mask.shape) != 2 or mask.dtype != tf.bool:
            raise ValueError("Expected mask to be a 2D boolean tensor.")
        mask = tf.transpose(mask) if self.time_major else mask
        lengths = tf.reduce_sum(tf.cast(mask, tf.int32), axis=1)
        is_padded = tf.equal(mask, tf.sequence_mask(lengths, tf.shape(mask)[1]))
        message = ["The input sequence should be right padded."]
        with tf.control_dependencies([tf.Assert(tf.reduce_all(is_padded), message)]):
            return tf.identity(lengths)

    def read(self, time, all_finished):
        """Return the inputs of a step, zeros where all sequences have ended."""
        return tf.cond(
            all_finished, lambda: self.zero_inputs, lambda: self.input_tas.read(time)
        )

    def sample(self, time, outputs, state):
        """Return the ids with the largest outputs."""
        return tf.argmax(outputs, axis=-1, output_type=tf.int32)

    def next_inputs(self, time, outputs, state, sample_ids):
        """Return which sequences have ended, the next inputs and the state."""
        finished = time + 1 >= tf.cast(self.sequence_length, time.dtype)
        return finished, self.read(time + 1, tf.reduce_all(finished)), state


def mixed_inputs(is_sampled, sampled, inputs):
    """Return inputs with some rows replaced by others, in order."""
    shape = tf.shape(inputs)
    own = tf.cast(tf.where(tf.logical_not(is_sampled)), tf.int32)
    others = tf.cast(tf.where(is_sampled), tf.int32)
    sampled = tf.scatter_nd(others, tf.cast(sampled, inputs.dtype), shape)
    return sampled + tf.scatter_nd(own, tf.gather_nd(inputs, own), shape)


class ScheduledEmbeddingTrainingSampler(TrainingSampler):
    """A sampler that reads its inputs, or ids drawn from the outputs, at random."""

    def __init__(
        self,
        sampling_probability,
        embedding_fn=None,
        time_major=False,
        seed=None,
        scheduling_seed=None,
    ):
        super().__init__(time_major=time_major)
        self.embedding_fn = embedding_fn
        self.sampling_probability = probability_of(sampling_probability)
        self.seed, self.scheduling_seed = seed, scheduling_seed

    def initialize(self, inputs, sequence_length=None, mask=None, embedding=None):
        """Return which sequences have ended, and the first inputs."""
        if self.embedding_fn is None:
            if embedding is None:
                raise ValueError("embedding is required as a keyword argument")
            self.embedding_fn = lambda ids: tf.nn.embedding_lookup(embedding, ids)
        return super().initialize(inputs, sequence_length=sequence_length, mask=mask)

    def sample(self, time, outputs, state):
        """Return the ids that are drawn, -1 where none is."""
        is_sampled = bernoulli_sample(
            self.sampling_probability,
            dtype=tf.bool,
            sample_shape=self.batch_size,
            seed=self.scheduling_seed,
        )
        drawn = categorical_sample(logits=outputs, seed=self.seed)
        return tf.where(is_sampled, drawn, tf.fill([self.batch_size], -1))

    def next_inputs(self, time, outputs, state, sample_ids):
        """Return which sequences have ended, the next inputs and the state."""
        finished, inputs, state = super().next_inputs(time, outputs, state, sample_ids)

        def mixed():
            is_sampled = sample_ids > -1
            drawn = tf.boolean_mask(sample_ids, is_sampled)
            return mixed_inputs(is_sampled, self.embedding_fn(drawn), inputs)

        return finished, tf.cond(tf.reduce_all(finished), lambda: inputs, mixed), state


class ScheduledOutputTrainingSampler(TrainingSampler):
    """A sampler that reads its inputs, or the outputs themselves, at random."""

    def __init__(
        self, sampling_probability, time_major=False, seed=None, next_inputs_fn=None
    ):
        super().__init__(time_major=time_major)
        self.sampling_probability = probability_of(sampling_probability)
        self.seed, self.next_inputs_fn = seed, next_inputs_fn

    def initialize(
        self, inputs, sequence_length=None, mask=None, auxiliary_inputs=None
    ):
        """Return which sequences have ended, and the first inputs."""
        self.auxiliary = None
        if auxiliary_inputs is not None:
            other = tf.convert_to_tensor(auxiliary_inputs)
            inputs = tf.concat((tf.convert_to_tensor(inputs), other), -1)
            self.auxiliary = as_steps(other if self.time_major else time_first(other))
        return super().initialize(inputs, sequence_length=sequence_length, mask=mask)

    def sample(self, time, outputs, state):
        """Return 1 for each sequence that goes on with its output."""
        return bernoulli_sample(
            self.sampling_probability, sample_shape=self.batch_size, seed=self.seed
        )

    def next_inputs(self, time, outputs, state, sample_ids):
        """Return which sequences have ended, the next inputs and the state."""
        finished, inputs, state = super().next_inputs(time, outputs, state, sample_ids)
        is_sampled = tf.cast(sample_ids, tf.bool)

        def mixed():
            sampled = tf.boolean_mask(outputs, is_sampled)
            if self.next_inputs_fn is not None:
                sampled = self.next_inputs_fn(sampled)
            if self.auxiliary is not None:
                other = tf.boolean_mask(self.auxiliary.read(time + 1), is_sampled)
                sampled = tf.concat((sampled, other), -1)
            return mixed_inputs(is_sampled, sampled, inputs)

        stays = tf.reduce_all(finished) | ~tf.reduce_any(is_sampled)
        return finished, tf.cond(stays, lambda: inputs, mixed), state


class GreedyEmbeddingSampler(SizedSampler):
    """A sampler that goes on with the embedding of the likeliest id."""

    def __init__(self, embedding_fn=None):
        self.embedding_fn = embedding_fn

    def initialize(self, embedding, start_tokens=None, end_token=None):
        """Return which sequences have ended, none, and the first inputs."""
        if self.embedding_fn is None:
            self.embedding_fn = lambda ids: tf.nn.embedding_lookup(embedding, ids)
        self.start_tokens = tf.cast(start_tokens, tf.int32)
        self.end_token = tf.cast(end_token, tf.int32)
        if len(self.start_tokens.shape) != 1:
            raise ValueError("start_tokens must be a vector")
        if len(self.end_token.shape) != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = tf.size(self.start_tokens)
        self.start_inputs = self.embedding_fn(self.start_tokens)
        return tf.fill([self._batch_size], False), self.start_inputs

    def sample(self, time, outputs, state):
        """Return the ids with the largest outputs."""
        return tf.argmax(outputs, axis=-1, output_type=tf.int32)

    def next_inputs(self, time, outputs, state, sample_ids):
        """Return which sequences have ended, the next inputs and the state."""
        finished = tf.equal(sample_ids, self.end_token)
        following = tf.cond(
            tf.reduce_all(finished),
            lambda: self.start_inputs,
            lambda: self.embedding_fn(sample_ids),
        )
        return finished, following, state


class SampleEmbeddingSampler(GreedyEmbeddingSampler):
    """A sampler that goes on with the embedding of an id drawn from the outputs."""

    def __init__(self, embedding_fn=None, softmax_temperature=None, seed=None):
        super().__init__(embedding_fn)
        self.softmax_temperature, self.seed = softmax_temperature, seed

    def sample(self, time, outputs, state):
        """Return ids that are drawn by the outputs as logits."""
        if self.softmax_temperature is not None:
            outputs = outputs / self.softmax_temperature
        return categorical_sample(logits=outputs, seed=self.seed)


class InferenceSampler(SizedSampler):
    """A sampler that is made of functions, for prediction."""

    def __init__(
        self, sample_fn, sample_shape, sample_dtype, end_fn, next_inputs_fn=None
    ):
        self.sample_fn, self.end_fn = sample_fn, end_fn
        self.sample_shape = tf.TensorShape(sample_shape)
        self.sample_dtype, self.next_inputs_fn = sample_dtype, next_inputs_fn

    @property
    def sample_ids_shape(self):
        """The shape of what `sample` returns for each sequence."""
        return self.sample_shape

    @property
    def sample_ids_dtype(self):
        """The dtype of what `sample` returns."""
        return self.sample_dtype

    def initialize(self, start_inputs):
        """Return which sequences have ended, none, and the first inputs."""
        self.start_inputs = tf.convert_to_tensor(start_inputs)
        self._batch_size = tf.shape(self.start_inputs)[0]
        return tf.fill([self._batch_size], False), self.start_inputs

    def sample(self, time, outputs, state):
        """Return what is drawn from the outputs of a step."""
        return self.sample_fn(outputs)

    def next_inputs(self, time, outputs, state, sample_ids):
        """Return which sequences have ended, the next inputs and the state."""
        following = sample_ids
        if self.next_inputs_fn is not None:
            following = self.next_inputs_fn(sample_ids)
        return self.end_fn(sample_ids), following, state
