"""Programs that people write with gradients and updates of a graph give the same after the fix.

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
from kdoctor.rules.names._backend import gradients, training_functions

PROGRAMS = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted((Path(__file__).parent / "graph_programs").glob("*.py"))
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
for name in ("Adam", "RMSprop", "SGD"):  # those that had `get_updates`
    setattr(tf_keras.optimizers, name, getattr(tf_keras.optimizers.legacy, name))
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
def drawn(is_run) -> dict[str, str]:
    test = test_a_program_gives_the_same_numbers
    return {name: source for name, source in PROGRAMS.items() if is_run(test, name)}


@pytest.fixture(scope="module")
def before(drawn) -> dict[str, list]:
    return results_of(ON_KERAS_2, drawn)


@pytest.fixture(scope="module")
def after(drawn) -> dict[str, list]:
    sources = {name: fixed(source).files[0].after.decode() for name, source in drawn.items()}
    return results_of(ON_KERAS_3, sources)


@pytest.mark.sampled(3)
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
def test_the_safe_fixes_leave_the_graph_alone(name) -> None:
    (*_, safe) = fix(["-"], stdin=PROGRAMS[name].encode()).files or [None]
    written = "" if safe is None else safe.after.decode()
    assert gradients.NAME not in written
    assert training_functions.NAME not in written
