"""The search with beams of tensorflow_addons."""

import collections

import tensorflow as tf

from kdoctor.reference.addons.seq2seq_beams import gather_tree, gather_tree_from_array
from kdoctor.reference.addons.seq2seq_decoders import BaseDecoder


class BeamSearchDecoderState(
    collections.namedtuple(
        "BeamSearchDecoderState",
        (
            "cell_state",
            "log_probs",
            "finished",
            "lengths",
            "accumulated_attention_probs",
        ),
    )
):
    """The state of a search with beams."""


class BeamSearchDecoderOutput(
    collections.namedtuple(
        "BeamSearchDecoderOutput", ("scores", "predicted_ids", "parent_ids")
    )
):
    """What a step of a search with beams gives."""


class FinalBeamSearchDecoderOutput(
    collections.namedtuple(
        "FinalBeamDecoderOutput", ("predicted_ids", "beam_search_decoder_output")
    )
):
    """The ids of all beams, best first, and what the steps gave."""


# A state is known by a field, not by its class: another file may have a copy of that.
def attended(cell_state):
    """Return the mean of what each attention of a cell attends to."""
    states = [cell_state] if hasattr(cell_state, "alignments") else cell_state
    states = states if isinstance(states, (list, tuple)) else []
    states = [each for each in states if hasattr(each, "alignments")]
    if not states:
        raise ValueError(
            "coverage_penalty_weight must be 0.0 if no cell is attentional."
        )
    found = []
    for each in states:
        parts = each.alignments
        is_one = not isinstance(parts, tuple)
        found.append(parts if is_one else tf.reduce_mean(tf.stack(parts, -1), -1))
    return found[0] if len(found) == 1 else tf.reduce_mean(tf.stack(found, -1), -1)


