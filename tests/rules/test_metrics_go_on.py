"""KD490 where examples do not reach: what resets whom, releases, and the keyword of Keras 2."""

import pytest

from kdoctor import scan
from tests.frameworks import keras

BEFORE = "keras==3.14.1"
MODEL = """import keras
model = keras.Sequential([keras.layers.Dense(1)])
other = keras.Sequential([keras.layers.Dense(1)])
"""


def lines(source, target=BEFORE):
    found = scan(["-"], stdin=(MODEL + source).encode(), select=["KD490"], target=target).findings
    return [each.place.line - MODEL.count("\n") for each in found]


IN_A_LOOP = "for x, y in data:\n    loss = model.train_on_batch(x, y)\n"


@pytest.mark.parametrize("release", ["3.0.5", "3.3.3", "3.6.0", "3.10.0", "3.13.2", "3.14.1"])
def test_each_release_without_a_reset_is_told(release):
    assert lines(IN_A_LOOP, f"keras=={release}") == [2]


@pytest.mark.parametrize("target", ["keras==3.15.1", "keras==2.15.0"])
def test_releases_that_reset_are_not(target):
    assert lines(IN_A_LOOP, target) == []


@pytest.mark.parametrize(
    "source",
    [
        "for x, y in data:\n    other.reset_metrics()\n    loss = model.train_on_batch(x, y)\n",
        "model.reset_metrics()\nfit = model.train_on_batch(x, y)\nloss = model.test_on_batch(x, y)\n",
        "def reset():\n    model.reset_metrics()\n\nstep = lambda: model.test_on_batch(x, y)\n",
    ],
    ids=["of another model", "for another batch", "in another function"],
)
def test_a_reset_elsewhere_does_not_count(source):
    assert lines(source) == [source.count("\n")]


@pytest.mark.parametrize("method", ["train_on_batch", "test_on_batch"])
def test_the_argument_of_keras_2_is_left_to_the_rules_of_arguments(method):
    place = {"train_on_batch": "x, y, None, None, False", "test_on_batch": "x, y, None, False"}
    for passed in ("x, y, reset_metrics=False", place[method]):
        assert lines(f"for x, y in data:\n    loss = model.{method}({passed})\n") == []


def test_a_class_with_metrics_of_its_own_is_left_alone():
    source = """
class Net(keras.Model):
    metrics = property(lambda self: [])
    def {}(self, data): ...

net = Net()
for x in data:
    loss = net.train_on_batch(x)
"""
    assert lines(source.format("train_step")) == []
    assert lines(source.format("call")) == [8]


@pytest.mark.frameworks
def test_resetting_changes_nothing_on_the_newest_keras():
    model = keras.Sequential([keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros")])
    model.compile(keras.optimizers.SGD(0.0), "mse", metrics=["mae"])
    ones = keras.ops.ones((2, 1))
    plain = [model.train_on_batch(ones, ones * each) for each in (1.0, 3.0, 5.0)]
    reset = []
    for each in (1.0, 3.0, 5.0):
        model.reset_metrics()
        reset.append(model.train_on_batch(ones, ones * each))
    assert [[float(one) for one in each] for each in plain] == [[1, 1], [9, 3], [25, 5]]
    assert [[float(one) for one in each] for each in reset] == [[1, 1], [9, 3], [25, 5]]
