"""`K.in_train_phase` and its twin: which of both is worked out, before on Keras 2 and after."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix, scan
from tests.frameworks import keras, tf_keras

FILE = """\
from keras import backend as K

seen = []


class Layer:
    def made(self, x):
        seen.append("made")
        return x + 1.0


layer = Layer()


def a():
    seen.append("a")
    return K.relu(3.0)


def b():
    seen.append("b")
    return K.relu(2.0)


def phase(training):
    seen.append("phase")
    return training


def chosen(training):
    x = K.relu(-1.0)
    return K.in_train_phase({}, training=training)
"""
SAFE = [
    "a, b",
    "lambda: x, lambda: a()",
    "a, x",
    "x + 1.0, b",
    "K.relu(x) * 2.0, K.square(x)",
    "1.0, 2.0",
]
DOES_MORE = [
    "a(), b()",
    "a(), x",
    "K.relu(a()), b",
    "layer.made(x), 1.0",
    "x, K.relu(b()) + 1.0",
    "[a(), b()][0], x",
]


def events(source, framework, training):
    """Return what a call of `chosen` gives, and what was worked out for it."""
    space = {"K": framework.backend}
    code = source.replace("from keras import backend as K\n", "")
    exec(code, space)  # noqa: S102 - it is ours
    given = float(space["chosen"](training))
    return given, space["seen"]


def fixed(source, *, unsafe=False):
    done = fix(["-"], stdin=source.encode(), select=["KD101"], unsafe=unsafe)
    return done.files[0].after.decode()


def of_the_choice(source):
    found = scan(["-"], stdin=source.encode(), select=["KD101"]).findings
    return next(each for each in found if each.symbol.endswith("_phase")).fix


@pytest.mark.frameworks
@pytest.mark.parametrize("name", ["in_train_phase", "in_test_phase"])
@pytest.mark.parametrize("branches", SAFE)
def test_a_safe_choice_works_out_what_keras_2_did(branches, name):
    source = FILE.format(branches).replace("in_train_phase", name)
    assert of_the_choice(source).applicability == "safe"
    after = fixed(source)
    assert "_phase" not in after
    for training in (True, False, 0, 1):
        assert events(after, keras, training) == events(source, tf_keras, training)


@pytest.mark.frameworks
@pytest.mark.parametrize("name", ["in_train_phase", "in_test_phase"])
@pytest.mark.parametrize("branches", DOES_MORE)
def test_a_choice_of_values_that_do_more_is_unsafe_and_says_so(branches, name):
    source = FILE.format(branches).replace("in_train_phase", name)
    told = of_the_choice(source)
    assert told.applicability == "unsafe"
    assert "only the chosen one runs" in told.unsafe_because
    before = [events(source, tf_keras, training) for training in (True, False)]
    after = [events(fixed(source, unsafe=True), keras, training) for training in (True, False)]
    assert [given for given, _ in after] == [given for given, _ in before]
    assert after != before


@pytest.mark.frameworks
def test_what_a_call_gives_may_be_a_function():
    source = FILE.format("factory(), x").replace(
        "def a()", "def factory():\n    return a\n\n\ndef a()"
    )
    assert of_the_choice(source).applicability == "unsafe"
    assert events(source, tf_keras, True) == (3.0, ["a"])


def test_the_phase_that_is_asked_for_first_now_is_told():
    source = FILE.format("a, b").replace("training=training)", "training=phase(training))")
    assert "`phase(training)`" in of_the_choice(source).unsafe_because
