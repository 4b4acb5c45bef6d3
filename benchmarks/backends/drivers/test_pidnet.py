import numpy as np
import pytest
import semantic_loss
import utils
from harness import ids, real, trains, trains_with

IMAGE = (16, 16, 8)


@pytest.mark.parametrize(
    "block",
    [
        lambda: utils.BasicBlock(8),
        lambda: utils.Bottleneck(4, no_relu=False),
        lambda: utils.SegmentHead(8, 3),
        lambda: utils.SegmentHead(8, 3, scale_factor=2),
        lambda: utils.PAPPM(4, 8),
    ],
    ids=["basic", "bottleneck", "head", "head-scaled", "pappm"],
)
def test_block(block):
    trains(block(), real(*IMAGE))


def test_pixel_attention():
    trains(utils.PagFM(8, 4), real(*IMAGE), real(8, 8, 8), listed=True)


@pytest.mark.parametrize("name", ["LightBag", "DDFMv2"])
def test_boundary_guided(name):
    data = real(*IMAGE)
    trains(getattr(utils, name)(8), data, data, data, listed=True)


def test_boundary_loss():
    labels = ids(2, 6, 6, 1).astype(np.float32)
    trains_with(semantic_loss.BoundaryLoss(from_logits=True), labels, (6, 6, 1))


@pytest.mark.parametrize("kind", ["focal", "cross_entropy"])
def test_semantic_loss(kind):
    loss = semantic_loss.SemanticLoss(2.0, from_logits=True, num_classes=3, loss_type=kind)
    trains_with(loss, ids(3, 6, 6), (6, 6, 3))
