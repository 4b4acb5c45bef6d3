"""The hooks that Keras 3 never calls are those of Keras 2, and none of Keras 3."""

import pytest

from kdoctor.rules.idioms.hook_is_never_called import HOOKS, OF_OPTIMIZERS
from tests.frameworks import keras, tf_keras


@pytest.mark.frameworks
@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_is_a_method_of_keras_2_alone(name):
    assert hasattr(tf_keras.Model, name)
    own = [each for each in keras.Model.__mro__ if each.__module__.startswith("keras.")]
    assert own
    assert not [each for each in own if name in vars(each)]


@pytest.mark.frameworks
@pytest.mark.parametrize("name", OF_OPTIMIZERS)
def test_a_hook_of_optimizers_is_one_of_keras_2_alone(name):
    assert hasattr(tf_keras.optimizers.legacy.Optimizer, name)
    assert not hasattr(keras.optimizers.Optimizer, name)
