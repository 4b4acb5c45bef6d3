import pytest
from harness import real, trains
from layers import (
    Add,
    Conv2DNormalization,
    ExpectedDepth,
    ExpectedValue2D,
    ReduceMean,
    Sigmoid,
    SubtractScalar,
)


@pytest.mark.parametrize(
    "layer",
    [
        lambda: Conv2DNormalization(20),
        lambda: SubtractScalar(0.5),
        lambda: ReduceMean(),
        lambda: Sigmoid(),
    ],
    ids=["normalization", "subtract", "mean", "sigmoid"],
)
def test_image_layer(layer):
    trains(layer(), real(6, 6, 3))


def test_add():
    trains(Add(), real(6, 3), real(6, 3))


def test_expected_value():
    trains(ExpectedValue2D(), real(3, 6, 6))


def test_expected_depth():
    trains(ExpectedDepth(), real(3, 6, 6), real(3, 6, 6), listed=True)
