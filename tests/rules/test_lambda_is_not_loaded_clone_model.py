"""KD608: since 3.15, Keras refuses to copy a lambda; before, `clone_model` did."""

import pytest

from kdoctor import scan

SOURCE = """
import keras

model = keras.Sequential([keras.Input((2,)), keras.layers.Lambda(lambda x: x * 2)])
twin = keras.models.clone_model(model)
"""


@pytest.mark.parametrize(("target", "refused"), [("keras==3.14.0", 0), ("keras==3.15.0", 1)])
def test_copies_are_told_of_where_they_are_refused(target, refused):
    found = scan(["-"], stdin=SOURCE.encode(), select=["KD608"], target=target).findings
    assert len(found) == refused
