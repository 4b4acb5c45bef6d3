"""What is asked of the functions for texts of ``tensorflow_addons``, and of its CRF."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kdoctor.verify.addons.calls import drawn, integers, of_arrays, of_calls
from kdoctor.verify.addons.scenarios import Scenario, Side, _floats, _random, _seed

_BATCH, _STEPS, _LABELS = 3, 4, 3
_LENGTHS = np.array([4, 2, 0], "int32")
_LONG = np.array([1, 3, 4], "int64")
_SHORT = np.array([1, 0, 1], "int32")
_CHAIN = drawn(2, _LABELS, _LABELS)
_SCORES, _FIRST = drawn(1, _BATCH, _STEPS, _LABELS), drawn(1, _BATCH, 1, _LABELS)
_TAGS, _TAG = integers(3, _LABELS, _BATCH, _STEPS), integers(3, _LABELS, _BATCH, 1)
_WIDE_TAGS = _TAGS.astype("int64")
_ALLOWED = np.eye(_LABELS, dtype=bool)[_TAGS] | np.eye(_LABELS, dtype=bool)[_TAGS[:, ::-1]]
_DOUBLE = (_SCORES.astype("float64"), _CHAIN.astype("float64"))
_BEFORE = integers(4, _LABELS, _BATCH, _STEPS, _LABELS)

_Batches = Iterator[tuple[str, Any]]


def likelihood_of_random_transitions(side: Side) -> _Batches:
    """Ask for the transitions too: those that are made are random."""
    yield from of_calls(
        (_SCORES, _TAGS, _LENGTHS, _CHAIN),
        (_SCORES, _WIDE_TAGS, _LONG, _CHAIN),
        (_FIRST, _TAG, _SHORT, _CHAIN),
        (_DOUBLE[0], _TAGS, _LENGTHS, _CHAIN),
    )(side)
    _, chain = side.made(side.tf.constant(_SCORES), _TAGS, _LENGTHS)
    yield "transitions", list(chain.shape)


def forward_cell(side: Side) -> _Batches:
    """Go forward, as the layer `RNN` does with it."""
    cell = side.made(_CHAIN)
    yield "sizes", [cell.state_size, cell.output_size]
    before, state = cell(side.tf.constant(_SCORES[:, 0]), [side.tf.constant(_SCORES[:, 1])])
    yield "before", before
    yield "state", state
    again = type(cell).from_config(cell.get_config())
    found = side.keras.layers.RNN(again, return_sequences=True)(side.tf.constant(_SCORES))
    yield "again", side.tf.cast(found, "int32")


def _with_values(layer: Any) -> None:
    for weight in layer.weights:
        weight.assign(_floats(_random(_seed(weight)), *weight.shape))


_CASES: tuple[dict[str, Any], ...] = ({}, {"use_boundary": False}, {"use_kernel": False})
_MASK = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]], bool)


def crf_layer(side: Side) -> _Batches:
    """Ask the layer with and without masks, by itself and in models."""
    tf, keras = side.tf, side.keras
    for number, case in enumerate((*_CASES, {"boundary_initializer": "ones"})):
        layer = side.made(_LABELS, **case)
        data = tf.constant(_SCORES)
        layer(data)
        _with_values(layer)
        yield (
            f"{number} weights",
            [weight.name.split("/")[-1].split(":")[0] for weight in layer.weights],
        )
        for about, mask in (("", None), ("masked", tf.constant(_MASK))):
            with tf.GradientTape() as tape:
                tape.watch(data)
                found = layer(data, mask=mask)
                total = tf.reduce_sum(found[1] ** 2)
            for place, each in enumerate(found):
                yield f"{number} {about} {place}", tf.convert_to_tensor(each)
            yield f"{number} {about} gradient", tape.gradient(total, data)
        start = keras.Input((None, _LABELS))
        labels, scores, lengths, _ = layer(keras.layers.Masking(-9.0)(start))
        model = keras.Model(start, [labels, scores, lengths])
        cut = np.where(_MASK[:, :, None], _SCORES, np.float32(-9))
        for place, each in enumerate(model.predict(cut, verbose=0)):
            yield f"{number} model {place}", each
        again = type(layer).from_config(layer.get_config())
        yield f"{number} again", [again.units, again.use_boundary, again.use_kernel]
    layer = side.made(_LABELS)
    try:
        layer(data, mask=tf.constant(_MASK[:, ::-1]))
    except NotImplementedError:
        yield "left padding", True


def crf_model(side: Side) -> _Batches:
    """Train a model with a CRF behind it, by batches and by epochs."""
    keras = side.keras
    for number, case in enumerate(_CASES):
        for weighted in (False, True):
            keras.backend.clear_session()
            start = keras.Input((None, _LABELS))
            kernel = keras.regularizers.L2(0.01)
            middle = keras.layers.Dense(_LABELS, kernel_regularizer=kernel, name="middle")(start)
            model = side.made(keras.Model(start, middle), _LABELS, **case)
            model(_SCORES)
            _with_values(model)
            optimizers = keras.optimizers
            model.compile(optimizers.SGD(0.1), metrics=["accuracy"])
            about = f"{number} {weighted}"
            weights = np.array([1.0, 0.5, 2.0], "float32") if weighted else None
            done = model.fit(
                _SCORES, _TAGS, sample_weight=weights, batch_size=2, epochs=2, shuffle=False,
                verbose=0,
            )  # fmt: skip
            for name in ("loss", "crf_loss", "accuracy"):
                yield f"{about} {name}", np.array(done.history[name], "float32")
            for name, value in sorted(_named(model).items()):
                yield f"{about} weight {name}", value
            yield f"{about} predicted", model.predict(_SCORES, verbose=0)
            tested = model.evaluate(_SCORES, _TAGS, verbose=0, return_dict=True)
            yield f"{about} tested", [round(float(tested[e]), 4) for e in ("loss", "crf_loss")]
            again = type(model).from_config(model.get_config())
            yield f"{about} again", list(again(_SCORES).shape)


def _named(model: Any) -> dict[str, Any]:
    leaves = {}
    for place, layer in enumerate((model.base_model, model.crf_layer)):
        for weight in layer.weights:
            leaf = weight.name.rpartition("/")[2].partition(":")[0]
            leaves[f"{place} {leaf}"] = np.array(weight)
    return leaves


_WORDS = np.array(["the", "quick", "brown", "fox", "jumps"])
_TIMES = (
    ("2019-05-17T23:56:09.05Z", "%Y-%m-%dT%H:%M:%E*S%Ez"),
    ("2019-05-17T23:56:09.123456789+02:30", "%Y-%m-%dT%H:%M:%E*S%Ez"),
    ("2019-05-17 23:56:60.5", "%E4Y-%m-%d %H:%M:%E*S"), ("15:45", "%H:%M"),
    ("  1 Feb 68 03:04 PM ", "%d %b %y %I:%M %p"), ("1969-12-31 23:59:59.5", "%F %H:%M:%E*S"),
    ("Fri, 17 May 2019 23:56:09 -0800", "%a, %d %B %Y %H:%M:%S %z"), ("1558137369", "%s"),
    ("05/07/19 100%", "%D 100%%"),
)  # fmt: skip
_UNITS = ("SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND")


def times(side: Side) -> _Batches:
    """Parse times of several formats, some of which cannot be."""
    tf = side.tf
    for text, form in _TIMES:
        for unit in _UNITS:
            found = side.made(text, form, unit)
            # The record has 7 digits of a number.
            yield f"{text} {unit}", [str(int(found)), str(found.dtype.name), list(found.shape)]
    many = side.made(tf.constant([["10:00", "11:30"]]), "%H:%M", "SECOND")
    yield "many", many
    for text, form in (("2019-13-01", "%F"), ("2019-02-30", "%F"), ("24:00", "%H:%M"), ("x", "%H")):
        try:
            side.made(text, form, "SECOND")
        except Exception:  # noqa: BLE001 - of which kind is not the question
            yield f"{text} raises", True


def pairs(side: Side) -> _Batches:
    """Pair words at a distance that is not drawn; and see that what is drawn is bound."""
    tf = side.tf
    words, numbers = tf.constant(_WORDS), tf.constant([3, 1, 4, 1, 5, 9, 2])
    for number, case in enumerate(_SKIPS):
        for given in (words, numbers):
            found = side.made(given, **case)
            for place, each in enumerate(found):
                yield f"{number} {given.dtype.name} {place}", _texts(each)
    here, _ = side.made(tf.range(400), min_skips=0, max_skips=3, seed=3)
    yield "about as many", bool(abs(here.shape[0] / 400 - 3) < 0.4)
    keys = tf.lookup.KeyValueTensorInitializer(["the", "fox", "jumps"], [9, 2, 1])
    table = tf.lookup.StaticHashTable(keys, -1)
    for least in (None, 2):
        found = side.made(words, 1, 1, vocab_freq_table=table, vocab_min_count=least)
        yield f"of a table {least}", [_texts(each) for each in found]
    rare = {"vocab_freq_table": table, "vocab_subsampling": 1.0, "corpus_size": 1}
    yield "of frequent ones", [_texts(each) for each in side.made(words, 1, 1, **rare)]
    for wrong in ({"vocab_min_count": 1}, {"corpus_size": 1, "vocab_freq_table": table}):
        try:
            side.made(words, **wrong)
        except ValueError:
            yield f"{sorted(wrong)} raises", True


_SKIPS: tuple[dict[str, Any], ...] = (
    {"min_skips": 1, "max_skips": 1}, {"min_skips": 2, "max_skips": 2, "start": 1},
    {"min_skips": 1, "max_skips": 1, "limit": 3, "emit_self_as_target": True},
    {"min_skips": 0, "max_skips": 0, "emit_self_as_target": True},
    {"min_skips": 0, "max_skips": 0}, {"min_skips": 9, "max_skips": 9, "start": 1, "limit": 90},
)  # fmt: skip


def _texts(tensor: Any) -> list[str]:
    return [str(each) for each in np.array(tensor).tolist()]


def pairs_of_a_file(side: Side) -> _Batches:
    """Pair the words that a file counts."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "words.csv"
        file.write_text("the,x,9\nfox,y,2\njumps,z,1\n", "utf-8")
        given = {"vocab_freq_index": 2, "min_skips": 1, "max_skips": 1}
        for number, more in enumerate(({}, {"vocab_min_count": 2}, {"vocab_freq_index": 1})):
            try:
                found = side.made(side.tf.constant(_WORDS), str(file), **{**given, **more})
                yield f"{number}", [_texts(each) for each in found]
            except ValueError:
                yield f"{number} raises", True


