import capsulelayers
from harness import one_hot, real, trains


def test_length():
    trains(capsulelayers.Length(), real(6, 8))


def test_mask():
    trains(capsulelayers.Mask(), real(6, 8))


def test_mask_of_labels():
    trains(capsulelayers.Mask(), real(6, 8), one_hot(6), listed=True)


def test_capsule_layer():
    trains(capsulelayers.CapsuleLayer(3, 4), real(6, 8))


def test_primary_capsules():
    trains(lambda x: capsulelayers.PrimaryCap(x, 4, 2, 3, 2, "valid"), real(9, 9, 3))
