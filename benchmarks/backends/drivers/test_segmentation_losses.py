import numpy as np
import pytest
from core.utils import loss_utils
from core.utils.net_utils import BilinearUpSampling
from harness import ids, one_hot, real, trains, trains_with


@pytest.mark.parametrize("name", ["focal_loss", "categorical_crossentropy_seg", "lovasz_softmax"])
def test_classes(name):
    trains_with(getattr(loss_utils, name), one_hot(3, 5, 5), (5, 5, 3), "softmax")


@pytest.mark.parametrize("name", ["log_loss", "dice_coef_loss_binary"])
def test_binary(name):
    trains_with(getattr(loss_utils, name), ids(2, 5, 5, 1).astype(np.float32), (5, 5, 1), "sigmoid")


def test_upsampling():
    trains(BilinearUpSampling((8, 8)), real(4, 4, 3))
