"""Logs that are cut, doubled or garbled: never an exception, never a false claim."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kdoctor import explain
from kdoctor.diagnose import read_exceptions, version_detection
from kdoctor.diagnose.log_cleanup import clean_lines
from kdoctor.diagnose.version_detection import versions_in

RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.txt"))


def damaged(text, draw):
    start, end = sorted(draw.sample(range(len(text)), 2))
    yield text[start:]
    yield text[:end]
    yield text[start:end]
    yield text[:start] + text[start + 30 :]
    yield text + text[start:]
    yield text.replace("\n", "\r\n", draw.randint(1, 9))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_damaged_log_of_a_keras_error_is_never_called_something_else(path):
    draw = random.Random(path.stem)  # noqa: S311 - the same cuts each time
    for text in damaged(path.read_text("utf-8"), draw):
        found = explain(text, target="keras==3.15.1", read=lambda _: None)
        assert found.fault.value != "not a Keras problem", text


@pytest.mark.parametrize(
    "text",
    [
        "\0" * 1000,
        "(" * 5000,
        "AttributeError: " + "a." * 20000,
        "Traceback (most recent call last):\n" * 500,
        'File "x", line 99999999999999999999\n' * 100 + "Error",
        "in user code:\n" * 50,
        f"x = {'[' * 3000}\nAttributeError: module 'keras.backend' has no attribute 'sum'",
        "Exception encountered when calling a\n\n" * 200,
        "\ud800 keras",
    ],
)
def test_reading_garbage_raises_nothing(text):
    explain(text, read=lambda _: None)


def test_a_long_log_is_read_in_seconds():
    log = "2026-01-01 10:00:00 INFO step 12345 loss=0.1234 acc=0.99\n" * 100_000
    start = time.process_time()
    (error,) = read_exceptions(log + (RECORDED[0].parent / "optimizer_lr.txt").read_text("utf-8"))
    assert error.name == "AttributeError"
    assert time.process_time() - start < 10


def test_empty_lines_without_end_are_not_all_looked_at():
    lines = clean_lines("ValueError: x\n\ny" + " \r\n" * 100_000 + "z")
    assert (lines[:3], lines[-1]) == (["ValueError: x", "", "y"], "z")
    assert len(lines) < 2_000


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("tensorflow==2.10.1\nkeras==2.10.0\n", {"tensorflow": "2.10.1", "keras": "2.10.0"}),
        ("Keras version: 3.5.0", {"keras": "3.5.0"}),
        ("TensorFlow 2.16.1", {"tensorflow": "2.16.1"}),
        ("tf.keras.__version__ = '2.4.0'", {"keras": "2.4.0"}),
        ("Keras requires TensorFlow 2.2 or higher", {}),
        ("it is not supported in Keras 3.", {}),
    ],
)
def test_the_versions_that_a_text_states(text, versions):
    assert versions_in(text) == versions


PIECES = ["keras", "tf-keras", "tf_keras", "Keras", "tensorflow", "TensorFlow-gpu", "==", "=", ": ",
          " version", " ", "2.3.1", "v3.5", "requires ", "\n", "'", " or later", ".__version__",
          "x", "İ"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_versions_are_found_where_a_search_of_all_finds_them(text):
    found = [each.span() for each in version_detection._statements(text)]
    assert found == [each.span() for each in version_detection._STATED.finditer(text)]
