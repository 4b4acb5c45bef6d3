"""What is asked of the beams of ``tensorflow_addons``, and of its monotonic attention."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kdoctor.verify.addons.attention import _LENGTHS, _MEMORY, _with_values, of_attention
from kdoctor.verify.addons.calls import drawn, integers, of_calls
from kdoctor.verify.addons.scenarios import Scenario, Side, _random
from kdoctor.verify.addons.sequences import (
    _BATCH,
    _DEPTH,
    _UNITS,
    _WORDS,
    _beside,
    _cell,
    _dense,
    _embedding,
    _tensor,
    of_output,
)

_STEPS, _WIDTH, _END = 5, 3, 4
_Results = Iterator[tuple[str, Any]]


# The paths of beams

_IDS = integers(1, 6, _STEPS, _BATCH, _WIDTH)
_PARENTS = integers(2, _WIDTH, _STEPS, _BATCH, _WIDTH)
_LONGEST = np.array([5, 2, 9], "int32")
_NONE = np.zeros((0, _BATCH, _WIDTH), "int32")
_TREES: tuple[tuple[Any, ...], ...] = (
    (_IDS, _PARENTS, _LONGEST, _END),
    (_IDS, _PARENTS, np.array([0, 3, 1], "int32"), 99),
    (_IDS[:1], _PARENTS[:1], _LONGEST, 0),
    (_NONE, _NONE, _LONGEST, _END),
)


def of_trees(side: Side) -> _Results:
    """Follow beams from their ends, and ask which parents raise."""
    yield from of_calls(*_TREES, has_graph=False)(side)
    tf = side.tf
    yield "a list", side.made(_IDS[:, :1].tolist(), _PARENTS[:, :1].tolist(), [4], _END)
    yield from of_calls(*_TREES)(side)
    for parent in (-1, _WIDTH + 1):
        wrong = _PARENTS.copy()
        wrong[3, 0] = parent
        try:
            tf.debugging.assert_non_negative(side.made(_IDS, wrong, _LONGEST, _END))
            yield f"{parent} raises", False
        except tf.errors.InvalidArgumentError:
            yield f"{parent} raises", True


def of_arrays_of_beams(side: Side) -> _Results:
    """Sort what steps gave, of several shapes."""
    lengths = np.array([[5, 3, 1], [2, 2, 0], [4, 9, 5]], "int64")
    parts = (_STEPS, _BATCH, _WIDTH)
    cases = (
        (drawn(1, *parts, 2), _PARENTS, lengths),
        (drawn(2, _STEPS, _BATCH * _WIDTH, 4), _PARENTS, lengths.astype("int32")),
        (drawn(3, *parts, 2, 2, dtype="float64"), _PARENTS, lengths),
        (integers(4, 9, *parts), _PARENTS, lengths),
    )
    yield from of_calls(*cases, has_graph=False)(side)
    yield from of_calls(*cases)(side)


# Attention that never goes back

_ROW = np.array([[0.5, 0.0, 1.0, 0.2], [1e-9, 2.0, 0.3, -0.1]], "float32")
_CHOSEN = 1 / (1 + np.exp(-3 * drawn(5, _BATCH, 6)))
_CHOSEN = _CHOSEN.astype("float32")
_BITS = integers(6, 2, _BATCH, 6).astype("float32")
_FIRST = np.eye(6, dtype="float32")[[0, 2, 5]]
_SPREAD = np.full((_BATCH, 6), 1 / 6, "float32")


def of_products(side: Side) -> _Results:
    """Multiply the numbers so far."""
    ways: tuple[dict[str, Any], ...] = (
        {},
        {"axis": 1},
        {"axis": -1, "exclusive": True},
        {"axis": 1, "reverse": True},
        {"axis": 1, "exclusive": True, "reverse": True, "name": "products"},
    )
    cases = [(_ROW, each) for each in ways]
    cases += [(_ROW.astype("float64"), {"axis": 1}), (drawn(3, 2, 3, 2), {"axis": 1})]
    for how in ({"has_graph": False}, {}):
        yield from of_calls(*cases, **how)(side)
    yield "by place", side.made(side.tf.constant(_ROW), 1, True, True)


def of_monotonic(side: Side) -> _Results:
    """Attend to rows that were chosen, in each way."""
    cases = [
        (chosen, before, mode)
        for mode in ("recursive", "parallel", "hard")
        for chosen in (_CHOSEN, _CHOSEN * 0.1)
        for before in (_FIRST, _SPREAD)
    ]
    for tail in (1, 0):
        yield from ((f"{tail} {a}", b) for a, b in of_calls(*cases, has_graph=False)(side))
    bits = [(_BITS, _FIRST, mode) for mode in ("recursive", "parallel", "hard")]
    yield from (
        (f"bits {a}", b) for a, b in of_calls(*bits, has_gradients=False, has_graph=False)(side)
    )
    try:
        side.made(_CHOSEN, _FIRST, "none")
    except ValueError:
        yield "raises", True
    for tail in (1, 0):
        yield from ((f"{tail} {a}", b) for a, b in of_calls(*cases, tail=tail)(side))


def of_monotonic_attention(*cases: dict[str, Any]) -> Scenario:
    """Return the scenario of an attention that never goes back, for several steps."""

    def run(side: Side) -> _Results:
        tf = side.tf
        yield from of_attention(*cases)(side)
        for number, case in enumerate((*cases, {"sigmoid_noise": 2.0, "sigmoid_noise_seed": 5})):
            memory = _tensor(side, 3, *_MEMORY)
            mechanism = side.made(_UNITS, memory, tf.constant(_LENGTHS), **case)
            first = mechanism.initial_state(_BATCH, tf.float32)
            mechanism([_tensor(side, 4, _BATCH, _UNITS), first])
            _with_values(mechanism)
            mechanism.setup_memory(memory, tf.constant(_LENGTHS))
            tf.random.set_seed(3)
            state = first
            for time in range(3):
                query = _tensor(side, 20 + time, _BATCH, _UNITS)
                found, state = mechanism([query, state])
                yield f"{number} step {time}", found
        mechanism = side.made(_UNITS, memory, score_bias_init=-2.0)
        mechanism([_tensor(side, 4, _BATCH, _UNITS), first])
        bias = mechanism.attention_score_bias
        yield "bias", bias.value if hasattr(side.keras, "ops") else bias.value()
        wrapper = _beside(side, "AttentionWrapper")(side.keras.layers.GRUCell(_UNITS), mechanism)
        inputs = _tensor(side, 8, _BATCH, 3, _DEPTH)
        state = wrapper.get_initial_state(inputs[:, 0])
        wrapper(inputs[:, 0], state)
        _with_values(wrapper)
        _with_values(mechanism)
        mechanism.setup_memory(memory)
        state = wrapper.get_initial_state(batch_size=_BATCH, dtype=tf.float32)
        for time in range(3):
            output, state = wrapper(inputs[:, time], state)
            yield f"wrapped {time}", output
            yield f"wrapped {time} alignments", state.alignments

    return run


# The search


def _told(side: Side, about: str, found: Any) -> _Results:
    outputs, state, lengths = found
    yield f"{about} ids", outputs.predicted_ids
    yield from _of_parts(about, outputs.beam_search_decoder_output)
    for number, each in enumerate(side.tf.nest.flatten(state.cell_state)):
        if not isinstance(each, side.tf.TensorArray):
            yield f"{about} cell {number}", each
    yield from _of_parts(f"{about} last", state)
    yield f"{about} decoded", lengths


def _of_parts(about: str, parts: Any) -> _Results:
    for name, each in zip(parts._fields, parts, strict=True):
        if name != "cell_state" and not isinstance(each, tuple):
            yield f"{about} {name}", each


def of_search(side: Side) -> _Results:
    """Search with beams of each kind, alone, with attention and in models."""
    tf = side.tf
    tile = _beside(side, "tile_batch")
    options: tuple[dict[str, Any], ...] = (
        {},
        {"length_penalty_weight": 0.8},
        {"length_penalty_weight": 1.0, "output_all_scores": True},
        {"output_time_major": True, "maximum_iterations": 2},
    )
    start = tf.constant([1, 2, 5])
    for kind in ("LSTMCell", "GRUCell"):
        for width in (1, 3):
            for number, own in enumerate(options):
                cell, state = _cell(side, kind)
                given = {"maximum_iterations": 5, "output_layer": _dense(side), **own}
                decoder = side.made(cell, width, **given)
                table = _tensor(side, 2, _WORDS, _DEPTH)
                with tf.GradientTape() as tape:
                    tape.watch(table)
                    found = decoder(
                        table, start_tokens=start, end_token=_END, initial_state=tile(state, width)
                    )
                    scores = found[0].beam_search_decoder_output.scores
                    total = tf.reduce_sum(tf.where(scores > -1e9, scores, tf.zeros_like(scores)))
                about = f"{kind} {width} {number}"
                yield from _told(side, about, found)
                slope = tape.gradient(total, table, unconnected_gradients="zero")
                yield f"{about} gradient", tf.convert_to_tensor(slope)
    yield from _of_attention(side)
    yield from _of_steps(side)
    yield from _of_functions(side)


def _of_attention(side: Side) -> _Results:
    tf = side.tf
    tile, wrapped = _beside(side, "tile_batch"), _beside(side, "AttentionWrapper")
    one, two = ("LuongAttention",), ("LuongAttention", "BahdanauMonotonicAttention")
    cases: tuple[tuple[Any, dict[str, Any], bool], ...] = (
        (one, {"coverage_penalty_weight": 0.4, "length_penalty_weight": 0.6}, False),
        (two, {"coverage_penalty_weight": 0.4}, True),
        (one, {}, True),
        (one, {"reorder_tensor_arrays": False}, True),
    )
    width = 2
    memory = tile(_tensor(side, 3, *_MEMORY), width)
    lengths = tile(tf.constant(_LENGTHS), width)
    for number, (kinds, own, has_history) in enumerate(cases):
        made = [_beside(side, each)(_UNITS, memory, lengths) for each in kinds]
        cell = side.keras.layers.LSTMCell(_UNITS)
        cell = wrapped(
            cell, made if len(made) > 1 else made[0], alignment_history=has_history,
            attention_layer_size=[2, 3] if len(made) > 1 else _UNITS,
        )  # fmt: skip
        state = cell.get_initial_state(batch_size=_BATCH * width, dtype=tf.float32)
        cell(_tensor(side, 8, _BATCH * width, _DEPTH), state)
        for each in (cell, *made):
            _with_values(each)
        for each in made:
            each.setup_memory(memory, lengths)
        state = cell.get_initial_state(batch_size=_BATCH * width, dtype=tf.float32)
        parts = [tile(_tensor(side, 50 + each, _BATCH, _UNITS), width) for each in range(2)]
        decoder = side.made(
            cell, width, embedding_fn=_embedding(side), output_layer=_dense(side),
            maximum_iterations=5, **own,
        )  # fmt: skip
        found = decoder(
            None, start_tokens=[1, 2, 5], end_token=_END,
            initial_state=state.clone(cell_state=parts),
        )  # fmt: skip
        yield from _told(side, f"attention {number}", found)


def _of_steps(side: Side) -> _Results:
    """Make each step by hand, as a user's own loop does."""
    tf = side.tf
    cell, state = _cell(side)
    decoder = side.made(cell, 2, output_layer=_dense(side))
    state = _beside(side, "tile_batch")(state, 2)
    table = side.keras.layers.Embedding(_WORDS, _DEPTH)
    table.build(None)
    table.set_weights([_random(2).normal(size=(_WORDS, _DEPTH))])
    finished, inputs, state = decoder.initialize(
        table.weights[0], start_tokens=tf.constant([1, 2, 5]), end_token=_END, initial_state=state
    )
    yield "steps finished", finished
    yield "steps inputs", inputs
    yield "steps size", int(decoder.batch_size) == _BATCH and decoder.tracks_own_finished
    yield from _of_parts("steps first", state)
    for time in range(3):
        outputs, state, inputs, finished = decoder.step(time, inputs, state, training=False)
        yield from _of_parts(f"steps {time}", outputs)
        yield from _of_parts(f"steps {time}", state)
        yield f"steps {time} inputs", inputs
    decode = _beside(side, "dynamic_decode")
    about = {"start_tokens": [3, 1], "end_token": 0}
    _, state = _cell(side)
    state = [each[:2] for each in state]
    about["initial_state"] = _beside(side, "tile_batch")(state, 2)
    found = decode(
        decoder, maximum_iterations=4, decoder_init_input=table.weights[0],
        decoder_init_kwargs=about,
    )  # fmt: skip
    yield from _told(side, "dynamic", found)


