import attention
from harness import real, trains


def test_multi_head_attention():
    data = real(6, 16)
    trains(attention.MultiHeadAttention(16, 4), data, data, data, mask=None)


def test_scaled_dot_product():
    data = real(6, 16)
    trains(attention.scaled_dot_product_attention, data, data, data, mask=None)


def test_masked():
    data = real(6, 16)
    trains(attention.scaled_dot_product_attention, data, data, data, real(6, 6))
