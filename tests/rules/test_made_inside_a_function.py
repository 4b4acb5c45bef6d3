"""KD473 where AutoGraph may be needed: Python's own control flow asks tensors for values."""

import pytest

from kdoctor.engine import scan
from kdoctor.model import Applicability

LAYER = (
    "import tensorflow as tf\nfrom tensorflow import keras\n\n\n"
    "class Twice(keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n"
    "        self.dense = keras.layers.Dense(2)\n        self.sizes = [1, 2]\n\n"
    "    def chosen(self, x):\n        return x if tf.reduce_sum(x) > 0 else -x\n\n"
    "    @tf.function\n    def call(self, x):\n        {}\n        return self.dense(x)\n"
)


@pytest.mark.parametrize(
    ("line", "applicability"),
    [
        ("x = x + 1.0", Applicability.SAFE),
        ("for size in self.sizes: x = x * size", Applicability.SAFE),
        ("for _ in range(len(self.sizes)): x = x + 1.0", Applicability.SAFE),
        ("x = x[0] if x.shape[0] == 1 else x", Applicability.SAFE),
        ("assert x is not None", Applicability.SAFE),
        ("for _ in tf.range(3): x = x + 1.0", Applicability.UNSAFE),
        ("while tf.reduce_sum(x) < 3: x = x + 1.0", Applicability.UNSAFE),
        ("x = -x if x[0, 0] > 0 else x", Applicability.UNSAFE),
        ("assert x[0, 0] > 0 and self.sizes", Applicability.UNSAFE),
        ("x = tf.stack([row * 2 for row in x])", Applicability.UNSAFE),
        ("x = self.chosen(x)", Applicability.UNSAFE),
    ],
)
def test_it_is_safe_where_nothing_asks_a_tensor(tmp_path, line, applicability):
    (tmp_path / "layer.py").write_text(LAYER.format(line))
    (found,) = scan([tmp_path / "layer.py"], select=["KD473"]).findings
    assert found.fix.applicability is applicability
