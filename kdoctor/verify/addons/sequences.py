"""Ways to ask the decoders of sequences what they do; run beside tensorflow_addons as well."""

# ruff: noqa: ARG002, ARG005 - what a decoder of the user's own is called with

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kdoctor.verify.addons.scenarios import Scenario, Side, _floats, _random, _seed

_MODULES = ("samplers", "decoders", "attention", "wrapper", "losses", "beams",
            "beam_search", "monotonic", "monotonic_attention")  # fmt: skip
_BATCH, _TIME, _DEPTH, _WORDS, _UNITS = 3, 4, 5, 6, 5


def _beside(side: Side, name: str) -> Any:
    """Return a class that goes with the one that is asked."""
    if not hasattr(side.keras, "ops"):
        return getattr(importlib.import_module("tensorflow_addons").seq2seq, name)
    rooms = (importlib.import_module(f"kdoctor.reference.addons.seq2seq_{e}") for e in _MODULES)
    return next(getattr(room, name) for room in rooms if hasattr(room, name))


def _tensor(side: Side, seed: int, *shape: int) -> Any:
    return side.tf.constant(_floats(_random(seed), *shape))


def _embedding(side: Side) -> Callable[[Any], Any]:
    table = _tensor(side, 2, _WORDS, _DEPTH)
    return lambda ids: side.tf.gather(table, ids)


# Samplers


def of_sampler(
    *cases: tuple[dict[str, Any], dict[str, Any]], reads: bool = True, peak: float = 1.0
) -> Scenario:
    """Return the scenario of a sampler: its steps, for outputs that are drawn.

    Each case is what it is made of and what `initialize` is given; ``reads``: inputs too. With a
    large ``peak`` only the largest output can be drawn.
    """

    def run(side: Side) -> Iterator[tuple[str, Any]]:
        tf = side.tf
        for number, (options, tensors) in enumerate(cases):
            own = {name: each for name, each in options.items() if name != "embedded"}
            if "embedded" in options:
                own["embedding_fn"] = _embedding(side)
            shape = (_TIME, _BATCH, _DEPTH) if own.get("time_major") else (_BATCH, _TIME, _DEPTH)
            first = _tensor(side, 1, *shape) if reads else _tensor(side, 2, _WORDS, _DEPTH)
            given = {name: tf.constant(each) for name, each in tensors.items()}
            sampler = side.made(**own)
            finished, inputs = sampler.initialize(first, **given)
            yield f"{number} finished", finished
            yield f"{number} inputs", inputs
            width = _DEPTH if "Output" in side.made.__name__ else _WORDS
            for time in range(3):
                outputs = _tensor(side, 20 + time, _BATCH, width) * peak
                state = _tensor(side, 30 + time, _BATCH, 2)
                ids = sampler.sample(time=tf.constant(time), outputs=outputs, state=state)
                yield f"{number} {time} ids", ids
                finished, inputs, state = sampler.next_inputs(
                    time=tf.constant(time), outputs=outputs, state=state, sample_ids=ids
                )
                yield f"{number} {time} finished", finished
                yield f"{number} {time} inputs", inputs
                yield f"{number} {time} state", state
            yield f"{number} about", [
                int(sampler.batch_size), str(sampler.sample_ids_dtype),
                sampler.sample_ids_shape.as_list(),
            ]  # fmt: skip

    return run


def of_custom_sampler(side: Side) -> Iterator[tuple[str, Any]]:
    """Ask a sampler that is made of functions."""
    tf = side.tf
    is_inference = side.made.__name__ == "InferenceSampler"
    first = _tensor(side, 1, _BATCH, _DEPTH)
    if is_inference:
        sampler = side.made(
            lambda outputs: outputs * 2, [_DEPTH], tf.float32,
            lambda found: tf.reduce_sum(found, axis=-1) > 0, lambda found: found + 1,
        )  # fmt: skip
    else:
        sampler = side.made(
            lambda inputs: (tf.zeros([_BATCH], "bool"), inputs),
            lambda time, outputs, state: tf.argmax(outputs, -1, output_type=tf.int32),
            lambda time, outputs, state, sample_ids: (sample_ids > 2, outputs, state),
        )
    yield from zip(("finished", "inputs"), sampler.initialize(first), strict=True)
    outputs = _tensor(side, 3, _BATCH, _DEPTH)
    ids = sampler.sample(time=tf.constant(0), outputs=outputs, state=first)
    yield "ids", ids
    found = sampler.next_inputs(time=tf.constant(0), outputs=outputs, state=first, sample_ids=ids)
    yield from zip(("next finished", "next inputs", "next state"), found, strict=True)
    yield "about", [int(sampler.batch_size), str(sampler.sample_ids_dtype)]


