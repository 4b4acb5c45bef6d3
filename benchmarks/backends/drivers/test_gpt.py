import model
from harness import real, trains


def test_layer_norm():
    trains(model.LayerNorm(8), real(6, 8), batch=4)


def test_conv1d():
    trains(model.Conv1D(12, 1, 8), real(6, 8), batch=4)


def test_attention():
    trains(model.Attention(nx=768, n_ctx=16), real(16, 768), batch=4)


def test_mlp():
    trains(model.MLP(n_state=64), real(6, 768), batch=4)


def test_block():
    trains(model.Block(n_ctx=16), real(16, 768), batch=4)


def test_activations():
    trains(model.gelu, real(5))
    trains(model.swish, real(5))
