"""Layers that a class keeps in a list: they get their weights when single ones do.

Each of the classes was run on Keras 3.15.1 and tf_keras 2.21: without a `build` of their own the
lists have no weights on Keras 3 where the rules say so, and have them on Keras 2.
"""

import pytest

from kdoctor.engine import scan

LISTS = [
    "[keras.layers.Dense(n) for n in units]",
    "[keras.layers.Dense(4), keras.layers.Dense(4)]",
    "[keras.layers.Dropout(0.5), keras.layers.Dense(4)]",
    "[[keras.layers.Dense(n), keras.layers.ReLU()] for n in units]",
]
NET = (
    "import keras\n\n\nclass Net(keras.Model):\n    def __init__(self, units):\n"
    "        super().__init__()\n        self.hidden = {}\n{}\n"
    "    def call(self, x, training=False):\n        for layer in self.hidden:\n"
    "            x = layer(x)\n        return x\n\n\nmodel = Net([4, 2])\nmodel.build((None, 3))\n"
)
LATE = (
    "import keras\n\n\nclass Scaled(keras.layers.Layer):\n    def __init__(self, units):\n"
    "        super().__init__()\n        self.hidden = {}\n{}\n"
    "    def build(self, shape):\n"
    "        self.scale = self.add_weight(name='scale', shape=(4,), initializer='ones')\n\n"
    "    def call(self, x):\n        for layer in self.hidden:\n            x = layer(x)\n"
    "        return x * self.scale\n\n"
    "    def compute_output_shape(self, shape):\n        return (*shape[:-1], 4)\n"
)
CELL = (
    "import keras\n\n\nclass Cell(keras.layers.Layer):\n    def __init__(self, units):\n"
    "        super().__init__()\n        self.state_size = 4\n        self.hidden = {}\n{}\n"
    "    def call(self, x, states):\n        for layer in self.hidden:\n            x = layer(x)\n"
    "        return x, [x]\n\n\n"
    "model = keras.Sequential([keras.Input((None, 3)), keras.layers.RNN(Cell([4]))])\n"
)


def told(source, code):
    found = [
        scan(["-"], stdin=source.encode(), select=[code], gate=gate).findings
        for gate in (True, False)
    ]
    assert found[0] == found[1]
    return len(found[0])


@pytest.mark.parametrize("made", LISTS)
@pytest.mark.parametrize(("source", "code"), [(NET, "KD464"), (LATE, "KD444"), (CELL, "KD466")])
def test_layers_in_a_list_have_no_weights_either(source, code, made):
    assert told(source.format(made, ""), code) == 1


@pytest.mark.parametrize(
    "made",
    [
        "[keras.layers.Dropout(0.1) for n in units]",
        "[keras.layers.Dense(n) for n in units if n]",
        "[made(n) for n in units]",
        "list(units)",
    ],
)
@pytest.mark.parametrize(("source", "code"), [(NET, "KD464"), (LATE, "KD444"), (CELL, "KD466")])
def test_a_list_that_may_have_no_layer_with_weights_is_left_alone(source, code, made):
    assert told(source.format(made, ""), code) == 0


@pytest.mark.parametrize(
    "built",
    [
        "        for layer in self.hidden:\n            layer.build((None, 3))\n",
        "        for n, layer in enumerate(self.hidden):\n            layer.build((None, n))\n",
        "        self.hidden[0].build((None, 3))\n",
        "        self.hidden[0](keras.ops.ones((1, 3)))\n",
    ],
)
def test_layers_that_are_built_as_soon_as_they_are_made_come_in_time(built):
    assert told(LATE.format(LISTS[0], built), "KD444") == 0
