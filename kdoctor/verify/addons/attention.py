"""Ways to ask attention over sequences what it does; run beside tensorflow_addons as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kdoctor.verify.addons.scenarios import Scenario, Side, _floats, _leaf, _random, _seed
from kdoctor.verify.addons.sequences import (
    _BATCH,
    _DEPTH,
    _TIME,
    _UNITS,
    _WORDS,
    _beside,
    _tensor,
)

_MEMORY, _LENGTHS = (_BATCH, 4, 5), [2, 4, 1]


def _with_values(layer: Any) -> None:
    for weight in layer.trainable_weights:
        weight.assign(_floats(_random(_seed(weight)), *weight.shape))


def of_attention(*cases: dict[str, Any]) -> Scenario:
    """Return the scenario of an attention: its alignments, and their gradients."""

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        tf = side.tf
        for number, case in enumerate(cases):
            for how in ("memory", "lengths", "mask", "call", "made"):
                about = f"{number} {how}"
                memory, query = _tensor(side, 3, *_MEMORY), _tensor(side, 4, _BATCH, _UNITS)
                if how == "made":
                    lengths = tf.constant(_LENGTHS)
                    mechanism = side.made(_UNITS, memory, lengths, **case)
                else:
                    mechanism = side.made(_UNITS, **case)
                    _remember(side, mechanism, memory, how)
                state = mechanism.initial_state(_BATCH, tf.float32)
                yield f"{about} first", state
                mechanism([query, state])
                _with_values(mechanism)
                yield f"{about} weights", sorted(map(_leaf, mechanism.trainable_weights))
                with tf.GradientTape() as tape:
                    tape.watch([memory, query])
                    _remember(side, mechanism, memory, how)
                    alignments, state = mechanism([query, state])
                    total = tf.reduce_sum(alignments**2)
                yield f"{about} alignments", alignments
                yield f"{about} state", state
                yield f"{about} values", mechanism.values
                yield f"{about} keys", mechanism.keys
                slopes = tape.gradient(total, [memory, query], unconnected_gradients="zero")
                yield f"{about} gradient of the memory", slopes[0]
                yield f"{about} gradient of the query", slopes[1]
            config = mechanism.get_config()
            again = type(mechanism).from_config(config).get_config()
            yield f"{number} again", all(again[each] == case[each] for each in case)

    return run


def _remember(side: Side, mechanism: Any, memory: Any, how: str) -> None:
    lengths = side.tf.constant(_LENGTHS)
    if how == "memory":
        mechanism.setup_memory(memory)
    elif how in ("lengths", "made"):
        mechanism.setup_memory(memory, lengths)
    elif how == "mask":
        mechanism.setup_memory(memory, memory_mask=side.tf.sequence_mask(lengths, 4))
    else:
        mechanism([memory, lengths], setup_memory=True)


def of_wrapper(side: Side) -> Iterator[tuple[str, Any]]:
    """Ask a cell with attention for some steps, alone and in decoders, and train it."""
    luong, bahdanau = (_beside(side, f"{each}Attention") for each in ("Luong", "Bahdanau"))
    options: tuple[tuple[Any, dict[str, Any]], ...] = (
        ((luong,), {}),
        ((bahdanau,), {"output_attention": False, "attention_layer_size": 3}),
        ((luong,), {"alignment_history": True, "attention_layer_size": 4}),
        ((luong, bahdanau), {"attention_layer_size": [2, 3], "alignment_history": True}),
        ((bahdanau,), {"cell_input_fn": lambda inputs, attention: inputs + attention}),
    )
    for number, (kinds, own) in enumerate(options):
        for kind in ("LSTMCell", "GRUCell"):
            yield from _of_steps(side, f"{number} {kind}", kinds, own, kind)
    yield from _of_translator(side)


def _of_steps(
    side: Side, about: str, kinds: Any, own: dict[str, Any], kind: str
) -> Iterator[tuple[str, Any]]:
    tf = side.tf
    memory = _tensor(side, 3, *_MEMORY)
    made = [each(_UNITS, memory, tf.constant(_LENGTHS)) for each in kinds]
    cell = getattr(side.keras.layers, kind)(_UNITS)
    wrapper = side.made(cell, made if len(made) > 1 else made[0], **own)
    inputs = _tensor(side, 8, _BATCH, 3, _DEPTH)
    state = wrapper.get_initial_state(inputs[:, 0])
    wrapper(inputs[:, 0], state)
    _with_values(wrapper)
    for each in made:
        _with_values(each)
        each.setup_memory(memory, tf.constant(_LENGTHS))
    state = wrapper.get_initial_state(batch_size=_BATCH, dtype=tf.float32)
    parts = [_tensor(side, 50 + each, _BATCH, _UNITS) for each in range(2)]
    state = state.clone(cell_state=parts if kind == "LSTMCell" else parts[0])
    yield f"{about} size", np.array(wrapper.output_size)
    for time in range(3):
        output, state = wrapper(inputs[:, time], state)
        yield f"{about} {time} output", output
        yield f"{about} {time} attention", state.attention
        for number, each in enumerate(tf.nest.flatten(state.cell_state)):
            yield f"{about} {time} cell {number}", each
        for number, each in enumerate(tf.nest.flatten(state.alignments)):
            yield f"{about} {time} alignments {number}", each
    if own.get("alignment_history"):
        histories = state.alignment_history if len(kinds) > 1 else [state.alignment_history]
        for number, each in enumerate(histories):
            yield f"{about} history {number}", each.stack()


def _of_translator(side: Side) -> Iterator[tuple[str, Any]]:
    """Train a model of the user's own with attention, and let it speak."""
    keras, tf = side.keras, side.tf

    class Translator(keras.Model):  # type: ignore[misc,name-defined]
        """An encoder, and a decoder that attends to it."""

        def __init__(self) -> None:
            super().__init__()
            self.words = keras.layers.Embedding(_WORDS, _DEPTH)
            self.encoder = keras.layers.LSTM(_UNITS, return_sequences=True, return_state=True)
            self.attention = _beside(side, "LuongAttention")(_UNITS)
            self.cell = side.made(keras.layers.LSTMCell(_UNITS), self.attention)
            self.last = keras.layers.Dense(_WORDS)
            basic = _beside(side, "BasicDecoder")
            self.reads = basic(self.cell, _beside(side, "TrainingSampler")(), self.last)
            greedy = _beside(side, "GreedyEmbeddingSampler")(self.words)
            self.speaks = basic(self.cell, greedy, self.last, maximum_iterations=_TIME)

        def call(self, inputs: Any, training: Any = None) -> Any:
            source, target = inputs
            outputs, *state = self.encoder(self.words(source))
            self.attention(outputs, setup_memory=True)
            read = self.words(target)
            first = self.cell.get_initial_state(read).clone(cell_state=state)
            if training:
                found, _, _ = self.reads(read, initial_state=first, training=training)
            else:
                start = tf.zeros_like(source[:, 0]) + 1
                found, _, _ = self.speaks(
                    read, initial_state=first, start_tokens=start, end_token=99
                )
            return tf.nn.softmax(found.rnn_output)

    model = Translator()
    random = _random(17)
    data = [random.integers(0, _WORDS, (_BATCH, _TIME)).astype("int32") for _ in range(3)]
    model([tf.constant(each) for each in data[:2]], training=True)
    for weight in model.trainable_weights:
        weight.assign(_floats(_random(_seed(weight)), *weight.shape))
    model.compile(keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy")
    losses = [float(model.train_on_batch(data[:2], data[2])) for _ in range(3)]
    yield "translator losses", np.array(losses, "float32")
    yield "translator predicts", model.predict(data[:2], verbose=0)
    yield "translator weights", np.array(len(model.trainable_weights))


def of_state(side: Side) -> Iterator[tuple[str, Any]]:
    """Clone the state of a cell with attention."""
    one, two = (_tensor(side, each, 2, 3) for each in (1, 2))
    state = side.made([one, one], one, two, (), two)
    found = state.clone(cell_state=[two, one], attention=two)
    for number, each in enumerate(side.tf.nest.flatten(found)):
        yield f"{number}", each
    yield "fields", list(found._fields)


def of_base_attention(side: Side) -> Iterator[tuple[str, Any]]:
    """Ask an attention of the user's own."""
    tf = side.tf

    class Sums(side.made):  # type: ignore[misc,name-defined]
        """It scores by sums."""

        def __init__(self, memory: Any) -> None:
            layer = side.keras.layers.Dense(_UNITS, use_bias=False, kernel_initializer="ones")
            super().__init__(memory, lambda score, _: tf.nn.softmax(score), memory_layer=layer)

        def _calculate_attention(self, query: Any, state: Any) -> Any:
            score = tf.reduce_sum(self.keys * query[:, None], -1) + state
            found = self.probability_fn(score, state)
            return found, found

    mechanism = Sums(_tensor(side, 3, *_MEMORY))
    state = mechanism.initial_state(_BATCH, tf.float32)
    for time in range(2):
        found, state = mechanism([_tensor(side, time, _BATCH, _UNITS), state])
        yield f"{time}", found
    yield "size", [mechanism.alignments_size, mechanism.state_size]
