"""`K.tile` with sizes that are a tensor: Keras 3 takes them apart, which no graph allows."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan
from kdoctor.model import Applicability
from tests.frameworks import keras, tf

SOURCE = """from keras import backend as K


def tiled(x, given, rank):
    sizes = [1, 2]
    made = K.stack([1, 2])
    return K.tile(x, {})
"""


def applicability(sizes: str) -> Applicability | None:
    source = SOURCE.format(sizes).encode()
    found = scan(["-"], stdin=source, select=["KD101"]).findings
    (fix,) = [each.fix for each in found if each.symbol == "keras.backend.tile"]
    return None if fix is None else fix.applicability


@pytest.mark.parametrize("sizes", ["[1, 2]", "(1, given)", "sizes", "2", "[1] * rank + [2]"])
def test_sizes_that_are_written_out_are_repeated_safely(sizes: str) -> None:
    assert applicability(sizes) is Applicability.SAFE


@pytest.mark.parametrize("sizes", ["given", "K.shape(x)"])
def test_sizes_that_may_be_a_tensor_are_not(sizes: str) -> None:
    assert applicability(sizes) is Applicability.UNSAFE


@pytest.mark.parametrize("sizes", ["made", "K.stack([1, 2])"])
def test_sizes_that_are_a_tensor_are_left_to_people(sizes: str) -> None:
    assert applicability(sizes) is None


@pytest.mark.frameworks
def test_keras_3_takes_no_tensor_of_sizes_in_a_graph() -> None:
    ones = keras.ops.ones((1, 2))
    assert tf.function(lambda n: keras.ops.tile(ones, [n, 1]))(tf.constant(2)).shape[1] == 2
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(lambda n: keras.ops.tile(ones, n))(tf.constant([2, 1]))
