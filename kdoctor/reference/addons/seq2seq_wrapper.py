"""The cell with attention of tensorflow_addons."""

import keras
import tensorflow as tf

from kdoctor.reference.addons.seq2seq_attention import AttentionWrapperState
from kdoctor.reference.addons.seq2seq_decoders import held


def compute_attention(mechanism, cell_output, attention_state, attention_layer):
    """Return the attention, the alignments and the next state of one mechanism."""
    alignments, state = mechanism([cell_output, attention_state])
    context = tf.squeeze(tf.matmul(alignments[:, None], mechanism.values), [1])
    if attention_layer is None:
        return context, alignments, state
    attention = attention_layer(tf.concat([cell_output, context], 1))
    return attention, alignments, state


class AttentionWrapper(keras.layers.Layer):
    """A cell that reads what it attended to, beside its inputs."""

    def __init__(
        self,
        cell,
        attention_mechanism,
        attention_layer_size=None,
        alignment_history=False,
        cell_input_fn=None,
        output_attention=True,
        initial_cell_state=None,
        name=None,
        attention_layer=None,
        attention_fn=None,
        **kwargs,
    ):
        super().__init__(name=name, **kwargs)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        mechanisms = attention_mechanism if self._is_multi else [attention_mechanism]
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError(
                "Only one of attention_layer_size and attention_layer should be set"
            )
        mixing = attention_layer
        if attention_layer_size is not None:
            is_one = not isinstance(attention_layer_size, (list, tuple))
            mixing = [
                keras.layers.Dense(
                    size,
                    name="attention_layer",
                    use_bias=False,
                    dtype=kwargs.get("dtype"),
                )
                for size in ([attention_layer_size] if is_one else attention_layer_size)
            ]
        if mixing is not None:
            mixing = list(mixing) if isinstance(mixing, (list, tuple)) else [mixing]
            if len(mixing) != len(mechanisms):
                raise ValueError(
                    "attention_layer or attention_layer_size must contain exactly one "
                    f"per attention_mechanism, saw: {len(mixing)} vs {len(mechanisms)}"
                )
        self._cell, self._attention_mechanisms = cell, list(mechanisms)
        self._attention_layers = mixing
        self._attention_fn = attention_fn or compute_attention
        self._cell_input_fn = cell_input_fn or self.joined
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        self._initial_cell_state = None
        if initial_cell_state is not None:
            size = tf.shape(tf.nest.flatten(initial_cell_state)[-1])[0]
            self.check_batch(size)
            self._initial_cell_state = initial_cell_state

    def joined(self, inputs, attention):
        """Return inputs beside what was attended to."""
        return tf.concat([inputs, attention], -1)

    def check_batch(self, batch_size):
        """Raise an error unless each mechanism has a memory for this batch."""
        for each in self._attention_mechanisms:
            if not each.memory_initialized:
                raise ValueError(
                    "The AttentionMechanism instances passed to this AttentionWrapper "
                    "should be initialized with a memory first."
                )
            message = "Non-matching batch sizes between the memory and the decoder."
            tf.debugging.assert_equal(batch_size, each.batch_size, message=message)

    def attention_size(self):
        """Return how many features the attention has."""
        sizes = [each.values.shape[-1] for each in self._attention_mechanisms]
        if self._attention_layers is not None:
            cell = self._cell.output_size
            pairs = zip(self._attention_layers, sizes)
            sizes = [
                each.compute_output_shape((None, cell + size))[-1]
                for each, size in pairs
            ]
        return sum(sizes)

    def _item_or_tuple(self, parts):
        parts = tuple(parts)
        return parts if self._is_multi else parts[0]

    @property
    def output_size(self):
        """How many features a step gives."""
        return (
            self.attention_size() if self._output_attention else self._cell.output_size
        )

    @property
    def state_size(self):
        """The sizes of what a state is made of."""
        sizes = [each.alignments_size for each in self._attention_mechanisms]
        histories = [each if self._alignment_history else () for each in sizes]
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            attention=self.attention_size(),
            alignments=self._item_or_tuple(sizes),
            attention_state=self._item_or_tuple(
                each.state_size for each in self._attention_mechanisms
            ),
            alignment_history=self._item_or_tuple(histories),
        )

    def cell_state(self, batch_size, dtype):
        """Return the first state of the cell."""
        if self._initial_cell_state is not None:
            return self._initial_cell_state
        state = self._cell.get_initial_state(batch_size=batch_size)
        if not tf.nest.is_nested(self._cell.state_size) and tf.nest.is_nested(state):
            (state,) = state
        return tf.nest.map_structure(lambda each: tf.cast(each, dtype), state)

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """Return the first state of the cell, and zeros."""
        if inputs is not None:
            batch_size, dtype = tf.shape(inputs)[0], inputs.dtype
        dtype = dtype or self.compute_dtype
        self.check_batch(batch_size)
        mechanisms = self._attention_mechanisms
        first = [each.initial_alignments(batch_size, dtype) for each in mechanisms]
        return AttentionWrapperState(
            cell_state=self.cell_state(batch_size, dtype),
            attention=tf.zeros([batch_size, self.attention_size()], dtype=dtype),
            alignments=self._item_or_tuple(first),
            attention_state=self._item_or_tuple(
                each.initial_state(batch_size, dtype) for each in mechanisms
            ),
            alignment_history=self._item_or_tuple(
                tf.TensorArray(
                    dtype, size=0, dynamic_size=True, element_shape=each.shape
                )
                if self._alignment_history
                else ()
                for each in first
            ),
        )

    def build(self, input_shape):
        """Leave it to the first step: what the cell reads, `cell_input_fn` says."""
        self.built = True

    def __call__(self, inputs, state, **kwargs):
        """Return the output and the state of a step."""
        return super().__call__(inputs, state=held(state), **kwargs)

    def call(self, inputs, state, **kwargs):
        """Return the output and the state of a step."""
        state = state() if callable(state) else state
        if not isinstance(state, AttentionWrapperState):
            state = AttentionWrapperState(*state)
        cell_output, cell_state = self._cell(
            self._cell_input_fn(inputs, state.attention), state.cell_state, **kwargs
        )
        cell_state = tf.nest.pack_sequence_as(
            state.cell_state, tf.nest.flatten(cell_state)
        )
        self.check_batch(cell_output.shape[0] or tf.shape(cell_output)[0])
        histories = state.alignment_history
        states = state.attention_state
        if not self._is_multi:
            histories, states = [histories], [states]
        mixing = self._attention_layers or [None] * len(self._attention_mechanisms)
        found = [
            self._attention_fn(mechanism, cell_output, each, layer)
            for mechanism, each, layer in zip(
                self._attention_mechanisms, states, mixing
            )
        ]
        attention = tf.concat([each for each, _, _ in found], 1)
        new_state = AttentionWrapperState(
            cell_state=cell_state,
            attention=attention,
            alignments=self._item_or_tuple(each for _, each, _ in found),
            attention_state=self._item_or_tuple(each for _, _, each in found),
            alignment_history=self._item_or_tuple(
                history.write(history.size(), alignments)
                if self._alignment_history
                else ()
                for history, (_, alignments, _) in zip(histories, found)
            ),
        )
        return (attention if self._output_attention else cell_output), new_state
