"""What is written for random numbers compiles under XLA."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix
from tests.frameworks import tf

CALLS = (
    "K.random_bernoulli(K.shape(x), 0.5)",
    "K.random_binomial(K.shape(x), p=0.5, dtype='float16')",
    "K.random_binomial((4, 3), p=0.5, seed=1)",
    "K.random_normal((4, 3))",
    "K.random_uniform(K.shape(x))",
    "K.random_uniform(K.shape(x), 0, 10, dtype='int32')",
    "K.random_uniform((4, 3), 0, 10, dtype='int64', seed=1)",
    "K.truncated_normal((4, 3), 0.0, 0.1)",
    "K.dropout(x, 0.5)",
)


@pytest.mark.frameworks
@pytest.mark.parametrize("call", CALLS)
def test_compiles(call, tmp_path):
    written = tmp_path / "mine.py"
    written.write_text(f"from keras import backend as K\n\n\ndef drawn(x):\n    return {call}\n")
    fix([written], unsafe=True, apply=True)
    space = {}
    exec(compile(written.read_text(), "mine", "exec"), space)  # noqa: S102 - it is ours
    drawn = tf.function(space["drawn"], jit_compile=True)(tf.ones((4, 3)))
    assert drawn.shape == (4, 3)
