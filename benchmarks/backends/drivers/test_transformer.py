import transformer
from harness import ids, real, trains


def test_embedding():
    trains(transformer.Embedding(9, 8), ids(9, 6))


def test_positional_encoding():
    trains(transformer.PositionalEncoding(8), real(6, 8))


def test_attention():
    data = real(6, 8)
    trains(transformer.attention, data, data, data)


def test_multi_head_attention():
    data = real(6, 8)
    trains(transformer.MultiHeadAttention(2, 8), data, data, data)


def test_feed_forward():
    trains(transformer.PointwiseFeedForward(8, 16), real(6, 8))


def test_encoder_layer():
    trains(transformer.EncoderLayer(2, 8, 16), real(6, 8))


def test_decoder_layer():
    trains(transformer.DecoderLayer(2, 8, 16), real(6, 8), real(6, 8))


def test_encoder():
    trains(transformer.Encoder(2, 8, 1, 9, 16, 16), ids(9, 6))


def test_decoder():
    trains(transformer.Decoder(2, 8, 1, 9, 16, 16), ids(9, 6), real(6, 8))
