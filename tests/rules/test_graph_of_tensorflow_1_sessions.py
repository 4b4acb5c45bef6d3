"""KD506 leaves alone what only runs where TensorFlow does not run at once."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan

_HEAD = "import keras\nimport tensorflow as tf\n\n"


def codes(code):
    source = f"{_HEAD}{code}\n"
    found = scan(["-"], stdin=source.encode(), select=["KD506"]).findings
    return [each.code for each in found]


@pytest.mark.parametrize(
    "code",
    [
        "if not tf.executing_eagerly():\n    session = tf.Session()",
        "if not tf.executing_eagerly() and ask():\n    session = tf.Session()",
        "if tf.executing_eagerly() or ask():\n    pass\nelse:\n    session = tf.Session()",
        "session = None if tf.executing_eagerly() else tf.Session()",
        "eager = tf.executing_eagerly()\nif not eager:\n    tf.enable_eager_execution()",
        "def f():\n    if tf.executing_eagerly():\n        return None\n    return tf.Session()",
        (
            "from tensorflow.python.eager import context\n\n"
            "if not context.executing_eagerly():\n    if ask():\n        tf.reset_default_graph()"
        ),
    ],
)
def test_what_stands_on_graphs_alone_is_left_alone(code):
    assert codes(code) == []


@pytest.mark.parametrize(
    "code",
    [
        "if tf.executing_eagerly():\n    session = tf.Session()",
        "if not tf.executing_eagerly() or ask():\n    session = tf.Session()",
        "if not tf.executing_eagerly():\n    pass\nelse:\n    session = tf.Session()",
        "def f():\n    session = tf.Session()\n    if tf.executing_eagerly():\n        return",
        "def f():\n    if not tf.executing_eagerly():\n        return\n    session = tf.Session()",
        # A graph is what a `tf.function` is, too.
        "def f(x):\n    if not tf.executing_eagerly():\n        x = tf.log(x)\n    return x",
        (
            "tf.compat.v1.disable_eager_execution()\n"
            "if not tf.executing_eagerly():\n    session = tf.Session()"
        ),
        "x = not ask()\nwhile x:\n    x = not x\n    tf.Session()\nprint('executing_eagerly')",
    ],
)
def test_all_else_is_reported(code):
    assert codes(code) == ["KD506"]
