"""Decoders of tensorflow_addons, which make one step after another."""

import collections

import keras
import tensorflow as tf

from kdoctor.reference.addons.seq2seq_samplers import time_first


def held(state):
    """Return a state as Keras takes it: a function, where a part of it is no tensor."""
    parts = tf.nest.flatten(state)
    has_array = any(isinstance(each, tf.TensorArray) for each in parts)
    return (lambda: state) if has_array else state


class Decoder:
    """What `dynamic_decode` runs, if it is no layer."""

    tracks_own_finished = False

    @property
    def batch_size(self):
        """The size of the batch."""
        raise NotImplementedError

    @property
    def output_size(self):
        """The shape of what a step gives for each sequence."""
        raise NotImplementedError

    @property
    def output_dtype(self):
        """The dtypes of what a step gives."""
        raise NotImplementedError

    def initialize(self, name=None):
        """Return which sequences have ended, the first inputs and the first state."""
        raise NotImplementedError

    def step(self, time, inputs, state, training=None, name=None):
        """Return the outputs, the next state, the next inputs and which have ended."""
        raise NotImplementedError

    def finalize(self, outputs, final_state, sequence_lengths):
        """Return other outputs and another state for those of the last step."""
        raise NotImplementedError


# Without inputs, Keras gives `call` the masks of all else: a dictionary.
class BaseDecoder(keras.layers.Layer):
    """A layer that gives one token after another, until all sequences have ended."""

    tracks_own_finished = False

    def __init__(
        self,
        output_time_major=False,
        impute_finished=False,
        maximum_iterations=None,
        parallel_iterations=32,
        swap_memory=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.output_time_major = output_time_major
        self.impute_finished = impute_finished
        self.maximum_iterations = maximum_iterations
        self.parallel_iterations = parallel_iterations
        self.swap_memory = swap_memory
        self.supports_jit = False
        self.supports_masking = True

    def build(self, input_shape):
        """Leave it to the first step: what the cell reads, the sampler says."""
        self.built = True

    def compute_mask(self, inputs, mask=None):
        """Return no mask: the lengths say where a sequence ends."""

    def __call__(self, inputs, initial_state=None, **kwargs):
        """Return the outputs, the last state and the lengths of the sequences."""
        known = (tf.Tensor, tf.Variable, keras.KerasTensor, keras.Variable, bool)
        kwargs = {
            name: each if isinstance(each, known) else tf.convert_to_tensor(each)
            for name, each in kwargs.items()
            if each is not None
        }
        return super().__call__(inputs, initial_state=held(initial_state), **kwargs)

    def call(
        self,
        inputs,
        initial_state=None,
        training=None,
        mask=None,
        inputs_mask=None,
        **kwargs,
    ):
        """Return the outputs, the last state and the lengths of the sequences."""
        if callable(initial_state):
            initial_state = initial_state()
        mask = inputs_mask if mask is None else mask
        if tf.is_tensor(mask):
            kwargs["mask"] = mask
        return dynamic_decode(
            self,
            output_time_major=self.output_time_major,
            impute_finished=self.impute_finished,
            maximum_iterations=self.maximum_iterations,
            parallel_iterations=self.parallel_iterations,
            swap_memory=self.swap_memory,
            training=training,
            decoder_init_input=inputs,
            decoder_init_kwargs={**kwargs, "initial_state": initial_state},
        )

    @property
    def batch_size(self):
        """The size of the batch."""
        raise NotImplementedError

    @property
    def output_size(self):
        """The shape of what a step gives for each sequence."""
        raise NotImplementedError

    @property
    def output_dtype(self):
        """The dtypes of what a step gives."""
        raise NotImplementedError

    def initialize(self, inputs, initial_state=None, **kwargs):
        """Return which sequences have ended, the first inputs and the first state."""
        raise NotImplementedError

    def step(self, time, inputs, state, training):
        """Return the outputs, the next state, the next inputs and which have ended."""
        raise NotImplementedError

    def finalize(self, outputs, final_state, sequence_lengths):
        """Return other outputs and another state for those of the last step."""
        raise NotImplementedError


def kept_where(finished, new, old):
    """Return the old state of sequences that have ended, of the others the new one."""
    if isinstance(old, tf.TensorArray) or len(new.shape) == 0:
        return new
    shape = tf.concat([tf.shape(finished), [1] * (len(new.shape) - 1)], axis=0)
    return tf.where(tf.reshape(finished, shape), old, new)


# A layer is a `BaseDecoder`, or a copy of that class in another file.
def dynamic_decode(
    decoder,
    output_time_major=False,
    impute_finished=False,
    maximum_iterations=None,
    parallel_iterations=32,
    swap_memory=False,
    training=None,
    scope=None,
    enable_tflite_convertible=False,
    **kwargs,
):
    """Return the outputs of a decoder, its last state and the lengths."""
    if maximum_iterations is not None:
        maximum_iterations = tf.cast(maximum_iterations, tf.int32)
        if len(maximum_iterations.shape) != 0:
            raise ValueError("maximum_iterations must be a scalar")
    if isinstance(decoder, keras.layers.Layer):
        own = kwargs.pop("decoder_init_kwargs", {})
        first = decoder.initialize(kwargs.pop("decoder_init_input", None), **own)
    else:
        first = decoder.initialize()
    finished, inputs, state = first
    if maximum_iterations is not None:
        finished = finished | (maximum_iterations <= 0)
    lengths = tf.zeros_like(finished, dtype=tf.int32)
    is_flat = enable_tflite_convertible
    if is_flat:
        tf.debugging.assert_equal(decoder.batch_size, 1)

    def empty(shape, dtype):
        if is_flat:
            shape = [tf.TensorShape(shape).num_elements()]
            return tf.TensorArray(dtype, maximum_iterations, element_shape=shape)
        shape = tf.TensorShape([None]).concatenate(shape)
        return tf.TensorArray(dtype, 0, dynamic_size=True, element_shape=shape)

    def goes_on(time, written, state, inputs, finished, lengths):
        return tf.logical_not(tf.reduce_all(finished))

    def step(time, written, state, inputs, finished, lengths):
        outputs, new_state, inputs, ended = decoder.step(time, inputs, state, training)
        own_lengths = None
        if decoder.tracks_own_finished:
            own_lengths = getattr(new_state, "lengths", None)
        else:
            ended = ended | finished
        if own_lengths is not None:
            lengths = tf.cast(own_lengths, tf.int32)
        else:
            lengths = tf.where(finished, lengths, time + 1)
        if impute_finished:
            outputs = tf.nest.map_structure(
                lambda each: kept_where(finished, each, tf.zeros_like(each)), outputs
            )
            new_state = tf.nest.map_structure(
                lambda new, old: kept_where(finished, new, old), new_state, state
            )
        if is_flat:
            outputs = tf.nest.map_structure(lambda e: tf.reshape(e, [-1]), outputs)
        written = tf.nest.map_structure(
            lambda array, each: array.write(time, each), written, outputs
        )
        return time + 1, written, new_state, inputs, ended, lengths

    written = tf.nest.map_structure(empty, decoder.output_size, decoder.output_dtype)
    _, written, state, _, _, lengths = tf.while_loop(
        goes_on,
        step,
        (tf.constant(0), written, state, inputs, finished, lengths),
        parallel_iterations=parallel_iterations,
        maximum_iterations=maximum_iterations,
        swap_memory=swap_memory,
    )
    outputs = tf.nest.map_structure(lambda array: array.stack(), written)
    try:
        outputs, state = decoder.finalize(outputs, state, lengths)
    except NotImplementedError:
        pass
    if not output_time_major and is_flat:
        outputs = tf.nest.map_structure(lambda e: tf.expand_dims(e, 1), outputs)
    if not output_time_major:
        outputs = tf.nest.map_structure(time_first, outputs)
    return outputs, state, lengths


class BasicDecoderOutput(
    collections.namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))
):
    """What a step gives, and the ids that were drawn from it."""