# Decoders


def _cell(side: Side, name: str = "LSTMCell", inputs: int = _DEPTH) -> tuple[Any, Any]:
    """Return a cell with weights of its own, and a first state."""
    cell = getattr(side.keras.layers, name)(_UNITS)
    cell.build((None, inputs))
    cell.set_weights([_floats(_random(n), *e.shape) for n, e in enumerate(cell.get_weights())])
    parts = [_tensor(side, 40 + each, _BATCH, _UNITS) for each in range(2)]
    return cell, parts if name == "LSTMCell" else parts[0]


def _dense(side: Side) -> Any:
    layer = side.keras.layers.Dense(_WORDS)
    layer.build((None, _UNITS))
    layer.set_weights([_floats(_random(7), *each.shape) for each in layer.get_weights()])
    return layer


def _told(side: Side, about: str, found: Any) -> Iterator[tuple[str, Any]]:
    """Yield all that a decoder gave: outputs, state, lengths."""
    outputs, state, lengths = found
    yield f"{about} outputs", outputs.rnn_output
    yield f"{about} ids", outputs.sample_id
    for number, each in enumerate(side.tf.nest.flatten(state)):
        yield f"{about} state {number}", each
    yield f"{about} lengths", lengths


def of_decoder(side: Side) -> Iterator[tuple[str, Any]]:
    """Ask a decoder what it gives: of inputs, of its own tokens, and in a model."""
    tf = side.tf
    mask = np.arange(_TIME) < np.array([[3], [4], [1]])
    options: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
        ({}, {}),
        ({}, {"sequence_length": tf.constant([2, 3, 1])}),
        ({"impute_finished": True}, {"sequence_length": tf.constant([2, 3, 1])}),
        ({"output_time_major": True, "maximum_iterations": 2}, {}),
        ({"impute_finished": True}, {"mask": tf.constant(mask)}),
    )
    for kind in ("LSTMCell", "GRUCell"):
        for number, (own, given) in enumerate(options):
            for has_layer in (True, False):
                cell, state = _cell(side, kind)
                layer = _dense(side) if has_layer else None
                decoder = side.made(cell, _beside(side, "TrainingSampler")(), layer, **own)
                inputs = _tensor(side, 9, _BATCH, _TIME, _DEPTH)
                about = f"{kind} {number} {has_layer}"
                with tf.GradientTape() as tape:
                    tape.watch(inputs)
                    found = decoder(inputs, initial_state=state, **given)
                    total = tf.reduce_sum(found[0].rnn_output ** 2)
                yield from _told(side, about, found)
                kernel = cell.trainable_weights[0]
                kernel = kernel.value if hasattr(side.keras, "ops") else kernel
                slopes = tape.gradient(total, [inputs, kernel])
                yield f"{about} gradient", slopes[0]
                yield f"{about} gradient of the kernel", slopes[1]
    cell, state = _cell(side)
    for number, end in enumerate((0, 3, 99)):
        sampler = _beside(side, "GreedyEmbeddingSampler")(_embedding(side))
        decoder = side.made(cell, sampler, _dense(side), maximum_iterations=6)
        given = {"start_tokens": tf.constant([1, 2, 4]), "end_token": end}
        yield from _told(side, f"greedy {number}", decoder(None, initial_state=state, **given))
    table = _tensor(side, 2, _WORDS, _DEPTH)
    sampler = _beside(side, "GreedyEmbeddingSampler")()
    decoder = side.made(cell, sampler, _dense(side), maximum_iterations=6)
    yield from _told(side, "greedy table", decoder(table, initial_state=state, **given))
    yield from _of_models(side)


