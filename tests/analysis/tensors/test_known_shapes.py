"""Shapes of arrays, held against those that NumPy and TensorFlow make of the same expressions."""

import numpy as np
import pytest

from kdoctor.analysis.tensors.known_shapes import shape_of, size_of
from tests.analysis.conftest import asked_in

GIVEN = """\
import numpy as np
import tensorflow as tf
n = 4
rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
pair = (2, 3)
flat = np.arange(6)
"""
WHOLE = [
    "[1.0, 2.0, n]",
    "(1, 2)",
    "[0.5] * n",
    "[[0.5, 1.0]] * (n + 1)",
    "[0.5 for _ in range(n)]",
    "[[0.0 for _ in range(2)] for _ in range(n)]",
    "np.array(rows)",
    "np.asarray(rows, dtype='float32')",
    "np.array(rows).T",
    "np.array(rows).transpose()",
    "np.array(rows).flatten()",
    "np.array(rows).reshape(2, 3)",
    "np.array(rows).reshape((2, -1))",
    "np.array(rows).reshape(-1)",
    "np.array(rows).astype('float32')",
    "np.reshape(rows, pair)",
    "np.reshape(rows, -1)",
    "np.ravel(rows)",
    "np.zeros(n)",
    "np.ones((n, 2 * n))",
    "np.full((2, 2), 0.5)",
    "np.eye(n)",
    "np.eye(n, 2)",
    "np.identity(3)",
    "np.arange(6)",
    "np.linspace(0, 1, n)",
    "np.linspace(0, 1)",
    "np.random.rand(2, n)",
    "np.random.normal(0, 1, (3, n))",
    "np.random.normal(size=(3, n))",
    "np.random.uniform(-1, 1, size=n)",
    "np.exp(np.array(rows))",
    "np.ones(9) / 9",
    "2 * np.ones((3, 3)) - 1",
    "np.float32(rows)",
    "flat",
    "flat.reshape(len(rows), 2)",
    "tf.constant(rows)",
    "tf.constant([1, 2, 3, 4], shape=(2, 2))",
    "tf.zeros((n, 1))",
    "tf.reshape(rows, (2, 3))",
    "tf.cast(rows, 'float32')",
    "tf.eye(n)",
    "np.expand_dims(flat, -1)",
    "np.expand_dims(rows, axis=0)",
    "tf.expand_dims(rows, 1)",
    "flat[:, None]",
    "flat[None]",
    "np.array(rows)[:, np.newaxis]",
    "tf.constant(rows)[None, :, :, tf.newaxis]",
    "0.5",
]


@pytest.mark.frameworks
@pytest.mark.parametrize("expression", WHOLE)
def test_the_shape_is_the_one_that_the_library_makes(expression):
    scope = {}
    exec(GIVEN, scope)  # noqa: S102
    module, node = asked_in(f"{GIVEN}here({expression})\n")

    assert shape_of(module, node) == np.shape(eval(expression, scope))  # noqa: S307


@pytest.mark.parametrize(
    ("expression", "shape"),
    [
        ("np.zeros((m, 3))", (None, 3)),
        ("np.arange(1, n)", (None,)),
        ("[0.5 for _ in m]", (None,)),
        ("np.linspace(0, 1, m)", (None,)),
        ("np.array(rows).reshape(m, -1)", (None, None)),
        ("np.loadtxt(m).reshape(3, -1)", (3, None)),
        ("[0.5] * len(m)", (None,)),
        ("np.array(rows) + np.array(rows)", (None, None)),
        ("np.array(rows)[0]", (None,)),
    ],
)
def test_a_length_that_the_file_does_not_tell_is_unknown(expression, shape):
    module, node = asked_in(f"from mine import m\n{GIVEN}here({expression})\n")

    assert shape_of(module, node) == shape


@pytest.mark.parametrize(
    "expression",
    [
        "m",
        "[m, m]",
        "[1.0, [2.0]]",
        "[[1.0], [2.0, 3.0]]",
        "[*rows, 1.0]",
        "np.array(m)",
        "np.array(rows, ndmin=3)",
        "np.zeros(m)",
        "np.array(rows).reshape(m)",
        "np.array(rows).reshape(m[0])",
        "np.array(rows).reshape(m.shape)",
        "np.array(rows).reshape(pair if m else n)",
        "np.array(rows) + rows",
        "np.dot(rows, rows)",
        "tf.random.uniform((2, 2), 0, (3, 3))",
        "tf.eye(2, batch_shape=[3])",
        "[]",
        "[0.5 for _ in range(4) if m]",
        "'text'",
    ],
)
def test_nothing_is_known_of_other_expressions(expression):
    module, node = asked_in(f"from mine import m\n{GIVEN}here({expression})\n")

    assert shape_of(module, node) is None


def test_a_list_that_grows_later_has_no_known_shape():
    module, node = asked_in("values = [1.0]\nvalues.append(2.0)\nhere(values)\n")

    assert shape_of(module, node) is None


@pytest.mark.parametrize(
    ("expression", "size"),
    [("4", 4), ("n", 4), ("2 * n + 1", 9), ("len(rows)", 3), ("n / 2", None), ("m", None)],
)
def test_a_size_is_a_whole_number_that_the_file_tells(expression, size):
    module, node = asked_in(f"from mine import m\n{GIVEN}here({expression})\n")

    assert size_of(module, node) == size
