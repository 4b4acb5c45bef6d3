"""Which layers of Keras 2 took `input_dim` for the last part of a shape, as KD301 says."""

import pytest

from kdoctor.rules.arguments._move_input_shape import OF_STEPS

pytestmark = pytest.mark.frameworks


def test_it_is_those_that_keras_2_has():
    import tf_keras  # noqa: PLC0415

    layers = tf_keras.layers
    public = [each for each in vars(layers).values() if isinstance(each, type)]
    classes = [
        each
        for each in public
        if issubclass(each, layers.RNN) and not each.__name__.startswith("Conv")
    ]
    assert {each.__name__ for each in classes} == OF_STEPS - {"Conv1D", "Convolution1D"}
    for cls in classes:
        units = layers.GRUCell(3) if cls is layers.RNN else 3
        for given, steps in (({}, None), ({"input_length": 5}, 5)):
            layer = cls(units, input_dim=4, **given)
            assert layer._batch_input_shape == (None, steps, 4)