def _of_models(side: Side) -> Iterator[tuple[str, Any]]:
    """Train a decoder in a functional model, then let another model speak by itself."""
    keras, tf = side.keras, side.tf
    sequences = keras.Input((None,), dtype="int32")
    targets = keras.Input((None,), dtype="int32")
    words = keras.layers.Embedding(_WORDS, _DEPTH)
    _, *state = keras.layers.LSTM(_UNITS, return_state=True)(words(sequences))
    cell, layer = keras.layers.LSTMCell(_UNITS), keras.layers.Dense(_WORDS)
    decoder = side.made(cell, _beside(side, "TrainingSampler")(), output_layer=layer)
    outputs, _, _ = decoder(words(targets), initial_state=state)
    found = keras.layers.Activation("softmax")(outputs.rnn_output)
    model = keras.Model([sequences, targets], [found])
    for weight in model.trainable_weights:
        weight.assign(_floats(_random(_seed(weight)), *weight.shape))
    model.compile(keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy")
    random = _random(17)
    data = [random.integers(0, _WORDS, (_BATCH, _TIME)) for _ in range(3)]
    losses = [float(model.train_on_batch(data[:2], data[2])) for _ in range(3)]
    yield "model losses", np.array(losses, "float32")
    yield "model predicts", model.predict(data[:2], verbose=0)
    yield "model weights", np.array(len(model.trainable_weights))
    sampler = _beside(side, "GreedyEmbeddingSampler")(embedding_fn=words)
    speaker = side.made(cell, sampler, output_layer=layer, maximum_iterations=5)

    @tf.function  # type: ignore[untyped-decorator]
    def speak(tokens: Any, state: Any) -> Any:
        return speaker(tokens, initial_state=state, start_tokens=tokens, end_token=0)

    state = [_tensor(side, each, _BATCH, _UNITS) for each in (3, 4)]
    yield from _told(side, "speaks", speak(tf.constant([1, 2, 3]), state))


def of_decoding(side: Side) -> Iterator[tuple[str, Any]]:
    """Let a decoder of the user's own run, one that is no layer."""
    tf = side.tf

    is_base = isinstance(side.made, type)
    base: Any = side.made if is_base else _beside(side, "Decoder")
    decode = _beside(side, "dynamic_decode") if is_base else side.made

    class Counts(base):  # type: ignore[misc]
        """It doubles its numbers until they are large."""

        batch_size = 3
        output_size = tf.TensorShape([1])
        output_dtype = tf.float32

        def initialize(self, name: Any = None) -> Any:
            start = tf.constant([[1.0], [5.0], [2.0]])
            return tf.zeros([3], "bool"), start, start * 0

        def step(self, time: Any, inputs: Any, state: Any, training: Any = None) -> Any:
            return inputs + state, state + 1, inputs * 2, inputs[:, 0] > 9

    options: list[dict[str, Any]] = [{}, {"maximum_iterations": 2}, {"impute_finished": True}]
    for number, given in enumerate([*options, {"output_time_major": True}]):
        found = decode(Counts(), **given)
        yield from zip(
            (f"{number} outputs", f"{number} state", f"{number} lengths"), found, strict=True
        )

    class One(Counts):
        """It has a batch of one."""

        batch_size = 1

        def initialize(self, name: Any = None) -> Any:
            start = tf.constant([[1.0]])
            return tf.zeros([1], "bool"), start, start * 0

    flat = {"maximum_iterations": 6, "enable_tflite_convertible": True}
    for given in (flat, {**flat, "output_time_major": True}):
        outputs, _, lengths = decode(One(), **given)
        yield f"flat {sorted(given)} outputs", outputs
        yield f"flat {sorted(given)} lengths", lengths


# Losses, and functions


def of_sequence_loss(side: Side) -> Iterator[tuple[str, Any]]:
    """Ask a loss of sequences for each way to add it up."""
    tf = side.tf
    ways = ("average_across_timesteps", "average_across_batch", "sum_over_timesteps",
            "sum_over_batch")  # fmt: skip
    asked = [(1, 1, 0, 0), (0, 0, 1, 1), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1),
             (0, 0, 0, 0)]  # fmt: skip
    logits = _tensor(side, 1, _BATCH, _TIME, _WORDS)
    ids = tf.constant(_random(2).integers(0, _WORDS, (_BATCH, _TIME)).astype("int32"))
    weights = tf.sequence_mask([4, 0, 2], _TIME, dtype=tf.float32) * 0.5
    is_class = isinstance(side.made, type)
    for bits in asked:
        own = {name: bool(bit) for name, bit in zip(ways, bits, strict=True)}
        for kind, targets in (("ids", ids), ("one hot", tf.one_hot(ids, _WORDS))):
            with tf.GradientTape() as tape:
                tape.watch(logits)
                if is_class:
                    found = side.made(**own)(targets, logits, weights)
                else:
                    found = side.made(logits, targets, weights, **own)
            yield f"{bits} {kind}", found
            yield f"{bits} {kind} gradient", tape.gradient(found, logits)

    def shifted(labels: Any, logits: Any) -> Any:
        return tf.cast(labels, "float32") + logits[:, 0]

    if is_class:
        loss = side.made(softmax_loss_function=shifted)
        yield "own function", loss(ids, logits, weights)
    else:
        found = side.made(logits, ids, weights, softmax_loss_function=shifted)
        yield "own function", found


