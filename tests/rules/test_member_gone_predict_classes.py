"""The function that KD205 writes into a file gives what `predict_classes` of Keras 2 gave."""

from __future__ import annotations

import numpy as np
import pytest

from kdoctor.engine import fix, scan
from kdoctor.model import Applicability
from kdoctor.rules.members._predicted_classes import HELPER
from tests.frameworks import keras, tf_keras

HEAD = "import keras\n\nmodel = keras.models.load_model('a.h5')\n"
DRAWN = np.random.default_rng(3).normal(size=(7, 5, 4)).astype("float32")


def fixed(source: str) -> str:
    result = fix(["-"], stdin=source.encode(), select=["KD205"])
    assert not result.left_alone
    return result.files[0].after.decode() if result.files else source


def mended(line: str) -> str:
    """Return what the fix makes of one line below ``HEAD`` and the function."""
    before, _, after = fixed(f"{HEAD}{line}\n").rpartition(HELPER)
    assert before.startswith(HEAD)
    return after.strip("\n")


def model_of(framework, units, last, each_step):
    layers = [framework.layers.Dense(5, "tanh")]
    layers += [] if each_step else [framework.layers.Flatten()]
    model = framework.Sequential([*layers, framework.layers.Dense(units, last)])
    model(DRAWN)
    weights = np.random.default_rng(5)
    # Without biases, so that no class is the answer to everything.
    model.set_weights([weights.normal(size=w.shape) * (w.ndim > 1) for w in model.get_weights()])
    return model


@pytest.mark.frameworks
@pytest.mark.parametrize("each_step", [False, True])
@pytest.mark.parametrize(
    ("units", "last", "passed"),
    [
        (1, "sigmoid", {}),
        (1, "tanh", {"batch_size": 3}),
        (2, "softmax", {"verbose": 0, "batch_size": None}),
        (3, "sigmoid", {"batch_size": 3}),
    ],
)
def test_it_gives_what_keras_2_gave(units, last, each_step, passed):
    # TensorFlow still has the class of 2.5, with the method that tf_keras has lost.
    from tensorflow.python.keras.engine import sequential  # noqa: PLC0415

    space: dict[str, object] = {}
    exec(HELPER, space)  # noqa: S102 - it is ours
    with pytest.warns(UserWarning, match="predict_classes"):
        old = sequential.Sequential.predict_classes(
            model_of(tf_keras, units, last, each_step), DRAWN, **passed
        )
    new = space["predict_classes_of"](model_of(keras, units, last, each_step), DRAWN, **passed)
    np.testing.assert_array_equal(new, old)
    assert new.dtype == old.dtype
    assert len(np.unique(old)) > 1


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("y = model.predict_classes(x, 8, verbose=1)[0]", "y = predict_classes_of(model, x, 8, verbose=1)[0]"),
        ("y = model.predict_classes(x=x)", "y = predict_classes_of(model, x=x)"),
        ("y = model.predict_classes(*given, **options)", "y = predict_classes_of(model, *given, **options)"),
        ("y = model.predict_classes(**options)", "y = predict_classes_of(model, **options)"),
        ("y = [model.predict_classes(each) for each in x]", "y = [predict_classes_of(model, each) for each in x]"),
        ("y = (model if x else model).predict_classes(x)", "y = predict_classes_of((model if x else model), x)"),
        ("y = not(model).predict_classes(x)", "y = not predict_classes_of((model), x)"),
        (
            "y = model.predict_classes(  # all\n    x,\n    batch_size=8,\n)",
            "y = predict_classes_of(  # all\n    model, x,\n    batch_size=8,\n)",
        ),
        ("print(f'{model.predict_classes(x)}')", "print(f'{predict_classes_of(model, x)}')"),
    ],
)  # fmt: skip
def test_the_model_is_passed_first_and_all_else_stays(line, wanted):
    assert mended(line) == wanted


@pytest.mark.parametrize(
    "line",
    [
        "ask = model.predict_classes",
        "y = model.predict_classes()",
        "y = model.predict_classes(each for each in x)",
        "y = (model  # the best\n     .predict_classes(x))",
        "def ask(predict_classes_of):\n    return model.predict_classes(x)",
        "predict_classes_of = 3\ny = model.predict_classes(x)",
        "class Own(keras.Sequential):\n    def ask(self):\n        return super().predict_classes(0)",
    ],
)
def test_what_cannot_become_a_call_of_it_is_left_and_told(line):
    source = f"{HEAD}{line}\n"
    assert fixed(source) == source
    [finding] = scan(["-"], stdin=source.encode(), select=["KD205"]).findings
    assert finding.no_fix_because


def test_one_function_serves_all_calls_and_what_is_added_later():
    both = fixed(f"{HEAD}y = model.predict_classes(x)\nz = model.predict_classes(y)\n")
    assert both.count("def predict_classes_of") == 1
    later = fixed(f"{both}w = model.predict_classes(z)\n")
    assert later == f"{both}w = predict_classes_of(model, z)\n"


def test_a_file_that_imports_keras_in_functions_only_gets_it_as_well():
    text = fixed(
        "def judge(path, x):\n    from keras.models import load_model\n\n"
        "    return load_model(path).predict_classes(x)\n"
    )
    assert text.startswith(HELPER)
    assert text.endswith("    return predict_classes_of(load_model(path), x)\n")


def test_where_the_units_are_seen_one_line_says_it():
    source = "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(3)])\n"
    text = fixed(f"{source}y = model.predict_classes(x)\n")
    assert text == f"{source}y = model.predict(x, verbose=0).argmax(axis=-1)\n"


def test_it_is_safe_as_its_examples_are_proven():
    source = f"{HEAD}y = model.predict_classes(x)\n"
    [finding] = scan(["-"], stdin=source.encode(), select=["KD205"]).findings
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.SAFE
