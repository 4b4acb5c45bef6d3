"""The functions of a linear-chain conditional random field of tensorflow_addons."""

import keras
import numpy as np


def crf_integers(given):
    """Return labels or lengths as integers."""
    return keras.ops.cast(keras.ops.convert_to_tensor(given), "int32")


def crf_places(steps):
    """Return the number of each step in its sequence."""
    return keras.ops.cumsum(keras.ops.ones_like(steps, "int32"), axis=1) - 1


def crf_there(steps, lengths):
    """Return which steps are there, by the lengths of the sequences."""
    lengths = keras.ops.expand_dims(crf_integers(lengths), 1)
    return keras.ops.less(crf_places(steps), lengths)


def crf_backwards(steps, lengths):
    """Return sequences read from behind; what is beyond their lengths stays."""
    lengths = keras.ops.expand_dims(lengths, 1)
    places = crf_places(steps if len(steps.shape) == 2 else steps[:, :, 0])
    places = keras.ops.where(places < lengths, lengths - 1 - places, places)
    if len(steps.shape) == 3:
        places = keras.ops.expand_dims(places, 2) + keras.ops.zeros_like(steps, "int32")
    return keras.ops.take_along_axis(steps, places, axis=1)


def crf_scanned(step, state, steps):
    """Return the last state, and what each step gave; a step that is added is dropped.

    It is added where there may be none, which no scan of TensorFlow can do.
    """
    is_open = steps.shape[1] is None
    if is_open:
        steps = keras.ops.pad(steps, ((0, 0), (0, 1), (0, 0)))
    last, found = keras.ops.scan(step, state, keras.ops.transpose(steps, (1, 0, 2)))
    found = keras.ops.transpose(found, (1, 0, 2))
    return last, found[:, :-1] if is_open else found


def crf_filtered_inputs(inputs, tag_bitmap):
    """Return scores of which those of labels that may not be are minus infinity."""
    inputs = keras.ops.convert_to_tensor(inputs)
    never = keras.ops.full_like(inputs, float("-inf"))
    return keras.ops.where(tag_bitmap, inputs, never)


def crf_unary_score(tag_indices, sequence_lengths, inputs):
    """Return the sum of the scores of the labels of each sequence."""
    inputs, labels = keras.ops.convert_to_tensor(inputs), crf_integers(tag_indices)
    places = keras.ops.expand_dims(labels, 2)
    scores = keras.ops.take_along_axis(inputs, places, axis=2)[:, :, 0]
    there = keras.ops.cast(crf_there(labels, sequence_lengths), scores.dtype)
    return keras.ops.sum(scores * there, 1)


def crf_binary_score(tag_indices, sequence_lengths, transition_params):
    """Return the sum of the scores of the transitions of each sequence."""
    labels = crf_integers(tag_indices)
    chain = keras.ops.convert_to_tensor(transition_params)
    places = labels[:, :-1] * keras.ops.shape(chain)[0] + labels[:, 1:]
    scores = keras.ops.take(keras.ops.reshape(chain, (-1,)), places, axis=0)
    there = keras.ops.cast(crf_there(labels, sequence_lengths), scores.dtype)
    return keras.ops.sum(scores * there[:, 1:], 1)


def crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params):
    """Return the score of each sequence with its labels, not normalized."""
    inputs = keras.ops.convert_to_tensor(inputs)
    if inputs.shape[1] == 1:
        first = keras.ops.expand_dims(crf_integers(tag_indices)[:, :1], 2)
        scores = keras.ops.take_along_axis(inputs, first, axis=2)[:, 0, 0]
        none = keras.ops.less_equal(crf_integers(sequence_lengths), 0)
        return keras.ops.where(none, keras.ops.zeros_like(scores), scores)
    scores = crf_unary_score(tag_indices, sequence_lengths, inputs)
    return scores + crf_binary_score(tag_indices, sequence_lengths, transition_params)


def crf_multitag_sequence_score(
    inputs, tag_bitmap, sequence_lengths, transition_params
):
    """Return the score of each sequence with all of the labels that may be."""
    allowed = keras.ops.cast(keras.ops.convert_to_tensor(tag_bitmap), "bool")
    scores = crf_filtered_inputs(inputs, allowed)
    if scores.shape[1] == 1:
        return keras.ops.logsumexp(scores, axis=(1, 2))
    return crf_log_norm(scores, sequence_lengths, transition_params)


def crf_forward(inputs, state, transition_params, sequence_lengths):
    """Return the scores of all paths to each label of the last step."""
    inputs = keras.ops.convert_to_tensor(inputs)
    state = keras.ops.convert_to_tensor(state)
    chain = keras.ops.expand_dims(keras.ops.convert_to_tensor(transition_params), 0)

    def step(last, scores):
        paths = keras.ops.expand_dims(last, 2) + chain
        found = scores + keras.ops.logsumexp(paths, axis=1)
        return found, found

    every = keras.ops.expand_dims(state, 1)
    if inputs.shape[1] != 0:
        _, found = crf_scanned(step, state, inputs)
        every = keras.ops.concatenate([every, found], axis=1)
    last = keras.ops.maximum(crf_integers(sequence_lengths) - 1, 0)
    last = keras.ops.reshape(last, (-1, 1, 1))
    last = last + keras.ops.zeros_like(every[:, :1], "int32")
    return keras.ops.take_along_axis(every, last, axis=1)[:, 0]


