"""`K.function` with updates that is not rewritten has a reason, and what is rewritten is whole.

`test_backend_function_gone_graph_programs.py` runs programs with it on both Keras.
"""

from __future__ import annotations

import numpy as np
import pytest

from kdoctor.engine import fix
from kdoctor.keras_api import resolve_target
from kdoctor.keras_api.names import signature
from kdoctor.model import Applicability
from kdoctor.rules.names._backend.training_functions import HELPER, ORDERS
from tests.frameworks import keras, tf

HEAD = "from keras import backend as K\nfrom keras.optimizers import SGD\n\n"
TRAIN = (
    "def f(model, loss):\n    updates = SGD().get_updates({})\n"
    "    return K.function([model.input], [], updates=updates)\n"
)


def findings(source):
    return fix(["-"], stdin=(HEAD + source).encode(), target="keras==3.15.1").found.findings


def fixed(source):
    done = fix(["-"], stdin=(HEAD + source).encode(), unsafe=True, target="keras==3.15.1")
    return done.files[0].after.decode() if done.files else HEAD + source


@pytest.mark.parametrize(
    "given",
    [
        *("loss, model.weights", "loss=loss, params=model.weights"),
        *("params=model.weights, loss=loss", "model.weights, [], loss"),
        "params=model.weights, constraints=[], loss=loss",
    ],
)
def test_each_order_of_arguments_is_read(given):
    assert "updates = [(SGD(), loss, model.weights)]" in fixed(TRAIN.format(given))


def test_the_orders_of_arguments_are_those_of_the_releases():
    releases = (f"keras=={each}" for each in ("2.0.0", "2.0.9", "2.1.6", "2.3.1", "2.10.0"))
    asked = (resolve_target(each, "a test") for each in releases)
    found = [signature("keras.optimizers.Adam.get_updates", each) for each in asked]
    assert {tuple(p.name for p in each.parameters) for each in found} == set(ORDERS.values())


def test_both_findings_have_the_same_fix_and_it_is_never_safe():
    both = findings(TRAIN.format("loss, model.weights"))
    assert {each.code for each in both if each.code in {"KD101", "KD204"}} == {"KD101", "KD204"}
    fixes = [each.fix for each in both if each.code in {"KD101", "KD204"}]
    assert fixes[0].edits == fixes[1].edits
    assert {each.applicability for each in fixes} == {Applicability.UNSAFE}


def test_a_lambda_stays_one_value():
    source = TRAIN.format("loss=lambda: loss, params=model.weights")
    assert "[(SGD(), lambda: loss, model.weights)]" in fixed(source)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (TRAIN.format("loss"), "`updates` is not all made by `get_updates`"),
        (TRAIN.format("*loss"), "`updates` is not all made by `get_updates`"),
        (TRAIN.format("loss, model.weights, grads=loss"), "`updates` is not all made"),
        (TRAIN.format("model.weights, {loss: 1}, loss"), "`updates` is not all made"),
        (TRAIN.format("loss,  # mine\n        model.weights"), "there is a comment"),
        (
            TRAIN.format("loss, model.weights").replace(
                "    return", "    print(updates)\n    return"
            ),
            "`updates` is not all made",
        ),
        (
            TRAIN.format("loss, model.weights").replace(
                "updates=updates", "updates=updates + others"
            ),
            "`updates` is not all made",
        ),
        (
            TRAIN.format("loss, model.weights").replace(
                "[model.input]", "[model.input, K.learning_phase()]"
            ),
            "the learning phase is among `inputs`",
        ),
        (
            TRAIN.format("loss, model.weights").replace("[], updates", "updates"),
            "kdoctor cannot tell its inputs",
        ),
        ("keras_training_function = 1\n" + TRAIN.format("loss, model.weights"), "`keras_training"),
    ],
)
def test_what_is_not_understood_has_a_reason(source, reason):
    found = next(each for each in findings(source) if each.symbol.endswith("backend.function"))
    assert found.fix is None
    assert found.no_fix_because.startswith(reason)


@pytest.mark.frameworks
def test_without_outputs_it_gives_an_empty_list_and_takes_a_step():
    names = {
        "model": "keras.Model",
        "tape": "tf.GradientTape",
        "convert_to_numpy": "keras.ops.convert_to_numpy",
    }
    space = {"keras": keras, "tf": tf}
    exec(HELPER.format(**names), space)  # noqa: S102 - what is written into files
    x, target = keras.Input((2,)), keras.Input((), name="unused")
    dense = keras.layers.Dense(1, kernel_initializer="ones")
    loss = keras.ops.mean(dense(x))
    update = (keras.optimizers.SGD(0.5), loss, dense.trainable_weights)
    train = space["keras_training_function"]([x, target], [], [update])
    assert train([np.ones((3, 2)), np.ones(3)]) == []
    np.testing.assert_allclose(dense.get_weights()[0], [[0.5], [0.5]])
