"""Layers that a class keeps in a list: they get their weights when single ones do.

Each of the classes was run on Keras 3.15.1 and tf_keras 2.21: without a `build` of their own the
lists have no weights on Keras 3 where the rules say so, and have them on Keras 2.
"""

from textwrap import indent

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


GROWN = [
    "        for n in units:\n            self.hidden.append(keras.layers.Dense(n))\n",
    "        self.hidden.append(keras.layers.Dense(4))\n",
    "        self.hidden += [keras.layers.Dense(n) for n in units]\n",
    "        self.hidden.extend([keras.layers.ReLU(), keras.layers.Dense(4)])\n",
    "        with keras.name_scope('a'):\n            self.hidden.insert(0, keras.layers.Dense(4))\n",
]


@pytest.mark.parametrize("grown", GROWN)
@pytest.mark.parametrize(("source", "code"), [(NET, "KD464"), (LATE, "KD444"), (CELL, "KD466")])
@pytest.mark.parametrize("empty", ["[]", "list()"])
def test_layers_that_are_added_to_a_list_have_no_weights_either(source, code, grown, empty):
    assert told(source.format(empty, grown), code) == 1


@pytest.mark.parametrize("grown", GROWN)
def test_layers_that_build_adds_to_a_list_have_none(grown):
    inside = f"(self, shape):\n        self.hidden = []\n{grown}".replace("units", "self.units")
    late = LATE.format("None", "").replace("(self, shape):\n", inside, 1)
    assert told(late, "KD444") == 1


@pytest.mark.parametrize(
    "grown",
    [
        "for n in units:\n    if n:\n        self.hidden.append(keras.layers.Dense(n))",
        "for n in units:\n    if not n:\n        break\n    self.hidden.append(Dense(n))",
        "for n in units:\n    self.hidden.append(keras.layers.Dropout(0.1))",
        "other = []\nother.append(keras.layers.Dense(4))",
        "self.other.append(keras.layers.Dense(4))",
        "def add():\n    self.hidden.append(keras.layers.Dense(4))",
        "self.hidden.append(keras.layers.Dense(4))\nself.hidden[-1].build((None, 3))",
        "self.hidden += [keras.layers.Dense(4)]\nfor layer in self.hidden:\n    layer.build((None, 3))",
    ],
)
@pytest.mark.parametrize(("source", "code"), [(NET, "KD464"), (LATE, "KD444"), (CELL, "KD466")])
def test_a_list_that_may_get_no_layer_without_weights_is_left_alone(source, code, grown):
    grown = grown.replace("(Dense", "(keras.layers.Dense")
    assert told(source.format("[]", indent(f"{grown}\n", " " * 8)), code) == 0


@pytest.mark.parametrize(("source", "code"), [(NET, "KD464"), (LATE, "KD444"), (CELL, "KD466")])
def test_a_single_layer_that_is_built_as_it_is_made_has_weights(source, code):
    built = "        self.hidden.build((None, 3))\n"
    assert told(source.format("keras.layers.Dense(4)", ""), code) == 1
    assert told(source.format("keras.layers.Dense(4)", built), code) == 0


def test_what_has_a_method_append_of_its_own_is_no_list():
    grown = "        self.hidden.append(keras.layers.Dense(4))\n"
    assert told(LATE.format("Tower()", grown), "KD444") == 0


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