def of_tiles(side: Side) -> Iterator[tuple[str, Any]]:
    """Repeat the rows of tensors."""
    one, two = _tensor(side, 1, 2, 3), _tensor(side, 2, 2)
    for number, each in enumerate(side.tf.nest.flatten(side.made([one, (two, one)], 3))):
        yield f"{number}", each
    yield "one", side.made(one, multiplier=2)


def of_output(side: Side) -> Iterator[tuple[str, Any]]:
    """Make a tuple of its parts."""
    made: Any = side.made
    parts = [_tensor(side, each, 2) for each in range(len(made._fields))]
    found = made(*parts)
    yield from zip(found._fields, found, strict=True)
    yield "again", all(a is b for a, b in zip(made(*found), parts, strict=True))


def of_largest(side: Side) -> Iterator[tuple[str, Any]]:
    """Ask for the largest of each row."""
    for rank in (1, 2, 3):
        yield f"{rank}", side.made(_tensor(side, rank, *(4, 3, 5)[:rank]))


def of_base_decoder(side: Side) -> Iterator[tuple[str, Any]]:
    """Let a layer of the user's own decode."""
    tf = side.tf

    class Counts(side.made):  # type: ignore[misc,name-defined]
        """It doubles its numbers until they are large."""

        output_size = tf.TensorShape([1])
        output_dtype = tf.float32
        batch_size = 3

        def initialize(self, inputs: Any, initial_state: Any = None, **kwargs: Any) -> Any:
            return tf.zeros([3], "bool"), inputs, initial_state

        def step(self, time: Any, inputs: Any, state: Any, training: Any = None) -> Any:
            return inputs + state, state + 1, inputs * 2, inputs[:, 0] > 9

        def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
            return outputs + 1, final_state * 2

    start = tf.constant([[1.0], [5.0], [2.0]])
    options: list[dict[str, Any]] = [{}, {"maximum_iterations": 2}, {"impute_finished": True}]
    for number, own in enumerate(options):
        found = Counts(**own)(start, initial_state=start * 0)
        yield from zip(
            (f"{number} outputs", f"{number} state", f"{number} lengths"), found, strict=True
        )


def of_base_sampler(side: Side) -> Iterator[tuple[str, Any]]:
    """Decode with a sampler of the user's own."""
    tf = side.tf

    class Echoes(side.made):  # type: ignore[misc,name-defined]
        """It goes on with what a step gave."""

        batch_size = _BATCH
        sample_ids_shape = tf.TensorShape([])
        sample_ids_dtype = tf.int32

        def initialize(self, inputs: Any, **kwargs: Any) -> Any:
            return tf.zeros([_BATCH], "bool"), inputs

        def sample(self, time: Any, outputs: Any, state: Any) -> Any:
            return tf.argmax(outputs, -1, output_type=tf.int32)

        def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any) -> Any:
            return sample_ids > 2, outputs, state

    cell, state = _cell(side)
    decoder = _beside(side, "BasicDecoder")(cell, Echoes(), maximum_iterations=4)
    yield from _told(side, "echoes", decoder(_tensor(side, 1, _BATCH, _DEPTH), initial_state=state))
    try:
        side.made()
    except TypeError:
        yield "is abstract", True
