from feature_fusion import FeatureFusion
from harness import one_hot, real, trains, trains_with
from loss_impl import FocalLossV1
from nearest_upsampling import NearestUpsampling2D


def test_sum_fusion():
    trains(FeatureFusion("sum", 8), real(4, 4, 8), real(4, 4, 8), listed=True)


def test_fast_attention_fusion():
    trains(FeatureFusion("fast_attention", 8), real(4, 4, 8), real(4, 4, 8), listed=True)


def test_upsampling():
    trains(NearestUpsampling2D(2), real(4, 4, 8))


def test_focal_loss():
    trains_with(FocalLossV1(0.25, 1.5, 0.1), one_hot(4, 6), (6, 4))
