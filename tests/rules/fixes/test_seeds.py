"""A seed gives the next numbers at each call, not the same ones for ever."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix
from kdoctor.verify.execution import execute

HEAD = "import numpy as np\nfrom keras import backend as K\n\n"
DRAWN = [
    "K.dropout(K.ones((64,)), .5, seed=3)",
    "K.dropout(K.ones((64,)), 0.5, None, 3)",
    "K.random_normal((64,), 0.0, 1.0, seed=3)",
    "K.random_uniform((64,), seed=3)",
    "K.random_uniform((64,), 0, 1000, dtype='int32', seed=3)",
    "K.truncated_normal((64,), seed=3)",
    "K.random_bernoulli((64,), p=0.5, seed=3)",
    "K.random_normal((64,), seed=SEED)",
]
SHOWN = "(lambda a, b: [a.shape == (64,), bool((a == b).all())])(*map(np.array, [draw(), draw()]))"
IN_A_LAYER = """
import keras


class Noise(keras.layers.Layer):
    def __init__(self, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.seed = seed

    def call(self, x):
        return K.dropout(x, 0.5, seed=self.seed) + K.random_normal((1, 64), seed=self.seed)


x = keras.Input((64,))
model = keras.Model(x, Noise(SEED)(x))
draw = lambda: model.predict(np.ones((1, 64)), verbose=0)[0]
"""


def fixed(source):
    (file,) = fix(["-"], stdin=source.encode(), select=["KD101"], unsafe=True).files
    return file.after.decode()


def drawn_twice(source):
    old = execute(source, SHOWN, on_keras_2=True)
    after = fixed(source)
    new = execute(after, SHOWN)
    assert (old.raised, new.raised) == (None, None), after
    return old.value, new.value


@pytest.mark.frameworks
@pytest.mark.parametrize("call", DRAWN)
def test_each_call_draws_the_next_numbers(call):
    body = f"SEED = 5\n\n\ndef draw():\n    return {call}\n"
    assert drawn_twice(HEAD + body) == ([True, False], [True, False])


@pytest.mark.frameworks
@pytest.mark.parametrize("seed", ["3", "None"])
def test_so_it_is_in_the_call_of_a_layer(seed):
    source = HEAD + IN_A_LAYER.replace("SEED", seed)
    assert drawn_twice(source) == ([True, False], [True, False])


def test_the_generators_of_a_file_are_kept_in_one_place():
    source = f"{HEAD}\ndef draw():\n    return {DRAWN[0]} + {DRAWN[2]}\n"
    after = fixed(source)
    assert after.count("def seed_generator(seed):") == 1
    assert after.count("seed=seed_generator(3)") == 2
    assert "import functools\n" in after


def test_no_seed_needs_no_generator():
    for seed in ("", ", seed=None"):
        assert "seed_generator" not in fixed(f"{HEAD}y = K.dropout(K.ones((3,)), 0.5{seed})\n")
