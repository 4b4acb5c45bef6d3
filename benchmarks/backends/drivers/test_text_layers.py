from attention_dot import AttentionDot
from attention_self import AttentionSelf
from capsule import Length, Mask
from harness import real, trains
from k_max_pooling import k_max_pooling


def test_attention_dot():
    trains(AttentionDot(), real(6, 8))


def test_attention_self():
    trains(AttentionSelf(8), real(6, 8))


def test_length():
    trains(Length(), real(6, 8))


def test_mask():
    trains(Mask(), real(6, 8))


def test_k_max_pooling():
    trains(k_max_pooling(top_k=2), real(6, 8))
