"""What KD505 says of eager execution that is turned off, which holds for a whole process."""

import subprocess
import sys

import pytest

from kdoctor.engine import scan

HEAD = """
import numpy as np
import tensorflow as tf

tf.compat.v1.disable_eager_execution()
import keras

model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
"""


def found(source):
    return scan(["-"], stdin=source.encode(), select=["KD505"]).findings


def test_turning_eager_execution_off_is_an_error_where_a_model_runs():
    [finding] = found(HEAD + "model.predict(np.ones((1, 2)))")
    assert finding.severity == "error"
    assert "`predict` then raises RuntimeError" in finding.message


def test_it_is_a_change_where_no_model_is_seen_to_run():
    [finding] = found(HEAD)
    assert finding.severity == "change"


@pytest.mark.frameworks
@pytest.mark.parametrize("method", ["predict", "get_weights"])
def test_without_eager_execution_a_model_raises_what_is_said(method):
    argument = "np.ones((1, 2))" if method == "predict" else ""
    source = HEAD + f"model.{method}({argument})"
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=False
    )
    [finding] = found(source)
    assert done.stderr.splitlines()[-1] in finding.message


def test_the_call_is_left_out_where_nothing_needs_a_graph(tmp_path):
    file = tmp_path / "f.py"
    file.write_text(HEAD + "model.predict(np.ones((1, 2)), verbose=0)\n")
    before = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
    assert "RuntimeError: `tf.data.Dataset`" in before.stderr
    fix = [sys.executable, "-m", "kdoctor", "fix", "--apply", "--unsafe", "--select", "KD505", file]
    subprocess.run(fix, capture_output=True, check=False)
    assert "disable_eager_execution" not in file.read_text()
    subprocess.run([sys.executable, file], capture_output=True, check=True)


@pytest.mark.parametrize(
    "line",
    [
        "x = tf.compat.v1.placeholder('float32', (None, 2))",
        "gradients = tf.gradients(loss, model.inputs)",
        "session = keras.backend.get_session()",
    ],
)
def test_the_call_stays_where_something_needs_a_graph(line):
    [finding] = found(f"{HEAD}{line}\n")
    assert finding.fix is None
    assert finding.no_fix_because


def test_the_call_leaves_its_block_whole():
    source = HEAD.replace("tf.compat", "if True:\n    tf.compat")
    [finding] = found(source)
    assert [edit.parts for edit in finding.fix.edits] == [("pass",)]
