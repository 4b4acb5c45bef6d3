"""What KD505 says of eager execution that is turned off, which holds for a whole process."""

import subprocess
import sys
from pathlib import Path

import pytest

from kdoctor.engine import scan

FORKING = Path(__file__).parents[2] / "tools" / "raise_errors" / "forking.py"

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


@pytest.fixture(scope="module")
def programs(tmp_path_factory, forking, variables):
    """Programs, and what each prints: all in forks of one process, for TensorFlow starts slowly."""
    folder = tmp_path_factory.mktemp("programs")
    calls = {
        "predict": "predict(np.ones((1, 2)))",
        "get_weights": "get_weights()",
        "before": "predict(np.ones((1, 2)), verbose=0)",
    }
    sources = {name: f"{HEAD}model.{call}\n" for name, call in calls.items()}
    for name, source in (sources | {"after": sources["before"]}).items():
        (folder / name).mkdir()
        (folder / name / "train.py").write_text(source)
    call = ("fix", "--apply", "--unsafe", "--select", "KD505", "after/train.py")
    forking.kdoctor(*call, cwd=folder, env=variables)
    folders = sorted(folder.iterdir())
    subprocess.run([sys.executable, FORKING, *folders], capture_output=True, check=True)
    return {
        each.name: [(each / name).read_text() for name in ("train.py", "printed")]
        for each in folders
    }


@pytest.mark.frameworks
@pytest.mark.parametrize("method", ["predict", "get_weights"])
def test_without_eager_execution_a_model_raises_what_is_said(programs, method):
    source, printed = programs[method]
    [finding] = found(source)
    assert printed.splitlines()[-1] in finding.message


@pytest.mark.frameworks
def test_the_call_is_left_out_where_nothing_needs_a_graph(programs):
    assert "RuntimeError: `tf.data.Dataset`" in programs["before"][1]
    source, printed = programs["after"]
    assert "disable_eager_execution" not in source
    assert "Error" not in printed


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
