"""Which layers of Keras 3 do not hand `trainable=False` on to what is inside, as KD467 says."""

import inspect
from functools import partial

import pytest

from kdoctor.rules.behaviour.frozen_by_argument import HOLD

pytestmark = pytest.mark.frameworks

ARGUMENTS = {
    "Bidirectional": lambda layers: (layers.LSTM(3),),
    "TimeDistributed": lambda layers: (layers.Dense(3),),
    "RNN": lambda layers: (layers.LSTMCell(3),),
    "MultiHeadAttention": lambda _: (2, 3),
}
RANKS = {1: (4,), 2: (5, 4), 3: (5, 5, 1), 4: (5, 5, 5, 1), 5: (2, 5, 5, 5, 1)}


def made_of_numbers(layers):
    """Yield the layers that are made of a few numbers, or of another layer, and with what."""
    for name, cls in vars(layers).items():
        if not isinstance(cls, type) or not issubclass(cls, layers.Layer) or "Cell" in name:
            continue
        first = list(inspect.signature(cls.__init__).parameters)[1:3]
        if name in ARGUMENTS:
            yield cls, partial(ARGUMENTS[name], layers)
        elif first == ["filters", "kernel_size"]:
            yield cls, lambda: (3, 2)
        elif first[:1] == ["units"]:
            yield cls, lambda: (3,)


def trained_and_frozen(keras):
    """Return the names of the layers whose weights are trained all the same, and of the others."""
    found = {True: set(), False: set()}
    for cls, arguments in made_of_numbers(keras.layers):
        for shape in RANKS.values():
            layer, x = cls(*arguments(), trainable=False), keras.Input(shape)
            try:
                made = layer(x, x) if cls.__name__ == "MultiHeadAttention" else layer(x)
            except (ValueError, IndexError, TypeError):  # of another rank
                continue
            if layer.weights:
                is_trained = bool(keras.Model(x, made).trainable_weights)
                found[is_trained].add(cls.__name__)
    return found[True], found[False]


def test_keras_3_trains_what_these_hold_and_that_of_no_others():
    import keras  # noqa: PLC0415

    trained, frozen = trained_and_frozen(keras)
    assert trained == HOLD.keys()
    assert len(frozen) > 10


def test_keras_2_froze_it():
    import tf_keras  # noqa: PLC0415

    trained, frozen = trained_and_frozen(tf_keras)
    assert not trained
    assert frozen > HOLD.keys()
