from cap_layers import Capsule, Capsule1D, margin_loss
from graph_attention import GraphAttention
from harness import one_hot, real, trains, trains_with
from helix_memory import HelixMemory
from queue_memory import QueueMemory


def test_capsule():
    trains(Capsule(3, 4), real(6, 8))


def test_capsule_1d():
    trains(Capsule1D(3, 4), real(6, 8))


def test_margin_loss():
    trains_with(margin_loss, one_hot(4), (4,), "sigmoid")


def test_queue_memory():
    trains(QueueMemory(8), real(6, 8))


def test_helix_memory():
    trains(HelixMemory(8, 2), real(6, 8))


def test_graph_attention():
    trains(GraphAttention(4), real(6, 8), real(6, 6), listed=True)
