"""``kdoctor fix --verify`` writes what ran and was equal, and names the rest."""

from __future__ import annotations

import json
import re

import pytest

from tests.verify.user.verify_command import FINE, kdoctor_cli

DIFFERENT = """
import keras
from keras import backend as K

def third(y_true, y_pred):
    axis = -1 if keras.__version__.startswith("2") else 0
    return K.mean(K.square(y_true - y_pred), axis=axis)

def network():
    first = keras.Input((5,))
    start = 0.1 if keras.__version__.startswith("2") else 0.7
    hidden = keras.layers.Dense(4, name="one")(first)
    hidden = keras.layers.LeakyReLU(start, name="two")(hidden)
    return keras.Model(first, keras.layers.Dense(1, name="three")(hidden))
"""


@pytest.mark.frameworks
def test_only_files_that_verify_are_written(tmp_path):
    pytest.importorskip("tf_keras")
    (tmp_path / "different.py").write_text(DIFFERENT)
    (tmp_path / "fine.py").write_text(FINE)
    ran = kdoctor_cli("fix", "--apply", "--verify", ".", folder=tmp_path)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert (tmp_path / "different.py").read_text() == DIFFERENT
    assert "different.py: not written: not the same after the fix: third" in ran.stderr
    assert "ops.mean(" in (tmp_path / "fine.py").read_text()
    assert "network (model builder): different in layer two" in ran.stderr
    assert "on Keras 2" in ran.stderr
    assert re.search(r"Run with tensorflow [\d.]+, tf_keras [\d.]+ and tensorflow", ran.stderr)


PARTS = """
import numpy as np
from keras import backend as K
from keras.layers.core import Dense
from keras.models import Sequential


def loss(y_true, y_pred):
    return K.mean(K.square(y_true - y_pred))


def read(path):
    data = np.load(path)
    return K.sum(data)


def helper(x):
    return K.sum(x, axis=-1)


def metric(y_true, y_pred):
    return helper(K.abs(y_true - y_pred))


print(K.int_shape(Sequential([Dense(3)]).output))
"""


BESIDE = """
from keras import backend as K


def total(x):
    return K.sum(x, axis=-1)
"""


USES = """
from keras import backend as K
from beside import total


def far(y_true, y_pred):
    return total(K.abs(y_true - y_pred))


def near(y_true, y_pred):
    return K.mean(K.abs(y_true - y_pred))
"""


HALF = """
from keras import backend as K


def half(x, mode="plain"):
    if mode == "summed":
        return K.sum(x)
    return K.square(x)
"""


@pytest.mark.frameworks
def test_only_fixes_that_ran_and_were_equal_are_written_and_the_rest_is_named(tmp_path):
    pytest.importorskip("tf_keras")
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}] * 2
    cells[0] = {**cells[0], "source": ["from keras import backend as K\n", "print(K.sum([1.0]))"]}
    cells[1] = {**cells[1], "source": USES.partition("def near")[1:][1].splitlines(keepends=True)}
    cells[1]["source"][0] = "def near" + cells[1]["source"][0]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    for name, text in (("parts", PARTS), ("uses", USES), ("beside", BESIDE), ("half", HALF)):
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "book.ipynb").write_text(json.dumps(notebook))
    ran = kdoctor_cli(
        *("fix", "--apply", "--verify", "parts.py", "uses.py", "book.ipynb", "half.py"),
        folder=tmp_path,
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    parts = (tmp_path / "parts.py").read_text()
    assert "ops.mean(ops.square(y_true - y_pred))" in parts
    assert "return ops.sum(x, axis=-1)" in parts
    assert "return helper(ops.abs(y_true - y_pred))" in parts
    assert "    return K.sum(data)\n" in parts
    assert "from keras.layers.core import Dense\n" in parts
    assert "print(K.int_shape(" in parts
    assert "from keras import backend as K\nfrom keras import ops\n" in parts
    assert "parts.py: partly fixed: " in ran.stderr
    assert "read (not tried), lines 4, 25 (outside of what was verified)" in ran.stderr
    # What ran was `far` with a fixed `total`, and beside.py is not among the paths.
    uses = (tmp_path / "uses.py").read_text()
    assert "return total(K.abs(y_true - y_pred))" in uses
    assert "return ops.mean(ops.abs(y_true - y_pred))" in uses
    assert (
        "uses.py: partly fixed: 1 of 3 fixes left out: far (needs a fix that is left out)"
        in ran.stderr
    )
    assert (tmp_path / "beside.py").read_text() == BESIDE
    # Its other branch ran, and was equal.
    assert (tmp_path / "half.py").read_text() == HALF
    assert "half (line 7 of the fixed code did not run)" in ran.stderr
    book = (tmp_path / "book.ipynb").read_text()
    assert "print(K.sum([1.0]))" in book
    assert "return ops.mean(ops.abs(y_true - y_pred))" in book
    left = kdoctor_cli("scan", "--format", "concise", "parts.py", folder=tmp_path).stdout
    assert re.findall(r"KD\d+", left) == ["KD102", "KD101", "KD101", "KD218"], left
