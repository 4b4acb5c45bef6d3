"""Layers of one's own in `TimeDistributed`, which asks them for a shape."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan

_USE = (
    "import keras\nfrom mine import Own\n\nx = keras.Input((4, 3))\n"
    "y = keras.layers.TimeDistributed(Own())(x)\n"
)
_LAYER = "from keras.engine import Layer\n\n\nclass Own(Layer):\n    def call(self, x):\n        return x\n"
_SHAPE = "\n    def compute_output_shape(self, input_shape):\n        return input_shape\n"


@pytest.mark.parametrize(
    ("layer", "found"),
    [
        (_LAYER, 1),
        (_LAYER + _SHAPE, 0),
        (_LAYER.replace("(Layer)", "(Layer, Mixed)"), 0),
        (_LAYER.replace("class", "@wrapped\nclass"), 0),
        (_LAYER.replace("keras.engine import", "keras.layers import Dense as"), 0),
    ],
)
def test_a_layer_of_another_file(tmp_path, layer, found):
    (tmp_path / "mine.py").write_text(layer)
    (tmp_path / "use.py").write_text(_USE)
    result = scan([str(tmp_path)], select=["KD231"], isolated=True)
    assert len(result.findings) == found


@pytest.mark.parametrize("head", ["", "@registered\n"])
def test_what_a_function_is_called_with_may_hold_values(head):
    source = (
        f"import keras\n\n\n{head}class Own(keras.layers.Layer):\n    pass\n\n\n"
        "def apply(x):\n    return keras.layers.TimeDistributed(Own())(x)\n"
    )
    assert scan(["-"], stdin=source.encode(), select=["KD231"], isolated=True).findings == ()