def crf_log_norm(inputs, sequence_lengths, transition_params):
    """Return the logarithm of the sum over all labels, for each sequence."""
    inputs = keras.ops.convert_to_tensor(inputs)
    lengths = crf_integers(sequence_lengths)
    first, rest = inputs[:, 0], inputs[:, 1:]
    if inputs.shape[1] != 1:
        first = crf_forward(rest, first, transition_params, lengths)
    found = keras.ops.logsumexp(first, axis=1)
    none = keras.ops.less_equal(lengths, 0)
    return keras.ops.where(none, keras.ops.zeros_like(found), found)


def crf_log_likelihood(inputs, tag_indices, sequence_lengths, transition_params=None):
    """Return the log-likelihood of the labels of each sequence, and the transitions."""
    inputs = keras.ops.convert_to_tensor(inputs)
    if transition_params is None:
        initializer = keras.initializers.GlorotUniform()
        transition_params = initializer((inputs.shape[2], inputs.shape[2]))
    chain = keras.ops.convert_to_tensor(transition_params)
    chain = keras.ops.cast(chain, inputs.dtype)
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, chain)
    return score - crf_log_norm(inputs, sequence_lengths, chain), chain


def viterbi_decode(score, transition_params):
    """Return the best labels of one sequence, and their score, with NumPy."""
    trellis = np.zeros_like(score)
    before = np.zeros_like(score, dtype=np.int32)
    trellis[0] = score[0]
    for step in range(1, score.shape[0]):
        paths = np.expand_dims(trellis[step - 1], 1) + transition_params
        trellis[step] = score[step] + np.max(paths, 0)
        before[step] = np.argmax(paths, 0)
    labels = [np.argmax(trellis[-1])]
    for row in reversed(before[1:]):
        labels.append(row[labels[-1]])
    labels.reverse()
    return labels, np.max(trellis[-1])


@keras.saving.register_keras_serializable("Addons", "CrfDecodeForwardRnnCell")
class CrfDecodeForwardRnnCell(keras.layers.Layer):
    """A step of the search for the best labels: which one each comes from."""

    def __init__(self, transition_params, **kwargs):
        super().__init__(**kwargs)
        chain = keras.ops.convert_to_tensor(transition_params)
        self._transition_params = keras.ops.expand_dims(chain, 0)
        self._num_tags = chain.shape[0]

    @property
    def state_size(self):
        """The number of labels."""
        return self._num_tags

    @property
    def output_size(self):
        """The number of labels."""
        return self._num_tags

    def call(self, inputs, state):
        """Return the label before each, and the score of each."""
        chain = keras.ops.cast(self._transition_params, self.compute_dtype)
        paths = keras.ops.expand_dims(state[0], 2) + chain
        before = keras.ops.cast(keras.ops.argmax(paths, axis=1), "int32")
        return before, inputs + keras.ops.max(paths, axis=1)

    def get_config(self):
        """Return the arguments."""
        chain = keras.ops.convert_to_numpy(self._transition_params[0]).tolist()
        return {**super().get_config(), "transition_params": chain}

    @classmethod
    def from_config(cls, config):
        """Return the cell again."""
        chain = np.array(config["transition_params"], dtype=np.float32)
        return cls(**{**config, "transition_params": chain})


def crf_decode_forward(inputs, state, transition_params, sequence_lengths):
    """Return which label each comes from, and the scores behind the last step."""
    inputs = keras.ops.convert_to_tensor(inputs)
    state = keras.ops.convert_to_tensor(state)
    cell = CrfDecodeForwardRnnCell(transition_params, dtype=inputs.dtype)
    there = keras.ops.expand_dims(crf_there(inputs[:, :, 0], sequence_lengths), 2)

    def step(last, given):
        before, found = cell(given[:, :-1], [last])
        is_there = keras.ops.greater(given[:, -1:], 0)
        before = keras.ops.where(is_there, before, keras.ops.zeros_like(before))
        found = keras.ops.where(is_there, found, last)
        return found, keras.ops.cast(before, found.dtype)

    if inputs.shape[1] == 0:
        return [keras.ops.cast(inputs, "int32"), state]
    there = keras.ops.cast(there, inputs.dtype)
    given = keras.ops.concatenate([inputs, there], axis=2)
    last, before = crf_scanned(step, state, given)
    return [crf_integers(before), last]


def crf_decode_backward(inputs, state):
    """Return the labels that lead to those of the last step."""
    inputs, state = crf_integers(inputs), crf_integers(state)

    def step(label, before):
        found = keras.ops.take_along_axis(before, label, axis=1)
        return found, found

    if inputs.shape[1] == 0:
        return inputs[:, :, :1]
    return crf_scanned(step, state, inputs)[1]


def crf_decode(potentials, transition_params, sequence_length):
    """Return the best labels of each sequence, and their score."""
    potentials = keras.ops.convert_to_tensor(potentials)
    lengths = crf_integers(sequence_length)
    if potentials.shape[1] == 1:
        labels = keras.ops.cast(keras.ops.argmax(potentials, axis=2), "int32")
        return labels, keras.ops.max(potentials[:, 0], axis=1)
    less = keras.ops.maximum(lengths - 1, 0)
    before, score = crf_decode_forward(
        potentials[:, 1:], potentials[:, 0], transition_params, less
    )
    last = keras.ops.expand_dims(keras.ops.argmax(score, axis=1), 1)
    last = keras.ops.cast(last, "int32")
    labels = crf_decode_backward(crf_backwards(before, less), last)[:, :, 0]
    labels = keras.ops.concatenate([last, labels], axis=1)
    return crf_backwards(labels, lengths), keras.ops.max(score, axis=1)


def crf_constrained_decode(potentials, tag_bitmap, transition_params, sequence_length):
    """Return the best of the labels that may be, and their score."""
    allowed = crf_filtered_inputs(potentials, tag_bitmap)
    return crf_decode(allowed, transition_params, sequence_length)
