"""Axes and indices below 0: what Keras 2 made of them depends on where it ran."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix
from kdoctor.rules.names._backend.differences import DIFFERENCES

HEAD = "import keras\nimport numpy as np\nimport tensorflow as tf\nfrom keras import backend as K\n"
FUNCTION = "def f(x, n, i):\n    return {}\n"
MODEL = "inputs = keras.Input((3, 4))\npicked = {}\nmodel = keras.Model(inputs, picked)\n"


def fixed(source, *, unsafe=False):
    result = fix(["-"], stdin=source.encode(), select=["KD101", "KD503"], unsafe=unsafe)
    (file,) = result.files or [None]
    return source if file is None else file.after.decode()


def body(use):
    return f"{HEAD}\n\n{FUNCTION.format(use)}"


@pytest.mark.parametrize(
    ("axis", "safe"),
    [("0", True), ("1", True), ("-1", False), ("-2", False), ("n", False), ("-n", False)],
)
def test_elements_are_repeated_safely_along_an_axis_from_the_front(axis, safe):
    use = f"K.repeat_elements(x, 2, {axis})"
    assert (f"ops.repeat(x, 2, {axis})" in fixed(body(use))) is safe
    assert f"ops.repeat(x, 2, {axis})" in fixed(body(use), unsafe=True)


def test_a_name_for_an_axis_is_followed():
    for number, safe in (("1", True), ("-1", False)):
        source = f"{HEAD}TIME = {number}\n\n\n{FUNCTION.format('K.repeat_elements(x, 2, TIME)')}"
        assert ("ops.repeat" in fixed(source)) is safe


@pytest.mark.parametrize(
    ("indices", "safe"),
    [
        ("i", True),
        ("i - 1", True),
        ("[0, 2]", True),
        ("K.argmax(n, axis=-1)", True),
        ("-1", False),
        ("[0, -1]", False),
        ("(0, (1, -2))", False),
        ("K.constant([-1], dtype='int32')", False),
        ("tf.constant([0, -1])", False),
        ("np.array([[-1]])", False),
        ("LAST", False),
    ],
)
def test_what_is_gathered_is_safe_where_no_index_is_written_below_zero(indices, safe):
    source = f"{HEAD}LAST = [-1]\n\n\n{FUNCTION.format(f'K.gather(x, {indices})')}"
    assert ("ops.take(x, " in fixed(source)) is safe
    assert "ops.take(x, " in fixed(source, unsafe=True)


@pytest.mark.parametrize(("indices", "safe"), [("[0, 1]", True), ("[0, -1]", False)])
def test_the_same_holds_for_the_function_of_tensorflow(indices, safe):
    source = f"{HEAD}{MODEL.format(f'tf.gather(inputs, {indices}, axis=1)')}"
    assert ("ops.take(inputs, " in fixed(source)) is safe
    assert "ops.take(inputs, " in fixed(source, unsafe=True)


@pytest.mark.frameworks
def test_the_reasons_are_what_is_seen():
    tf = pytest.importorskip("tensorflow")
    keras = pytest.importorskip("keras")
    of_keras_2 = pytest.importorskip("tf_keras").backend
    assert "along another axis" in DIFFERENCES["repeat_elements"]
    x = tf.reshape(tf.range(4.0), (1, 2, 2))
    spec = [tf.TensorSpec((1, None, 2))]
    found = []
    for repeat in (of_keras_2.repeat_elements, keras.ops.repeat):
        for axis in (1, -2):
            repeated = tf.function(lambda x, f=repeat, n=axis: f(x, 2, n), input_signature=spec)
            found.append(repeated(x).numpy().ravel().tolist())
    front, end, new_front, new_end = found
    assert front == new_front == new_end == [0, 1, 0, 1, 2, 3, 2, 3]
    assert end != front
    assert "counts from the end" in DIFFERENCES["gather"]
    rows, last = tf.constant([[1.0], [2.0]]), tf.constant([-1])
    with pytest.raises(tf.errors.InvalidArgumentError):
        of_keras_2.gather(rows, last)
    assert keras.ops.take(rows, last, axis=0).numpy().tolist() == [[2.0]]
