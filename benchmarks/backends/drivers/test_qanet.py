import numpy as np
from harness import ids, real, trains
from layers.BatchSlice import BatchSlice
from layers.context2query_attention import context2query_attention
from layers.layer_norm import LayerNormalization
from layers.position_embedding import Position_Embedding
from layers.QAoutputBlock import QAoutputBlock


def test_layer_norm():
    trains(LayerNormalization(), real(5, 8))


def test_position_embedding():
    trains(Position_Embedding(), real(5, 8))


def test_output_block():
    trains(QAoutputBlock(3), real(6), real(6), listed=True)


def test_batch_slice():
    trains(BatchSlice(2), ids(9, 6), ids(5, 1), listed=True)


def test_context_query():
    trains(
        context2query_attention(32, 6, 4, 0.0),
        real(6, 8),
        real(4, 8),
        np.ones((8, 6), bool),
        np.ones((8, 4), bool),
        listed=True,
    )
