"""`K.dot` of a sparse tensor: `keras.ops.dot` refuses it, `keras.ops.matmul` takes it."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix
from kdoctor.verify.execution import execute

LAYER = """import keras
import tensorflow as tf
from keras import backend as K


class Graph(keras.layers.Layer):
    def build(self, input_shape):
        self.kernel = self.add_weight({})

    def call(self, x):
        return K.dot(x, self.kernel)


layer = Graph()
y = layer(tf.sparse.from_dense([[1.0, 0.0, 2.0]]))
"""
MATRICES = [
    "name='kernel', shape=(3, 2), initializer='ones'",
    "shape=[3, 2], initializer='ones'",
    "shape=(input_shape[-1], 2), initializer='ones'",
]
OTHERS = [
    "shape=input_shape[1:] + (2,), initializer='ones'",
    "shape=(1, 3, 2), initializer='ones'",
    "shape=(*input_shape[1:], 2), initializer='ones'",
]


def fixed(source):
    (file,) = fix(["-"], stdin=source.encode(), select=["KD101"]).files or [None]
    return source if file is None else file.after.decode()


@pytest.mark.frameworks
@pytest.mark.parametrize("weight", MATRICES)
def test_with_a_matrix_both_are_the_same(weight):
    before = LAYER.format(weight)
    after = fixed(before)
    assert "ops.matmul(x, self.kernel)" in after
    old, new = (
        execute(code, "y", on_keras_2=on_2) for code, on_2 in ((before, True), (after, False))
    )
    assert (old.raised, old.value) == (new.raised, new.value) == (None, [[3.0, 3.0]])


@pytest.mark.parametrize("weight", OTHERS)
def test_with_what_may_be_more_than_a_matrix_it_is_not_safe(weight):
    assert "K.dot(x, self.kernel)" in fixed(LAYER.format(weight))


def test_where_nothing_is_sparse_it_is_the_function_of_that_name():
    source = LAYER.format(OTHERS[0]).replace("tf.sparse.from_dense", "tf.constant")
    assert "ops.dot(x, self.kernel)" in fixed(source)
