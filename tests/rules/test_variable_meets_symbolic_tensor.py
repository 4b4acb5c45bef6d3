"""KD519 beyond its examples: what KD101 makes of `K.variable` meets symbolic tensors, too."""

from __future__ import annotations

from kdoctor.engine import fix

BEFORE = """\
import keras
from keras import backend as K

x = keras.Input((3,))
weight = K.variable(0.5)
loss = K.variable(0.)
loss = loss + 0.5 * K.sum(K.square(x), axis=-1)
y = weight * x
"""
AFTER = """\
import keras
from keras import ops

x = keras.Input((3,))
weight = keras.Variable(0.5, dtype=keras.config.floatx())
loss = keras.Variable(0., dtype=keras.config.floatx())
loss = ops.add(loss, 0.5 * ops.sum(ops.square(x), axis=-1))
y = ops.multiply(weight, x)
"""


def test_a_variable_of_the_backend_is_followed_to_what_it_meets() -> None:
    (fixed,) = fix(["-"], stdin=BEFORE.encode(), target="keras==3.15.1").files
    assert fixed.after.decode() == AFTER
