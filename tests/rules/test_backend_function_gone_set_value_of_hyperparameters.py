"""`K.set_value` of a hyperparameter: what an optimizer of Keras 3 has as a number is left alone."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan
from kdoctor.model import Applicability

HEAD = "from tensorflow import keras\nfrom tensorflow.keras import backend as K\n\n\n"
CALLBACK = (
    "class Stop(keras.callbacks.Callback):\n    def on_epoch_begin(self, epoch, logs=None):\n"
    "        K.set_value(self.model.optimizer.{}, 0)\n"
)
OLD = (
    "class Signed(keras.optimizers.Optimizer):\n    def __init__(self, rate=0.1, **kwargs):\n"
    "        super().__init__('Signed', **kwargs)\n        self._set_hyper('rate', rate)\n\n"
    "    def _resource_apply_dense(self, grad, var, apply_state=None):\n"
    "        return var.assign_sub(self._get_hyper('rate') * grad)\n\n\n"
)
NEW = (
    "class Signed(keras.optimizers.Optimizer):\n    def build(self, variables):\n"
    "        self.rate = self.add_variable((), 'zeros')\n\n"
    "    def update_step(self, gradient, variable, learning_rate):\n"
    "        variable.assign_sub(self.rate * gradient)\n\n\n"
)


def fix_of(source):
    found = scan(["-"], stdin=source.encode(), select=["KD101", "KD121"]).findings
    assert len(found) == 1
    return found[0].fix


@pytest.mark.parametrize(
    "source",
    [
        HEAD + OLD + CALLBACK.format("rate"),
        HEAD + CALLBACK.format("momentum"),
        HEAD + "def slow(optimizer):\n    K.update(optimizer.beta_1, 0.5)\n",
    ],
)
def test_it_is_left_to_a_person(source):
    assert fix_of(source) is None


@pytest.mark.parametrize(
    "source", [HEAD + CALLBACK.format("iterations"), HEAD + NEW + CALLBACK.format("rate")]
)
def test_a_variable_is_assigned_to(source):
    assert fix_of(source).applicability is not Applicability.MANUAL


def test_the_learning_rate_is_set():
    assert fix_of(HEAD + CALLBACK.format("lr")).applicability is Applicability.SAFE
