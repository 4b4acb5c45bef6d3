from harness import ids, real, trains
from link_inference import LeakyClippedLinear, LinkEmbedding
from misc import GatherIndices


def test_clipped():
    trains(LeakyClippedLinear(), real(6))


def test_embedding():
    for method in ("ip", "l1", "l2", "hadamard", "avg", "concat"):
        trains(LinkEmbedding(method=method, axis=1), real(2, 6))


def test_gather():
    trains(GatherIndices(axis=1, batch_dims=1), real(5, 4), ids(5, 3), listed=True)
