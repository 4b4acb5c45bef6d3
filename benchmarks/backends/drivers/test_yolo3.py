from common import loss_utils
from harness import one_hot, real, trains_with


def test_focal_losses():
    trains_with(loss_utils.softmax_focal_loss, one_hot(3, 6), (6, 3))
    trains_with(loss_utils.sigmoid_focal_loss, one_hot(3, 6), (6, 3))


def test_box_iou_loss():
    for kind in ("giou", "diou", "ciou"):
        trains_with(
            lambda y, p, kind=kind: loss_utils.box_iou_loss(y, p, kind),
            real(6, 4) + 0.1,
            (6, 4),
            "sigmoid",
        )
