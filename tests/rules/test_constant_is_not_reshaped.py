"""The shapes of weights that KD485 knows, held against both releases; constants as people write them."""

import numpy as np
import pytest

from kdoctor.engine import fix, scan
from kdoctor.rules.behaviour._weight_shapes import SHAPES

IMAGE, SERIES, CELL = (2, 6, 6, 3), (2, 6, 3), (2, 3)
LAYERS = [
    ("Dense", "4", CELL),
    ("Embedding", "5, 4", CELL),
    ("Conv1D", "4, 3", SERIES),
    ("Conv2D", "4, (3, 2)", IMAGE),
    ("Conv3D", "4, 2", (2, 4, 4, 4, 3)),
    ("Conv1DTranspose", "4, 3", SERIES),
    ("Conv2DTranspose", "4, kernel_size=(3, 2)", IMAGE),
    ("Conv3DTranspose", "4, 2", (2, 4, 4, 4, 3)),
    ("DepthwiseConv1D", "3", SERIES),
    ("DepthwiseConv2D", "(3, 2), depth_multiplier=2", IMAGE),
    ("SeparableConv1D", "4, 3", SERIES),
    ("SeparableConv2D", "4, (3, 2), depth_multiplier=2", IMAGE),
    ("SimpleRNN", "4", SERIES),
    ("SimpleRNNCell", "4", CELL),
    ("GRU", "4", SERIES),
    ("GRUCell", "4", CELL),
    ("LSTM", "units=4", SERIES),
    ("LSTMCell", "4", CELL),
    ("BatchNormalization", "", IMAGE),
    ("LayerNormalization", "axis=1", SERIES),
]
CASES = [(name, *rest, keyword) for name, *rest in LAYERS for keyword in SHAPES[name]]


def codes(source):
    return [each.code for each in scan(["-"], stdin=source.encode()).findings]


def test_each_layer_of_the_table_is_tried():
    assert {name for name, _, _ in LAYERS} == set(SHAPES)


@pytest.mark.frameworks
@pytest.mark.parametrize(("name", "arguments", "inputs", "keyword"), CASES, ids=str)
def test_an_array_of_the_weight_s_shape_is_fine_and_a_flat_one_is_fixed(
    name, arguments, inputs, keyword
):
    import keras  # noqa: PLC0415
    import tf_keras  # noqa: PLC0415

    shapes = []
    for api in (keras, tf_keras):
        asked = []

        def record(shape, asked=asked, **_):
            asked.append(tuple(shape))
            return np.ones(shape)

        layer = eval(  # noqa: S307
            f"api.layers.{name}({arguments}{', ' if arguments else ''}{keyword}=record)",
            {"api": api, "record": record},
        )
        layer.build(inputs)
        shapes += asked
    (shape,) = set(shapes)
    made = (
        "import keras\nimport numpy as np\n"
        f"layer = keras.layers.{name}({arguments}{', ' if arguments else ''}"
        f"{keyword}=keras.initializers.Constant(%s))\n"
    )
    flat = made % f"np.arange({np.prod(shape)})"

    assert "KD485" not in codes(made % f"np.ones({shape})")
    # With one axis more it never fits, and a flat one does not where the file tells the last axis.
    assert "KD485" in codes(made % f"np.ones({(1, *shape)})")
    if len(shape) == 1 or "KD485" not in codes(flat):
        assert len(shape) == 1 or name.startswith(("Conv", "Depthwise"))
        return
    fixed = fix(["-"], stdin=flat.encode(), unsafe=True).files[0].after.decode()
    scope = {}
    exec(fixed, scope)  # noqa: S102
    scope["layer"].build(inputs)
    assert shape in [np.shape(each) for each in scope["layer"].get_weights()]


GIVEN = "import keras\nimport numpy as np\nimport tensorflow as tf\nfrom keras.layers import *\n"
REPORTED = {
    "a tuple": "Dense(1, kernel_initializer=keras.initializers.Constant(value=(1.0, 2.0)))",
    "a row": "Dense(units=1, kernel_initializer=keras.initializers.constant([[1.0, 2.0]]))",
    "a tensor": "Dense(1, kernel_initializer=tf.keras.initializers.Constant(tf.constant([1., 2.])))",
    "a parameter": """
def net(weights):
    return Dense(1, kernel_initializer=keras.initializers.Constant(weights))

net(np.array([1.0, 2.0]))
""",
    "an attribute": """
class Block(Layer):
    def __init__(self):
        super().__init__()
        self.start = keras.initializers.Constant([1.0, 2.0])
        self.dense = Dense(1, kernel_initializer=self.start)
""",
    "what a function makes": """
def start():
    return keras.initializers.Constant([1.0, 2.0])

Dense(1, kernel_initializer=start())
""",
    "by position": """
class Scale(Layer):
    def build(self, shape):
        constant = keras.initializers.Constant([1.0, 2.0])
        self.w = self.add_weight("w", (2, 1), initializer=constant)
""",
    "a vector from the inputs": """
class Scale(Layer):
    def build(self, shape):
        constant = keras.initializers.Constant(np.ones((1, 4)))
        self.w = self.add_weight(name="w", shape=(shape[-1],), initializer=constant)
""",
    "the call of a name": "start = keras.initializers.Constant([1.0, 2.0])\nw = start((2, 1))",
}
SILENT = {
    "a column": "Dense(1, kernel_initializer=keras.initializers.Constant([[1.0], [2.0]]))",
    "one element": "Dense(1, kernel_initializer=keras.initializers.Constant([1.0]))",
    "a bias": "Dense(1, bias_initializer=keras.initializers.Constant([1.0]))",
    "a number": "Dense(1, kernel_initializer=tf.keras.initializers.Constant(0.1 * 2))",
    "unknown units": "Dense(n, kernel_initializer=keras.initializers.Constant([1.0, 2.0]))",
    "a file": "Dense(1, kernel_initializer=keras.initializers.Constant(np.load('w.npy')))",
    "a parameter": """
def net(weights):
    return Dense(1, kernel_initializer=keras.initializers.Constant(weights))
""",
    "several axes": """
start = keras.initializers.Constant(np.ones((4, 4)))
BatchNormalization(axis=[1, 2], gamma_initializer=start)
""",
    "a list that grows": """
values = []
for each in range(3):
    values.append(each)
Dense(1, kernel_initializer=keras.initializers.Constant(values))
""",
    "one's own initializer": """
class Mine(keras.initializers.Constant):
    def __call__(self, shape, dtype=None):
        return np.reshape(self.value, shape)

Dense(1, kernel_initializer=Mine([1.0, 2.0]))
""",
}


@pytest.mark.parametrize("code", REPORTED.values(), ids=REPORTED)
def test_it_is_found_however_it_is_written(code):
    assert "KD485" in codes(GIVEN + code)


@pytest.mark.parametrize("code", SILENT.values(), ids=SILENT)
def test_what_fits_or_is_not_known_is_left_alone(code):
    assert "KD485" not in codes(GIVEN + code)


def test_a_constant_of_several_weights_is_not_reshaped_for_one_of_them():
    code = (
        "start = keras.initializers.Constant([1.0, 2.0])\n"
        "Dense(1, kernel_initializer=start)\nmine(start)\n"
    )

    (finding,) = scan(["-"], stdin=(GIVEN + code).encode()).findings
    assert finding.no_fix_because == "the initializer may also be used for other weights"