TEXT: dict[str, Scenario] = {
    "parse_time": times,
    "skip_gram_sample": pairs,
    "skip_gram_sample_with_text_vocab": pairs_of_a_file,
    "crf_filtered_inputs": of_calls((_SCORES, _ALLOWED), has_gradients=False),
    "crf_unary_score": of_calls(
        (_TAGS, _LENGTHS, _SCORES), (_WIDE_TAGS, _LONG, _SCORES), (_TAG, _SHORT, _FIRST),
        (_TAGS, _LENGTHS, _DOUBLE[0]),
    ),
    "crf_binary_score": of_calls(
        (_TAGS, _LENGTHS, _CHAIN), (_WIDE_TAGS, _LONG, _CHAIN), (_TAG, _SHORT, _CHAIN),
        (_TAGS, _LENGTHS, _DOUBLE[1]),
    ),
    "crf_sequence_score": of_calls(
        (_SCORES, _TAGS, _LENGTHS, _CHAIN), (_SCORES, _WIDE_TAGS, _LONG, _CHAIN),
        (_FIRST, _TAG, _SHORT, _CHAIN), (_DOUBLE[0], _TAGS, _LENGTHS, _DOUBLE[1]),
    ),
    "crf_multitag_sequence_score": of_calls(
        (_SCORES, _ALLOWED, _LENGTHS, _CHAIN), (_SCORES, _ALLOWED, _LONG, _CHAIN),
        (_SCORES[:, :1], _ALLOWED[:, :1], _SHORT, _CHAIN),
        (_SCORES, _ALLOWED.astype("int32"), _LONG, _CHAIN), tail=2,
    ),
    "crf_log_norm": of_calls(
        (_SCORES, _LENGTHS, _CHAIN), (_SCORES, _LONG, _CHAIN), (_FIRST, _SHORT, _CHAIN),
        (_DOUBLE[0], _LENGTHS, _DOUBLE[1]),
    ),
    "crf_forward": of_calls(
        (_SCORES, _FIRST[:, 0], _CHAIN, _LENGTHS), (_SCORES, _FIRST[:, 0] * 9, _CHAIN, _LONG),
    ),
    "crf_log_likelihood": likelihood_of_random_transitions,
    "viterbi_decode": of_arrays(
        (_SCORES[0], _CHAIN), (_SCORES[1][:1], _CHAIN), (_DOUBLE[0][2], _CHAIN)
    ),
    "CrfDecodeForwardRnnCell": forward_cell,
    "crf_decode_forward": of_calls(
        (_SCORES, _FIRST[:, 0], _CHAIN, _LENGTHS), (_SCORES, _FIRST[:, 0], _CHAIN, _LONG),
        has_gradients=False,
    ),
    "crf_decode_backward": of_calls((_BEFORE, _TAG), has_graph=False),
    "crf_decode": of_calls(
        (_SCORES, _CHAIN, _LENGTHS), (_SCORES, _CHAIN, _LONG), (_FIRST, _CHAIN, _SHORT),
        (_SCORES * 0, _CHAIN * 0, _LONG),
    ),
    "crf_constrained_decode": of_calls(
        (_SCORES, _ALLOWED, _CHAIN, _LENGTHS), (_SCORES, _ALLOWED, _CHAIN, _LONG)
    ),
    "CRF": crf_layer,
    "CRFModelWrapper": crf_model,
}  # fmt: skip
"""By the name of the class or function."""
