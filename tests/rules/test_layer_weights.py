"""The weights of a layer, by `weights=` on Keras 2 and by the initializers that take its place."""

import numpy as np
import pytest

from kdoctor.engine import fix, scan
from kdoctor.rules.arguments._weight_initializers import INITIALIZERS

IMAGE, SERIES = (2, 6, 6, 3), (2, 6, 3)
CASES = [
    ("Dense", "3", (2, 4)),
    ("Dense", "3, use_bias=False", (2, 4)),
    ("Conv1D", "4, 3", SERIES),
    ("Conv2D", "4, 3, padding='same'", IMAGE),
    ("Conv2D", "4, (3, 2), use_bias=False", IMAGE),
    ("Conv3D", "4, 2", (2, 4, 4, 4, 3)),
    ("Conv1DTranspose", "4, 3", SERIES),
    ("Conv2DTranspose", "4, 3, strides=2", IMAGE),
    ("Conv3DTranspose", "4, 2", (2, 4, 4, 4, 3)),
    ("SeparableConv1D", "4, 3", SERIES),
    ("SeparableConv2D", "4, 3, depth_multiplier=2", IMAGE),
    ("DepthwiseConv2D", "3", IMAGE),
    ("SimpleRNN", "4", SERIES),
    ("GRU", "4", SERIES),
    ("GRU", "4, reset_after=False, use_bias=False", SERIES),
    ("LSTM", "4", SERIES),
    ("LSTM", "4, unit_forget_bias=True, return_sequences=True", SERIES),
    ("BatchNormalization", "", IMAGE),
    ("BatchNormalization", "scale=False", IMAGE),
    ("BatchNormalization", "center=False, gamma_initializer='zeros'", IMAGE),
    ("LayerNormalization", "", IMAGE),
    ("PReLU", "", IMAGE),
]


def test_each_layer_of_the_table_is_tried():
    assert {name for name, _, _ in CASES} == set(INITIALIZERS)


@pytest.mark.frameworks
@pytest.mark.parametrize(("name", "arguments", "shape"), CASES, ids=str)
def test_the_fix_gives_the_weights_that_keras_2_gave(name, arguments, shape):
    import keras  # noqa: PLC0415
    import tf_keras  # noqa: PLC0415

    x = np.random.default_rng(1).normal(size=shape).astype("float32")
    plain = eval(f"tf_keras.layers.{name}({arguments})")  # noqa: S307
    plain.build(shape)
    drawn = np.random.default_rng(2)
    names = {f"w{i}": drawn.uniform(0.1, 1, e.shape) for i, e in enumerate(plain.get_weights())}
    comma = ", " if arguments else ""
    call = f"layers.{name}({arguments}{comma}weights=[{', '.join(names)}])"
    old = eval(f"tf_keras.{call}", {"tf_keras": tf_keras, **names})  # noqa: S307
    source = f"import keras\nlayer = keras.{call}\n"
    fixed = fix(["-"], stdin=source.encode(), unsafe=True).files[0].after.decode()
    scope = dict(names)
    exec(fixed, scope)  # noqa: S102

    y = np.asarray(old(x))
    np.testing.assert_allclose(scope["layer"](x), y, rtol=1e-4, atol=1e-5)
    for ours, theirs in zip(scope["layer"].get_weights(), old.get_weights(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert keras.layers.deserialize(keras.layers.serialize(scope["layer"]))


@pytest.mark.parametrize(
    "code",
    [
        "keras.layers.Dense(3, weights=[kernel])",  # Keras 2 would have refused it
        "keras.layers.Dense(3, weights=[kernel, bias], **more)",
        "keras.layers.Dense(3, use_bias=asked, weights=w)",
        "keras.layers.Dense(3, weights=[*w])",
        "keras.layers.Dense(3, weights=[kernel,  # from the paper\n bias])",
        "keras.layers.MultiHeadAttention(2, 2, weights=[kernel, bias])",
        "[keras.layers.Dense(3, weights=w.all())(x) for x in y]",
        "y = lambda x: keras.layers.Dense(3, weights=w.all())(x)",
        "z = 1; y = keras.layers.Dense(3, weights=w.all())(x)",
        "model = keras.Sequential()\nmodel.add(keras.layers.Dense(3, weights=w.all()))",
    ],
)
def test_what_cannot_be_told_is_left_alone(code):
    source = f"import keras\n\nx = keras.Input((4,))\n{code}\n"
    result = fix(["-"], stdin=source.encode(), select=["KD311"], unsafe=True)

    assert [each.code for each in result.left.findings] == ["KD311"]
    assert not result.files


def test_a_layer_of_the_tree_that_hands_weights_on_gets_them_when_it_is_built(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text(
        "import keras\n\n\nclass Scale(keras.layers.Layer):\n"
        "    def __init__(self, start, **kwargs):\n        super().__init__(**kwargs)\n\n\n"
        "class Own(keras.layers.Layer):\n    def __init__(self, **kwargs):\n"
        "        self.w = kwargs.pop('weights')\n        super().__init__(**kwargs)\n\n\n"
        "class Table(keras.layers.Embedding):\n    pass\n"
    )
    user = tmp_path / "use.py"
    head = (
        "import keras\nfrom mine import Own, Scale, Table\n\nmodel = keras.Sequential()\n"
        "Own(weights=w)\nTable(3, 4, weights=[w])\n"
    )
    user.write_text(
        f"{head}model.add(Scale(1, weights=[w], input_shape=(3,)))\ny = x(Scale(2, weights=w))\n"
    )
    result = fix([str(user), str(tmp_path / "mine")], select=["KD311"], unsafe=True)

    assert [each.symbol for each in result.left.findings] == ["mine.Scale(weights)"]
    (file,) = result.files
    assert file.after.decode() == (
        f"{head}model.add(Scale(1, input_shape=(3,)))\nmodel.layers[-1].set_weights([w])\n"
        "y = x(Scale(2, weights=w))\n"
    )


def test_a_layer_that_is_reached_through_its_package_is_one_of_the_tree(tmp_path):
    (tmp_path / "mine" / "parts").mkdir(parents=True)
    (tmp_path / "mine" / "__init__.py").write_text("from .parts import Scale\n")
    (tmp_path / "mine" / "parts" / "__init__.py").write_text(
        "import keras\n\n\nclass Scale(keras.layers.Layer):\n    pass\n"
    )
    user = tmp_path / "use.py"
    user.write_text(
        "import mine\nimport mine.parts as parts\n\n\nclass Own(mine.Scale):\n    pass\n\n\n"
        "class Keeping(mine.Scale):\n    def __init__(self, weights):\n"
        "        super().__init__()\n\n\n"
        "mine.Scale(weights=w)\nparts.Scale(weights=w)\nOwn(weights=w)\nKeeping(weights=w)\n"
        "mine.unknown.Scale(weights=w)\n"
    )
    result = scan([str(user)], select=["KD311"])
    assert [each.symbol for each in result.findings] == [
        "mine.Scale(weights)",
        "mine.parts.Scale(weights)",
        "Own(weights)",
    ]
