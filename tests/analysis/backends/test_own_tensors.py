"""Whose tensor a value is."""

import libcst as cst
import pytest

from kdoctor.analysis.backends.own_tensors import is_made_by_tensorflow
from kdoctor.documents import Document
from kdoctor.keras_api import newest_target, oracle
from kdoctor.syntax import Module


def asked(code):
    """Say it of the argument of ``ask`` in a function that begins with ``code``."""
    lines = "".join(f"    {line}\n" for line in code.splitlines())
    text = f"import tensorflow as tf\nimport keras\ndef f(x):\n{lines}    ask(x)\n"
    unit = Document.parse(text.encode(), "code.py").units[0]
    module = Module.parse(unit, oracle(newest_target()))
    call = module.nodes(cst.Call)[-1]
    return is_made_by_tensorflow(module, call.args[0].value)


@pytest.mark.parametrize(
    "code",
    ["x = tf.constant(x)", "if not isinstance(x, tf.Tensor):\n    x = tf.convert_to_tensor(x)"],
)
def test_what_a_function_of_tensorflow_gives_is_its_own(code):
    assert asked(code)


@pytest.mark.parametrize("code", ["pass", "x = keras.ops.abs(x)", "x = tf.keras.layers.ReLU()(x)"])
def test_what_an_argument_or_keras_gives_is_not(code):
    assert not asked(code)