# The dtype of the scores is that of the state, so nothing is cast to the decoder's own.
# All beams begin alike: only the first may go on. What was not attended to at all is
# behind the end of its memory, and no part of what is not covered.
class BeamSearchDecoder(BaseDecoder):
    """A decoder that keeps the sequences with the best scores."""

    tracks_own_finished = True

    def __init__(
        self,
        cell,
        beam_width,
        embedding_fn=None,
        output_layer=None,
        length_penalty_weight=0.0,
        coverage_penalty_weight=0.0,
        reorder_tensor_arrays=True,
        **kwargs,
    ):
        output_all_scores = kwargs.pop("output_all_scores", False)
        super().__init__(**{"autocast": False, **kwargs})
        self._cell, self._output_layer = cell, output_layer
        self._beam_width, self._embedding_fn = beam_width, embedding_fn
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._output_all_scores = output_all_scores
        self._batch_size = None

    @property
    def batch_size(self):
        """The size of the batch, without beams."""
        return self._batch_size

    @property
    def output_size(self):
        """The shape of what a step gives for each sequence."""
        beams = tf.TensorShape([self._beam_width])
        scores = beams
        if self._output_all_scores:
            size = tf.TensorShape(self._cell.output_size)
            if self._output_layer is not None:
                size = self._output_layer.compute_output_shape((None, *size))[1:]
            scores = beams.concatenate(size[-1:])
        return BeamSearchDecoderOutput(scores, beams, beams)

    @property
    def output_dtype(self):
        """The dtypes of what a step gives."""
        return BeamSearchDecoderOutput(self._scores_dtype, tf.int32, tf.int32)

    def initialize(self, embedding, start_tokens, end_token, initial_state):
        """Return which beams have ended, the first inputs and the first state."""
        if embedding is not None:
            self._embedding_fn = lambda ids: tf.nn.embedding_lookup(embedding, ids)
        elif self._embedding_fn is None:
            raise ValueError(
                "You should either pass an embedding variable when calling the "
                "BeamSearchDecoder or set embedding_fn in the constructor."
            )
        start_tokens = tf.cast(start_tokens, tf.int32)
        self._end_token = tf.cast(end_token, tf.int32)
        if len(start_tokens.shape) != 1:
            raise ValueError("start_tokens must be a vector")
        if len(self._end_token.shape) != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = tf.size(start_tokens)
        self._known_batch = start_tokens.shape[0]
        cell_state = tf.nest.map_structure(self.split, initial_state)
        tokens = tf.tile(start_tokens[:, None], [1, self._beam_width])
        self._start_inputs = self._embedding_fn(tokens)
        dtype = self._scores_dtype = tf.nest.flatten(cell_state)[0].dtype
        is_first = tf.one_hot(
            tf.zeros_like(start_tokens), self._beam_width, True, False, dtype=tf.bool
        )
        coverage = ()
        if self._coverage_penalty_weight != 0.0:
            coverage = attended(cell_state)
        state = BeamSearchDecoderState(
            cell_state=cell_state,
            log_probs=tf.math.log(tf.cast(is_first, dtype)),
            finished=tf.logical_not(is_first),
            lengths=tf.zeros_like(tokens, dtype=tf.int64),
            accumulated_attention_probs=coverage,
        )
        return state.finished, self._start_inputs, state

    def split(self, state):
        """Return a part of a state with the beams apart."""
        if isinstance(state, tf.TensorArray) or len(state.shape) == 0:
            return state
        sizes = [self._batch_size, self._beam_width]
        found = tf.reshape(state, tf.concat([sizes, tf.shape(state)[1:]], 0))
        found.set_shape([self._known_batch, self._beam_width, *state.shape[1:]])
        return found

    def merged(self, state):
        """Return a part of a state with the beams of all sequences in one row."""
        if isinstance(state, tf.TensorArray) or len(state.shape) < 2:
            return state
        found = tf.reshape(state, tf.concat([[-1], tf.shape(state)[2:]], 0))
        known = self._known_batch
        size = None if known is None else known * self._beam_width
        found.set_shape([size, *state.shape[2:]])
        return found

    def step(self, time, inputs, state, training=None, name=None):
        """Return the outputs, the next state, the next inputs and which have ended."""
        inputs = tf.nest.map_structure(self.merged, inputs)
        cell_state = tf.nest.map_structure(self.merged, state.cell_state)
        logits, cell_state = self._cell(inputs, cell_state, training=training)
        cell_state = tf.nest.map_structure(
            self.split,
            tf.nest.pack_sequence_as(state.cell_state, tf.nest.flatten(cell_state)),
        )
        logits = self.split(logits)
        if self._output_layer is not None:
            logits = self._output_layer(logits)
        outputs, state = self.best(logits, cell_state, state)
        inputs = tf.cond(
            tf.reduce_all(state.finished),
            lambda: self._start_inputs,
            lambda: self._embedding_fn(outputs.predicted_ids),
        )
        return outputs, state, inputs, state.finished

    def best(self, logits, cell_state, state):
        """Return the best ways to go on, and the state of each."""
        size = logits.shape[-1] or tf.shape(logits)[-1]
        ended, end = state.finished, self._end_token
        steps = tf.nn.log_softmax(logits)
        dtype = steps.dtype
        only_end = tf.one_hot(end, size, tf.cast(0.0, dtype), dtype.min, dtype=dtype)
        steps = tf.where(ended[..., None], only_end, steps)
        totals = state.log_probs[..., None] + steps
        is_longer = tf.one_hot(end, size, 0, 1, dtype=tf.int64)
        goes_on = tf.cast(tf.logical_not(ended), tf.int64)
        lengths = state.lengths[..., None] + is_longer * goes_on[..., None]
        coverage = state.accumulated_attention_probs
        if self._coverage_penalty_weight != 0.0:
            found = attended(cell_state)
            coverage = coverage + found * tf.cast(goes_on, found.dtype)[..., None]
        scores = self.scores(totals, lengths, ended, coverage)
        rows = self._known_batch or self._batch_size
        flat = tf.reshape(scores, [rows, self._beam_width * size])
        best_scores, places = tf.math.top_k(flat, self._beam_width)
        ids, beams = places % size, places // size

        def of_beams(part):
            if isinstance(part, tf.TensorArray) or len(part.shape) < 2:
                return part
            return tf.gather(part, beams, axis=1, batch_dims=1)

        ended = of_beams(ended)
        flat = tf.reshape(totals, [rows, self._beam_width * size])
        following = BeamSearchDecoderState(
            cell_state=tf.nest.map_structure(of_beams, cell_state),
            log_probs=tf.gather(flat, places, axis=1, batch_dims=1),
            finished=ended | (ids == end),
            lengths=of_beams(state.lengths) + tf.cast(~ended, tf.int64),
            accumulated_attention_probs=tf.nest.map_structure(of_beams, coverage),
        )
        told = scores if self._output_all_scores else best_scores
        return BeamSearchDecoderOutput(told, ids, beams), following

    def scores(self, totals, lengths, ended, coverage):
        """Return scores for logarithms of probabilities, by lengths and coverage."""
        if self._length_penalty_weight != 0.0:
            ratio = (5.0 + tf.cast(lengths, tf.float32)) / 6.0
            totals /= tf.cast(ratio**self._length_penalty_weight, totals.dtype)
        if self._coverage_penalty_weight == 0.0:
            return totals
        coverage = tf.where(coverage == 0.0, tf.ones_like(coverage), coverage)
        missed = tf.reduce_sum(tf.math.log(tf.minimum(coverage, 1.0)), 2)
        missed *= tf.cast(ended, missed.dtype)
        return totals + (missed * self._coverage_penalty_weight)[..., None]

    def finalize(self, outputs, final_state, sequence_lengths):
        """Return the ids of all beams, and the state with its histories in order."""
        lengths = final_state.lengths
        longest = tf.cast(tf.reduce_max(lengths, axis=1), tf.int32)
        parents = outputs.parent_ids
        ids = gather_tree(outputs.predicted_ids, parents, longest, self._end_token)

        def in_order(part):
            if not isinstance(part, tf.TensorArray):
                return part
            shape = part.element_shape
            if shape.rank is None or shape.rank < 1:
                return part
            known, width = self._known_batch, self._beam_width
            fits = known is None or shape[0] in (None, known * width)
            if not fits and shape[:2].as_list() != [known, width]:
                return part
            return gather_tree_from_array(part.stack(), parents, lengths)

        if self._reorder_tensor_arrays:
            state = tf.nest.map_structure(in_order, final_state.cell_state)
            final_state = final_state._replace(cell_state=state)
        return FinalBeamSearchDecoderOutput(ids, outputs), final_state
