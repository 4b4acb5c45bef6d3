import numpy as np
from harness import ids, trains_with
from lovasz import original


def test_softmax():
    trains_with(
        lambda y, p: original.lovasz_softmax(p, y, classes="all"),
        ids(3, 5, 5).astype(np.float32),
        (5, 5, 3),
        "softmax",
    )


def test_softmax_present():
    trains_with(
        lambda y, p: original.lovasz_softmax(p, y),
        ids(3, 5, 5).astype(np.float32),
        (5, 5, 3),
        "softmax",
    )
