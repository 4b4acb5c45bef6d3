"""Programs that people write with `K.gradients` give the same numbers after the fix.

Before, they run in a graph of Keras 2 (`tf_keras`, eager execution off), as they were written for.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kdoctor.engine import fix
from kdoctor.model import Applicability
from kdoctor.rules.names._backend.gradients import NAME

PROGRAMS = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted((Path(__file__).parent / "gradient_programs").glob("*.py"))
}
# The same model on both sides: its weights are drawn by NumPy.
MAKE_MODEL = """
import sys
import numpy as np
import keras
layers = keras.layers

def make_model(input_tensor=None):
    x = layers.Input((8, 8, 3)) if input_tensor is None else {taken}
    first = x
    x = layers.Conv2D(4, 3, activation="tanh", name="conv1")(x)
    x = y = layers.Conv2D(5, 3, activation="relu", name="conv2")(x)
    x = layers.Add()([layers.Conv2D(5, 3, padding="same", name="conv3")(x), y])
    x = layers.Dropout(0.5)(layers.GlobalAveragePooling2D()(x))
    x = layers.Dense(3, activation="softmax", name="classes")(x)
    random = np.random.RandomState(11)
    model = keras.Model({inputs}, x)
    model.set_weights([random.normal(0, 0.5, each.shape) for each in model.get_weights()])
    return model
"""
RUN = """
import json
results = {}
for name, source in json.load(sys.stdin).items():
    keras.backend.clear_session()
    space = {"make_model": make_model, "__name__": "__main__"}
    exec(compile(source, name, "exec"), space)
    results[name] = [np.asarray(each, "float64").tolist() for each in space["result"]]
print(json.dumps(results))
"""
KERAS_2 = """
import sys
import tensorflow as tf
tf.compat.v1.disable_eager_execution()
import tf_keras
for name in [each for each in sys.modules if each.split(".")[0] == "tf_keras"]:
    sys.modules["keras" + name.removeprefix("tf_keras")] = sys.modules[name]
"""
ON_KERAS_2 = KERAS_2 + MAKE_MODEL.format(taken="layers.Input(tensor=input_tensor)", inputs="first")
ON_KERAS_3 = MAKE_MODEL.format(
    taken="input_tensor", inputs="keras.utils.get_source_inputs(first)[0]"
)


def results_of(setting: str, sources: dict[str, str]) -> dict[str, list]:
    done = subprocess.run(
        [sys.executable, "-c", setting + RUN],
        input=json.dumps(sources),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def fixed(source: str):
    return fix(["-"], stdin=source.encode(), unsafe=True, target="keras==3.15.1")


@pytest.fixture(scope="module")
def before() -> dict[str, list]:
    return results_of(ON_KERAS_2, PROGRAMS)


@pytest.fixture(scope="module")
def after() -> dict[str, list]:
    sources = {name: fixed(source).files[0].after.decode() for name, source in PROGRAMS.items()}
    return results_of(ON_KERAS_3, sources)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_the_same_numbers(name, before, after) -> None:
    assert len(before[name]) == len(after[name])
    for old, new in zip(before[name], after[name], strict=True):
        assert np.shape(old) == np.shape(new)
        np.testing.assert_allclose(new, old, rtol=1e-4, atol=1e-6)
    # What is zero whatever is done would show nothing.
    assert any(np.abs(each).max() > 1e-6 for each in map(np.array, before[name]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_left_and_a_second_fix_changes_nothing(name) -> None:
    done = fixed(PROGRAMS[name])
    assert done.left.findings == ()
    assert fixed(done.files[0].after.decode()).files == ()


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_safe_fixes_leave_gradients_alone(name) -> None:
    (*_, safe) = fix(["-"], stdin=PROGRAMS[name].encode()).files or [None]
    assert safe is None or NAME not in safe.after.decode()


HEAD = "from keras import backend as K\n\n"


def finding(source: str):
    found = fix(["-"], stdin=(HEAD + source).encode(), target="keras==3.15.1").found.findings
    return next(each for each in found if "gradients" in each.symbol)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("grads = K.gradients\n", "it is not called here"),
        ("def f(*given):\n    return K.gradients(*given)\n", "kdoctor cannot tell its loss"),
        ("def f(loss):\n    return K.gradients(loss)\n", "kdoctor cannot tell its loss"),
        (
            "def penalty(y_true, y_pred, samples): return K.gradients(y_pred, samples)[0]\n",
            "tensors have values here",
        ),
        (
            "class Mine:\n    def get_updates(self, loss, of): return K.gradients(loss, of)\n",
            "tensors have values here",
        ),
        (
            "keras_gradients = None\ndef f(loss, x):\n    return K.gradients(loss, x)\n",
            "`keras_gradients` cannot be added to this file",
        ),
    ],
)
def test_what_is_not_understood_has_a_reason(source, reason) -> None:
    found = finding(source)
    assert found.fix is None
    assert found.no_fix_because.startswith(reason)


def test_keywords_are_kept_and_it_is_never_safe() -> None:
    source = "def f(model, loss):\n    return K.gradients(loss=loss, variables=model.input)\n"
    assert finding(source).fix.applicability is Applicability.UNSAFE
    (file,) = fixed(HEAD + source).files
    assert "return keras_gradients(loss=loss, variables=model.input)" in file.after.decode()


def test_what_only_holds_gradients_waits_for_them() -> None:
    """`K.function` of gradients that cannot be rewritten is not rewritten, either."""
    source = (
        "def f(model, given):\n"
        "    grads = K.gradients(*given)\n"
        "    return K.function([model.input], grads)\n"
    )
    assert fixed(HEAD + source).files == ()
