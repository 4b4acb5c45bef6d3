from harness import ids, real, trains, trains_with
from metric_learning import AdditiveAngularMarginLoss
from ranking import approx_ndcg_loss
from regression import SmoothL1Loss, smooth_l1_loss


def test_smooth_l1():
    trains_with(smooth_l1_loss, real(4), (4,))
    trains_with(SmoothL1Loss(), real(4), (4,))


def test_ranking():
    trains_with(approx_ndcg_loss, ids(4, 4).astype("float32"), (4,))


def test_angular_margin():
    trains(AdditiveAngularMarginLoss(), ids(10), real(10))
