from bert_by_keras import layers
from harness import real, trains


def test_layer_normalization():
    trains(layers.LayerNormalization(), real(6, 8))


def test_position_embedding():
    trains(layers.PositionEmbedding(6, 8), real(6, 8))


def test_feed_forward():
    trains(layers.FeedForward(16), real(6, 8))


def test_multi_head_attention():
    data = real(6, 8)
    trains(layers.MultiHeadAttention(8, 2), data, data, data, listed=True)