def _of_functions(side: Side) -> _Results:
    """Search in a graph that knows no batch, and in a model of the user's own."""
    keras, tf = side.keras, side.tf
    tile = _beside(side, "tile_batch")
    cell, state = _cell(side)
    decoder = side.made(
        cell, 2, embedding_fn=_embedding(side), output_layer=_dense(side), maximum_iterations=4
    )

    def search(tokens: Any, *state: Any) -> Any:
        return decoder(
            None, start_tokens=tokens, end_token=_END, initial_state=tile(list(state), 2)
        )

    row = tf.TensorSpec([None, _UNITS])
    spec = [tf.TensorSpec([None], tf.int32), row, row]
    found = tf.function(search, input_signature=spec)(tf.constant([1, 2, 5]), *state)
    yield from _told(side, "graph", found)

    class Speaker(keras.Model):  # type: ignore[misc,name-defined]
        """It reads, and says the best three."""

        def __init__(self) -> None:
            super().__init__()
            self.words = keras.layers.Embedding(_WORDS, _DEPTH)
            self.reader = keras.layers.LSTM(_UNITS, return_state=True)
            self.cell, self.last = keras.layers.LSTMCell(_UNITS), keras.layers.Dense(_WORDS)
            self.search = side.made(
                self.cell, beam_width=3, embedding_fn=self.words, output_layer=self.last,
                maximum_iterations=4,
            )  # fmt: skip

        def call(self, inputs: Any, training: Any = None) -> Any:
            _, *state = self.reader(self.words(inputs))
            outputs, _, _ = self.search(
                None, start_tokens=tf.zeros_like(inputs[:, 0]) + 1, end_token=_END,
                initial_state=tile(state, 3), training=training,
            )  # fmt: skip
            return outputs.predicted_ids

    model = Speaker()
    data = _random(17).integers(0, _WORDS, (_BATCH, 4)).astype("int32")
    model(tf.constant(data))
    _with_values(model)
    yield "model says", model.predict(data, verbose=0)
    yield "model weights", np.array(len(model.trainable_weights))


BEAMS: dict[str, Scenario] = {
    "gather_tree": of_trees,
    "gather_tree_from_array": of_arrays_of_beams,
    "safe_cumprod": of_products,
    "monotonic_attention": of_monotonic,
    "LuongMonotonicAttention": of_monotonic_attention(
        {}, {"scale": True}, {"mode": "recursive"}, {"mode": "hard"}
    ),
    "BahdanauMonotonicAttention": of_monotonic_attention(
        {}, {"normalize": True}, {"mode": "recursive"}, {"mode": "hard"}
    ),
    "BeamSearchDecoder": of_search,
    "BeamSearchDecoderOutput": of_output,
    "BeamSearchDecoderState": of_output,
    "FinalBeamSearchDecoderOutput": of_output,
}
"""By the name of the class or function."""
