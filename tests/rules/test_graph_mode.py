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
