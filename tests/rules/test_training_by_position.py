"""What is passed to a layer by position: held against the layers of Keras 2 and 3 themselves."""

from __future__ import annotations

import inspect

import pytest

from kdoctor.engine import scan
from kdoctor.rules.arguments._positional_arguments import TRAINING_IS_SECOND
from tests.frameworks import keras, tf_keras

FUNCTIONAL = """
class Net(keras.Model):
    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)

    def call(self, x, training=False):
        return super().call(x, training)


Net(x, y)(x, True)
"""


@pytest.mark.frameworks
@pytest.mark.parametrize("library", [keras, tf_keras], ids=["keras", "tf_keras"])
@pytest.mark.parametrize("name", sorted(TRAINING_IS_SECOND))
def test_keras_has_training_behind_the_input(library, name: str) -> None:
    cls = getattr(library.layers, name, None) or getattr(library, name)
    parameters = list(inspect.signature(cls.call).parameters)
    assert parameters[1:3] == ["inputs", "training"]


def test_a_model_of_inputs_and_outputs_takes_all() -> None:
    source = f"import keras\nx = y = keras.Input((2,))\n{FUNCTIONAL}"
    assert not scan(["-"], stdin=source.encode(), select=["KD315"]).findings
