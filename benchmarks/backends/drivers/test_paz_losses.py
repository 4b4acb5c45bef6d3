import pytest
import segmentation as losses
from harness import one_hot, real, trains_with


@pytest.mark.parametrize("name", ["FocalLoss", "DiceLoss", "JaccardLoss"])
def test_segmentation(name):
    trains_with(getattr(losses, name)(), one_hot(3, 6, 6), (6, 6, 3), "softmax")


def test_reconstruction():
    trains_with(losses.WeightedReconstruction(), real(6, 6, 4), (6, 6, 3), "sigmoid")


def test_reconstruction_with_error():
    trains_with(losses.WeightedReconstructionWithError(), real(6, 6, 4), (6, 6, 4), "sigmoid")
