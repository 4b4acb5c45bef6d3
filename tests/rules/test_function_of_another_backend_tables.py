"""The table of functions of JAX and PyTorch: what is written, what is safe, what is refused."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix
from kdoctor.rules.backends._other_frameworks import REWRITES, UNPROVEN

HEAD = "import jax\nimport jax.numpy as jnp\nimport keras\nimport torch\nimport torch.nn.functional as F\n\n\n"
LAYER = "class Own(keras.layers.Layer):\n    def call(self, x):\n        return {}\n"


def written(expression: str) -> str:
    source = (HEAD + LAYER).replace("{}", expression)
    result = fix(["-"], stdin=source.encode(), select=["KD816"], backend="all", unsafe=True)
    after = result.files[0].after.decode() if result.files else source
    return after.rpartition("return ")[2].strip()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("jnp.mean(x, -1, keepdims=True)", "keras.ops.mean(x, -1, keepdims=True)"),
        ("jnp.concatenate([x, x], axis=1)", "keras.ops.concatenate([x, x], axis=1)"),
        ("jax.nn.gelu(x)", "keras.ops.gelu(x)"),
        ("jax.nn.leaky_relu(x)", "keras.ops.leaky_relu(x, negative_slope=0.01)"),
        ("jax.nn.swish(x)", "keras.ops.silu(x)"),
        ("torch.cat((x, x), dim=-1)", "keras.ops.concatenate((x, x), axis=-1)"),
        ("torch.transpose(x, 1, 2)", "keras.ops.swapaxes(x, 1, 2)"),
        ("torch.permute(x, (0, 2, 1))", "keras.ops.transpose(x, (0, 2, 1))"),
        ("torch.amax(x, dim=1)", "keras.ops.max(x, axis=1)"),
        ("torch.argmax(x, dim=1)", 'keras.ops.cast(keras.ops.argmax(x, axis=1), "int64")'),
        ("torch.clamp(x, 0.0, 1.0)", "keras.ops.clip(x, 0.0, 1.0)"),
        ("F.gelu(x)", "keras.ops.gelu(x, approximate=False)"),
        ('F.gelu(x, approximate="tanh")', "keras.ops.gelu(x, approximate=True)"),
        ("F.softmax(x, dim=-1)", "keras.ops.softmax(x, axis=-1)"),
    ],
)
def test_a_function_becomes_that_of_keras(before, after):
    assert written(before) == after


@pytest.mark.parametrize(
    "kept",
    [
        "jnp.sum(x, where=x > 0)",
        "jnp.clip(x, 0.0)",
        "torch.max(x, dim=1)",  # returns a pair
        "torch.clamp(x, min=0.0)",
        "torch.sum(x, dtype=torch.float32)",
        "F.relu(x, inplace=True)",
        "x.sum(dim=1)",
    ],
)
def test_what_no_row_says_is_left_alone(kept):
    assert written(kept) == kept


def test_no_row_is_there_twice_and_each_was_run_or_says_that_it_was_not():
    ids = [each.id for each in (*REWRITES, *UNPROVEN)]
    assert len(set(ids)) == len(ids)
    assert REWRITES
    assert UNPROVEN
