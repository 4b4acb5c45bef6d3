"""Fixes that are right for tensors of known rank only: safe where nothing makes others."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix

HEAD = "import keras\nimport tensorflow as tf\nfrom keras import backend as K\n\n"
FUNCTION = "def f(x):\n    return {}\n"
USES = {
    "K.concatenate([x, x])": "ops.concatenate([x, x], axis=-1)",
    "K.concatenate([x, x], axis=1)": "ops.concatenate([x, x], axis=1)",
    "K.int_shape(x)": "tuple(x.shape)",
    "K.expand_dims(x)": "ops.expand_dims(x, -1)",
    "K.permute_dimensions(x, (1, 0))": "ops.transpose(x, (1, 0))",
    "K.squeeze(x, -1)": "ops.squeeze(x, -1)",
    "K.reverse(x, 0)": "ops.flip(x, 0)",
    "K.batch_flatten(x)": "ops.reshape(",
    "K.dot(x, y)": "ops.dot(x, y)",
}
MAKERS = [
    "y = tf.sparse.reduce_sum(z, 0)",
    "s = tf.TensorSpec(None, tf.float32)",
    "@tf.function(input_signature=signature)\ndef g(x):\n    return x",
    "y = tf.py_function(g, [z], tf.float32)",
    "y = tf.io.parse_tensor(z, tf.float32)",
    "d = tf.data.Dataset.from_generator(g, tf.float32)",
    "r = tf.ragged.constant([[1], [2, 3]])",
]
NO_MAKERS = [
    "s = tf.sparse.from_dense(z)",
    "loss = 'sparse_categorical_crossentropy'",
    "loss = keras.losses.SparseCategoricalCrossentropy()",
    "@tf.function\ndef g(x):\n    return x",
]


def result_of(use, above):
    source = f"{HEAD}{above}\n\n\n{FUNCTION.format(use)}"
    return fix(["-"], stdin=source.encode(), select=["KD101"])


def after(result):
    (file,) = result.files or [None]
    return "" if file is None else file.after.decode()


@pytest.mark.parametrize(("use", "new"), USES.items())
def test_it_is_safe_where_nothing_makes_a_tensor_of_unknown_rank(use, new):
    assert new.split("(")[0] in after(result_of(use, "n = 1"))


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("above", MAKERS)
def test_it_is_unsafe_in_a_file_that_makes_one(use, above):
    assert use not in after(result_of(use, "n = 1"))
    result = result_of(use, above)
    assert after(result) in ("", None) or use in after(result)


@pytest.mark.parametrize("above", NO_MAKERS)
def test_labels_that_are_sparse_make_none(above):
    assert "ops.concatenate" in after(result_of("K.concatenate([x, x])", above))


def test_while_a_model_is_built_each_tensor_has_a_rank():
    source = (
        f"{HEAD}{MAKERS[1]}\nx = keras.Input((2, 3))\ny = K.concatenate([x, x])\n"
        "model = keras.Model(x, y)\n"
    )
    assert "ops.concatenate([x, x]" in after(fix(["-"], stdin=source.encode(), select=["KD101"]))


def test_what_may_be_another_axis_is_told():
    source = f"{HEAD}{MAKERS[1]}\n\n\n{FUNCTION.format('K.concatenate([x, x])')}"
    result = fix(["-"], stdin=source.encode(), select=["KD101"], unsafe=True)
    assert "ops.concatenate([x, x]" in after(result)


def test_the_number_of_axes_may_be_asked_for_where_no_model_is_built():
    source = f"{HEAD}{MAKERS[1]}\n\n\ndef loss(y_true, y_pred):\n    return K.ndim(y_pred)\n"
    assert "ops.ndim(y_pred)" in after(fix(["-"], stdin=source.encode(), select=["KD101"]))
    assert "len(x.shape)" in after(result_of("K.ndim(x)", "n = 1"))


def test_the_number_of_axes_is_no_tensor_where_a_symbolic_tensor_may_come():
    source = f"{HEAD}{MAKERS[1]}\n\n\n{FUNCTION.format('K.ndim(x)')}"
    result = fix(["-"], stdin=source.encode(), select=["KD101"], unsafe=True)
    assert "return len(x.shape)" in after(result)


def test_a_product_with_a_matrix_needs_no_rank():
    layer = (
        "class Dense(keras.layers.Layer):\n    def build(self, input_shape):\n"
        "        self.kernel = self.add_weight(name='k', shape={}, initializer='ones')\n\n"
        "    def call(self, x):\n        return K.dot(x, self.kernel)\n"
    )
    for shape, safe in (("(3, 2)", True), ("(1, 3, 2)", False)):
        source = f"{HEAD}{MAKERS[1]}\n\n\n{layer.format(shape)}"
        changed = after(fix(["-"], stdin=source.encode(), select=["KD101"]))
        assert ("ops.dot(x, self.kernel)" in changed) is safe, shape


@pytest.mark.frameworks
def test_of_unknown_rank_the_product_is_another():
    tf = pytest.importorskip("tensorflow")
    keras = pytest.importorskip("keras")
    of_keras_2 = pytest.importorskip("tf_keras").backend.dot
    matrix, stack = tf.ones((3, 4)), tf.ones((2, 4, 5))
    shapes = []
    for dot in (of_keras_2, keras.ops.dot):
        for known in ((3, 4), None):
            spec = tf.TensorSpec(known)
            of_stack = tf.function(lambda x, dot=dot: dot(x, stack), input_signature=[spec])
            shapes.append(tuple(of_stack(matrix).shape))
    assert shapes == [(3, 2, 5), (2, 3, 5), (3, 2, 5), (3, 2, 5)]
