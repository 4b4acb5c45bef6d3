"""Which lines a test runs, also in functions that AutoGraph writes anew."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

import kdoctor.migrate
from tests.frameworks import tf

IN_TESTS = Path(kdoctor.migrate.__file__).with_name("in_tests")

STEP = """import tensorflow as tf


def doubled(x):
    return x * 2


@tf.function
def step(x, flag):
    if flag:
        y = doubled(x)
    else:
        y = x - 1
    if tf.reduce_sum(y) > 0:
        z = y * 3
    else:
        z = y * 4
    for _ in range(2):
        z = z + 1
    return z


@tf.function
def failing(x):
    y = x + 1
    return tf.reshape(y, [7, 7])
"""


def line_of(text):
    return STEP.split(text, maxsplit=1)[0].count("\n") + 1


@pytest.fixture
def lines_of(tmp_path, monkeypatch):
    """Return which lines of the functions above are run, or raise, by what is done with them."""
    monkeypatch.syspath_prepend(str(IN_TESTS))
    import kdoctor_probe  # noqa: PLC0415 - it lies where only a project's Python finds it

    path = tmp_path / "steps.py"
    path.write_text(STEP)
    spec = importlib.util.spec_from_file_location("steps", path)
    steps = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(steps)

    def run(act):
        lines = kdoctor_probe.Lines({str(path.resolve())})
        before = sys.gettrace()
        sys.settrace(lines.enter)
        try:
            act(steps)
        finally:
            sys.settrace(before)
        return [set().union(*found.values()) for found in (lines.ran, lines.raised)]

    yield run
    for name in ("kdoctor_probe", "kdoctor_frames", "kdoctor_autograph"):
        sys.modules.pop(name, None)


@pytest.mark.frameworks
def test_lines_of_a_tensorflow_function_are_run_where_the_graph_goes_through_them(lines_of):
    ran, raised = lines_of(lambda steps: steps.step(tf.ones([2]), True))
    run = ["if flag", "y = doubled(x)", "return x * 2", "if tf.reduce_sum", "z + 1", "return z"]
    assert [each for each in run if line_of(each) not in ran] == []
    # Not taken, or both built into the graph: of the latter nobody sees which one it takes.
    not_run = ["x - 1", "y * 3", "y * 4"]
    assert [each for each in not_run if line_of(each) in ran] == []
    assert raised == set()


@pytest.mark.frameworks
def test_a_line_of_a_tensorflow_function_that_raises_is_told_as_such(lines_of):
    def act(steps):
        with pytest.raises(ValueError, match="reshape"):
            steps.failing(tf.ones([2]))

    ran, raised = lines_of(act)
    assert line_of("y = x + 1") in ran - raised
    assert line_of("tf.reshape") in raised