class BasicDecoder(BaseDecoder):
    """A decoder that runs a cell, and a layer on what it gives."""

    def __init__(self, cell, sampler, output_layer=None, **kwargs):
        super().__init__(**kwargs)
        self.cell, self.sampler, self.output_layer = cell, sampler, output_layer

    def initialize(self, inputs, initial_state=None, **kwargs):
        """Return which sequences have ended, the first inputs and the first state."""
        self.state_dtype = tf.nest.flatten(initial_state)[0].dtype
        return (*self.sampler.initialize(inputs, **kwargs), initial_state)

    @property
    def batch_size(self):
        """The size of the batch."""
        return self.sampler.batch_size

    @property
    def output_size(self):
        """The shape of what a step gives for each sequence."""
        size = tf.TensorShape(self.cell.output_size)
        if self.output_layer is not None:
            size = self.output_layer.compute_output_shape((None, *size))[1:]
        return BasicDecoderOutput(tf.TensorShape(size), self.sampler.sample_ids_shape)

    @property
    def output_dtype(self):
        """The dtypes of what a step gives."""
        return BasicDecoderOutput(self.state_dtype, self.sampler.sample_ids_dtype)

    def step(self, time, inputs, state, training=None):
        """Return the outputs, the next state, the next inputs and which have ended."""
        outputs, new_state = self.cell(inputs, state, training=training)
        state = tf.nest.pack_sequence_as(state, tf.nest.flatten(new_state))
        if self.output_layer is not None:
            outputs = self.output_layer(outputs)
        ids = self.sampler.sample(time=time, outputs=outputs, state=state)
        finished, inputs, state = self.sampler.next_inputs(
            time=time, outputs=outputs, state=state, sample_ids=ids
        )
        return BasicDecoderOutput(outputs, ids), state, inputs, finished
