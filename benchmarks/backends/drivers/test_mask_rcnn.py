import numpy as np
from bounding_box_loss import smooth_L1_loss
from harness import ids, real, trains, trains_with
from proposal_class_loss import ProposalClassLoss
from pyramid_ROI_align import compute_scaled_area


def test_proposal_class_loss():
    labels = (ids(3, 6, 1) - 1).astype(np.float32)
    trains_with(ProposalClassLoss(), labels, (6, 2), "softmax")


def test_smooth_l1():
    trains_with(smooth_L1_loss, real(6), (6,))


def test_scaled_area():
    trains(
        lambda h, w: compute_scaled_area(h, w, np.array([64.0, 64.0, 3.0], np.float32)),
        real(6),
        real(6),
    )
