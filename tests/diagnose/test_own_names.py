"""What the user's own file shows: weights that are not built yet, classes that are not imported."""

from __future__ import annotations

from kdoctor import explain
from kdoctor.diagnose import Fault

UNBUILT = b"""\
import keras


class Mine(keras.layers.Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], 3), name="w")


print(Mine().w)
"""


def log(line, source, error):
    return (
        f'Traceback (most recent call last):\n  File "train.py", line {line}, in <module>\n'
        f"    {source}\n{error}\n"
    )


def test_a_weight_of_a_layer_that_nobody_has_called():
    text = log(9, "print(Mine().w)", "AttributeError: 'Mine' object has no attribute 'w'")
    found = explain(text, read=lambda _: UNBUILT)
    assert found.fault is Fault.YOUR_CODE
    assert "`Mine.build` makes `w`" in found.meaning
    assert not explain(text, read=lambda _: UNBUILT.replace(b"build", b"other")).is_known
    assert not explain(text, read=lambda _: None).is_known


def test_a_class_that_is_not_imported():
    text = log(2, "Dense(3)", "NameError: name 'Dense' is not defined")
    found = explain(text, read=lambda _: b"import keras\nDense(3)\n")
    assert found.steps[0].text == "from keras.layers import Dense"
    assert explain(text, read=lambda _: b"import math\nDense(3)\n").fault is Fault.NOT_KERAS
