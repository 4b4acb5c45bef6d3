"""The function that KD208 writes into a file resets what `model.reset_states()` of Keras 2 did."""

from __future__ import annotations

import numpy as np
import pytest

from kdoctor.engine import fix, scan
from kdoctor.model import Applicability
from kdoctor.rules.members.model_reset_states import HELPER
from tests.frameworks import keras, tf_keras

ONES = np.ones((2, 4, 5), "float32")
LAYERS = {
    "LSTM": lambda of, stateful: of.LSTM(3, stateful=stateful, return_sequences=True),
    "Bidirectional": lambda of, stateful: of.Bidirectional(
        of.LSTM(3, stateful=stateful, return_sequences=True)
    ),
}


def own_class(framework, base):
    """Return a layer of one's own around an LSTM, which nobody but itself can reset."""

    class Mine(base):
        def __init__(self):
            super().__init__()
            self.inner = framework.layers.LSTM(3, stateful=True, return_sequences=True)

        def build(self, shape):
            self.inner.build(shape)

        def call(self, x):
            return self.inner(x)

    return Mine


def put_in(framework, layer, depth):
    model = framework.Sequential([framework.Input(batch_shape=ONES.shape), layer])
    for _ in range(depth):
        x = framework.Input(batch_shape=ONES.shape)
        model = framework.Model(x, model(x))
    return model


def leftover(layer):
    """Return the sum of what the layer remembers, None where it remembers nothing."""
    halves = [getattr(layer, each, None) for each in ("forward_layer", "backward_layer")]
    parts = [each for each in halves if each is not None] or [getattr(layer, "inner", layer)]
    states = [state for part in parts if part.stateful for state in part.states]
    return sum(float(np.abs(np.asarray(each)).sum()) for each in states) if states else None


def after_a_reset(framework, reset, make, depth):
    layer = make(framework)
    model = put_in(framework, layer, depth)
    model(ONES)
    before = leftover(layer)
    reset(model)
    return None if before is None else (before > 0, leftover(layer) == 0)


def fixed(source):
    [unit] = fix(["-"], stdin=source.encode(), select=["KD208"]).files
    return unit.after.decode()


def new_reset():
    space = {"keras": keras}
    exec(HELPER.format(model="keras.Model"), space)  # noqa: S102 - it is ours
    return space["reset_states"]


MADE = {
    **{
        f"{name}, stateful: {stateful}": lambda framework, make=make, stateful=stateful: make(
            framework.layers, stateful
        )
        for name, make in LAYERS.items()
        for stateful in (True, False)
    },
    "layer of one's own": lambda framework: own_class(framework, framework.layers.Layer)(),
    "model of one's own": lambda framework: own_class(framework, framework.Model)(),
}


@pytest.mark.frameworks
@pytest.mark.parametrize("name", MADE)
def test_it_resets_what_keras_2_resets_at_any_depth(name):
    make = MADE[name]
    for depth in (0, 2):
        old = after_a_reset(tf_keras, lambda model: model.reset_states(), make, depth)
        assert after_a_reset(keras, new_reset(), make, depth) == old


@pytest.mark.frameworks
def test_the_cases_can_tell_a_reset_from_none():
    stateful = MADE["LSTM, stateful: True"]
    assert after_a_reset(keras, new_reset(), stateful, 1) == (True, True)
    assert after_a_reset(keras, lambda _: None, stateful, 1) == (True, False)
    own = MADE["layer of one's own"]
    assert after_a_reset(tf_keras, lambda model: model.reset_states(), own, 0) == (True, False)


def test_one_function_serves_all_calls_of_a_file():
    source = (
        "from tensorflow.keras.models import Sequential\n\nmodel = Sequential()\n\n\n"
        "class Trainer:\n    def __init__(self):\n        self.model = Sequential()\n\n"
        "    def reset_states(self):\n        self.model.reset_states()\n\n\n"
        "model.reset_states()\n"
    )
    text = fixed(source)
    assert text.count("def reset_states(model)") == 1
    assert "        reset_states(self.model)\n" in text
    assert text.endswith("\nreset_states(model)\n")


def test_a_file_with_a_function_of_that_name_is_left_alone():
    source = (
        "import keras\n\n\ndef reset_states(agent):\n    agent.clear()\n\n\n"
        "keras.Sequential().reset_states()\n"
    )
    [finding] = scan(["-"], stdin=source.encode(), select=["KD208"]).findings
    assert finding.fix is None
    assert "the name is taken" in finding.no_fix_because


OWN = (
    "import keras\n\n\nclass Mine(keras.layers.{base}):\n{init}"
    "    def reset_states(self):\n        super().reset_states()\n\n\n"
    "keras.Sequential([Mine(3)]).reset_states()\n"
)


@pytest.mark.parametrize(
    ("base", "init", "wanted"),
    [
        ("Layer", "", Applicability.UNSAFE),
        ("Dense", "", Applicability.UNSAFE),
        ("LSTM", "", Applicability.SAFE),
        (
            "Layer",
            "    def __init__(self, stateful):\n        self.stateful = stateful\n\n",
            Applicability.SAFE,
        ),
    ],
)
def test_a_class_that_says_nothing_of_stateful_makes_it_unsafe(base, init, wanted):
    source = OWN.format(base=base, init=init)
    [finding] = scan(["-"], stdin=source.encode(), select=["KD208"]).findings
    assert finding.fix.applicability is wanted
    assert ("`Mine.reset_states` is always called" in finding.fix.unsafe_because) == (
        wanted is Applicability.UNSAFE
    )
