"""Batches that the code does not tell to be lists, and that the error of a test does."""

from __future__ import annotations

import ast

import pytest

from kdoctor import engine
from kdoctor.value_types import Observation

ERROR = (
    "TypeError: `output_signature` must contain objects that are subclass of `tf.TypeSpec` but "
    "found <class 'list'> which is not."
)
BATCHES = """\
import keras
import numpy as np
from batches import made


def train(model):
    def batches():
        while True:
            yield {}

    model.fit(batches(), steps_per_epoch=2)


train(keras.Sequential())
"""


@pytest.fixture
def fixed(tmp_path):
    """Fix a generator that yields this, having seen an error in a function."""

    def found(yielded, raised=ERROR, function="train"):
        path = tmp_path / "code.py"
        path.write_text(BATCHES.format(yielded))
        seen = Observation(str(path.resolve()), function, "", raised=raised)
        done = engine.fix([path], unsafe=True, target="keras==3.15.1", observations=(seen,), jobs=1)
        after = done.files[0].after.decode() if done.files else path.read_text()
        yields = [each for each in ast.walk(ast.parse(after)) if isinstance(each, ast.Yield)]
        return ast.unparse(yields[0].value)

    return found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("made(2), np.ones((2, 1))", "(tuple(made(2)), np.ones((2, 1)))"),
        ("np.split(x, 2), np.ones((2, 1))", "(tuple(np.split(x, 2)), np.ones((2, 1)))"),
        (
            "made.x, y",
            "(tuple(made.x) if isinstance(made.x, list) else made.x, tuple(y) if isinstance(y, list) else y)",
        ),
        ("np.ones((2, 2)), np.ones((2, 1))", "(np.ones((2, 2)), np.ones((2, 1)))"),
    ],
    ids=["a call", "a split", "either of two", "arrays alone"],
)
def test_a_part_that_may_be_the_list_becomes_a_tuple(fixed, before, after):
    assert fixed(before) == after


@pytest.mark.parametrize(
    "seen", [{"raised": "TypeError: another one"}, {"function": "other"}], ids=["error", "function"]
)
def test_another_error_tells_nothing_of_it(fixed, seen):
    assert fixed("made(2), np.ones((2, 1))", **seen) == "(made(2), np.ones((2, 1)))"
