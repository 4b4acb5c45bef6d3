"""KD474 beyond its examples: the function of the backend around it becomes one of `keras.ops`."""

from __future__ import annotations

from kdoctor.engine import fix

BEFORE = """\
from tensorflow import keras
from tensorflow.keras import backend as K

x = keras.Input((3,))
y = x + K.cast(x == 0, 'float32')
"""
AFTER = """\
from tensorflow import keras
from tensorflow.keras import ops

x = keras.Input((3,))
y = x + ops.cast(keras.ops.equal(x, 0), 'float32')
"""


def test_both_are_mended_at_once() -> None:
    (fixed,) = fix(["-"], stdin=BEFORE.encode(), target="keras==3.15.1", unsafe=True).files
    assert fixed.after.decode() == AFTER
