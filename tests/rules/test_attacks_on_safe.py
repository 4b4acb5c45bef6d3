"""Programs whose meaning a safe fix changed once: written to break it, one of a kind each."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix
from kdoctor.model import Applicability

from .before_and_after import HEAD, check_that_it_keeps_its_meaning, fixed

IMAGE = "K.constant(np.ones((1, 2, 3, 1)))"
SAFE = {
    "a size that is asked what it is": (
        "x = K.constant(np.ones((4, 3)))\nn = K.shape(x)[0]\n",
        "[int(n.numpy()), n.dtype.name]",
        [4, "int32"],
    ),
    "sizes that are unpacked": (
        "x = K.constant(np.ones((4, 3)))\na, b = K.shape(x)[0], K.shape(x)[1]\n",
        "[int(a) + 1, hasattr(b, 'numpy')]",
        [5, True],
    ),
    "a size that a layer keeps and asks what it is": (
        (
            "from keras.layers import Layer\n\n\nclass Sizes(Layer):\n"
            "    def call(self, x):\n        self.n = K.shape(x)[0]\n"
            "        return self.grown(x)\n\n"
            "    def grown(self, x):\n        self.kind = self.n.dtype.name\n        return x\n\n"
            "layer = Sizes()\nlayer(K.constant(np.ones((4, 3))))\n"
        ),
        "[layer.kind, int(layer.n)]",
        ["int32", 4],
    ),
    "sizes that are kept in attributes together, and asked from outside": (
        (
            "from keras.layers import Layer\n\n\nclass Sizes(Layer):\n"
            "    def call(self, x):\n"
            "        self.a, self.b = K.shape(x)[0], K.shape(x)[1]\n        return x\n\n"
            "sizes = Sizes()\nsizes(K.constant(np.ones((4, 3))))\n"
        ),
        "[int(sizes.a), sizes.b.dtype.name]",
        [4, "int32"],
    ),
    "a size that has a type written beside it": (
        "x = K.constant(np.ones((4, 3)))\nn: object = K.shape(x)[0]\nm = n\n",
        "[int(n), m.dtype.name]",
        [4, "int32"],
    ),
    "a size that a layer keeps and hands on": (
        (
            "from keras.layers import Layer\n\n\nclass Sizes(Layer):\n"
            "    def call(self, x):\n        n = K.shape(x)[0]\n        self.n = n\n"
            "        return x\n\n"
            "    def rows(self):\n        return self.n\n\n"
            "layer = Sizes()\nlayer(K.constant(np.ones((4, 3))))\nrows = layer.rows()\n"
        ),
        "[int(rows), hasattr(rows, 'numpy')]",
        [4, True],
    ),
    "sizes that are kept in a dict and a list": (
        (
            "x = K.constant(np.ones((4, 3)))\nsizes = {'rows': K.shape(x)[0]}\nall_sizes = []\n"
            "all_sizes.append(K.shape(x)[1])\nkinds = [each.dtype.name for each in all_sizes]\n"
        ),
        "[sizes['rows'].dtype.name, kinds]",
        ["int32", ["int32"]],
    ),
    "a size that is handed on": (
        (
            "def kind(size):\n    return size.dtype.name\n\n\nclass Rows:\n"
            "    def __init__(self, rows):\n        self.rows = rows\n\n"
            "    def told(self, size):\n        return hasattr(size, 'numpy')\n\n\n"
            "x = K.constant(np.ones((4, 3)))\nrows = Rows(rows=K.shape(x)[0])\n"
        ),
        "[kind(K.shape(x)[0]), int(rows.rows.numpy()), rows.told(K.shape(x)[1])]",
        ["int32", 4, True],
    ),
    "a size that is a number to whom it may be one": (
        "x = K.constant(np.ones((4, 3)))\nn = K.shape(x)[1]\ny = K.reshape(x, (n, -1))\n",
        "[int(n) // 2, list(K.int_shape(y))]",
        [1, [3, 4]],
    ),
    "one axis more, in a file that sets the type of floats": (
        (
            "K.set_floatx('float64')\ny = K.one_hot(np.array([1]), 2)\n"
            "name = y.dtype.name\nK.set_floatx('float32')\n"
        ),
        "name",
        "float32",
    ),
    "a factor that may be a float": (
        "def up(x, size):\n    return K.resize_images(x, size, size, 'channels_last')\n",
        f"[list(K.int_shape(up({IMAGE}, each))) for each in (2, 2.0, 2.5)]",
        [[1, 4, 6, 1]] * 3,
    ),
    "a factor that has a default": (
        "def up(x, size=2):\n    return K.resize_images(x, size, 1, 'channels_last')\n",
        f"[list(K.int_shape(each)) for each in (up({IMAGE}), up({IMAGE}, 3.9))]",
        [[1, 4, 3, 1], [1, 6, 3, 1]],
    ),
    "a factor that is kept in an object": (
        (
            "class Up:\n    def __init__(self, size):\n        self.size = size\n\n"
            "    def grow(self, x):\n"
            "        return K.resize_images(x, 1, self.size, data_format='channels_last')\n"
        ),
        f"list(K.int_shape(Up(2.5).grow({IMAGE})))",
        [1, 2, 6, 1],
    ),
}


@pytest.mark.frameworks
@pytest.mark.parametrize("name", SAFE)
def test_a_safe_fix_leaves_a_program_its_meaning(name):
    check_that_it_keeps_its_meaning(*SAFE[name])


@pytest.mark.parametrize("function", ["sum", "prod"])
def test_integers_that_overflow_on_keras_2_are_not_added_up_by_a_safe_fix(function):
    use = f"K.{function}(x)"
    narrow = f"{HEAD}x = np.array([200, 100], 'uint8')\ny = {use}\n"
    assert use in fixed(narrow, "KD101")
    assert use in fixed(narrow.replace("'uint8'", "dtype=np.int8"), "KD101")
    assert use not in fixed(narrow.replace("uint8", "uint32"), "KD101")
    of_floats = f"{HEAD}mask = np.zeros(2, 'uint8')\nx = K.exp(mask * 1.0)\ny = {use}\n"
    assert use not in fixed(of_floats, "KD101")
    in_a_loss = f"{HEAD}{LOSS.format(use)}"
    assert use not in fixed(in_a_loss, "KD101")


@pytest.mark.parametrize(
    ("cast", "made"), [("", "keras.Input((2,), dtype='uint8')"), ("x = K.cast(x, 'int16')", "1")]
)
def test_a_model_of_integers_that_overflow_is_not_added_up_by_a_safe_fix(cast, made):
    source = (
        f"import keras\n{HEAD}\n\nclass Count(keras.layers.Layer):\n"
        f"    def call(self, x):\n        {cast}\n        return K.sum(x)\n\n\nx = {made}\n"
    )
    assert "K.sum(x)" in fixed(source, "KD101")
    wide = source.replace("uint8", "uint32").replace("int16", "int64")
    assert "K.sum(x)" not in fixed(f"{wide}pixels = np.zeros(3, 'uint8')\n", "KD101")


LOSS = """
import keras

labels = np.zeros(3, 'uint8')


class Mine(keras.losses.Loss):
    def call(self, y_true, y_pred):
        x = y_pred - y_true
        return {}
"""


def test_a_mean_that_may_be_of_bools_has_the_type_of_floats_that_the_file_sets():
    source = f"{HEAD}y = K.mean(K.exp(x))\n"
    assert "K.mean" not in fixed(source, "KD101")
    assert "K.mean" in fixed(source.replace("y =", "K.set_floatx('float64')\ny ="), "KD101")


@pytest.mark.parametrize(
    ("other", "written"),
    [
        ("K.set_floatx('float64')", 'ops.one_hot(y, 2, dtype="float32")'),
        ("os.environ['KERAS_FLOATX'] = 'float16'", 'ops.one_hot(y, 2, dtype="float32")'),
        ("floatx = K.floatx()", "ops.one_hot(y, 2)"),
    ],
)
def test_one_axis_more_is_of_one_type_where_another_file_sets_floats(tmp_path, other, written):
    code = "from keras import backend as K\n\n\ndef labels(y):\n    return K.one_hot(y, 2)\n"
    (tmp_path / "code.py").write_text(code)
    (tmp_path / "main.py").write_text(f"import os\nfrom keras import backend as K\n{other}\n")
    assert written in fix([tmp_path / "code.py"], select=["KD101"]).files[0].after.decode()


@pytest.mark.parametrize(
    ("others", "written"),
    [
        (
            {"main.py": "from code import mixed\nx = Input(batch_shape=(4, 4), sparse=True)\n"},
            "K.dot",
        ),
        (
            {
                "main.py": "import scipy.sparse as sp\nimport between\n",
                "between.py": "import code\n",
            },
            "K.dot",
        ),
        ({"main.py": "from code import mixed\nx = Input((4,))\n"}, "ops.dot"),
        ({"main.py": "x = Input(batch_shape=(4, 4), sparse=True)\n"}, "ops.dot"),
    ],
)
def test_what_another_file_may_hand_sparse_tensors_to_is_not_safe_for_them(
    tmp_path, others, written
):
    code = (
        "from keras import backend as K\n\n\ndef mixed(a):\n    return K.dot(a, K.ones((4, 2)))\n"
    )
    for path, text in {"code.py": code, **others}.items():
        (tmp_path / path).write_text(text)
    assert f"{written}(a" in fix([tmp_path / "code.py"]).files[0].after.decode()


DECAY = """
import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(lr=0.1, decay=0.5), 'mse')
model.fit(x, y, callbacks=[{}])
"""


def test_no_optimizer_is_made_without_the_decay_that_stopped_it():
    """Refused for its `lr`, it is not made: with the rate alone renamed, it would not decay."""
    setter = DECAY.format("keras.callbacks.LearningRateScheduler(lambda epoch: 0.1)")
    assert "SGD(lr=0.1, decay=0.5)" in fixed(setter, "KD303", "KD401")
    plain = fixed(DECAY.format("keras.callbacks.TerminateOnNaN()"), "KD303", "KD401")
    assert "learning_rate=" in plain
    assert "InverseTimeDecay(0.1, 1, 0.5)" in plain
    assert "learning_rate=0.1" in fixed(setter.replace("0.5", "0"), "KD303", "KD401")


BATCHES = """
import keras


def batches():
    while True:
        yield [np.ones((2, 2)), np.zeros((2, 2))], np.ones((2, 1))


feed = batches()
{}
model = keras.models.load_model("m.keras")
model.fit(feed, steps_per_epoch=2)
"""
DATA = """
import keras


class Data(keras.utils.Sequence):
    def __getitem__(self, index):
        return [np.ones((2, 2)), np.zeros((2, 2))], np.ones((2, 1))


data = Data()
{}
"""


@pytest.mark.parametrize(
    "taken",
    ["x, y = next(feed)", "first = [x[0] for x, y in batches()]", "feed.__next__()[0].append(1)",
     "for x, y in feed:\n    x[0] *= 2\n    break"],
)  # fmt: skip
def test_batches_that_the_file_takes_itself_stay_lists(taken):
    assert "yield (np" in fixed(HEAD + BATCHES.format(""), "KD409")
    assert "yield [np" in fixed(HEAD + BATCHES.format(taken), "KD409")


@pytest.mark.parametrize(
    "taken", ["x, y = data[0]", "x = [x for x, y in data]", "next(iter(data))"]
)
def test_batches_of_a_sequence_that_the_file_takes_itself_stay_lists(taken):
    assert "return (np" in fixed(HEAD + DATA.format(""), "KD409")
    assert "return [np" in fixed(HEAD + DATA.format(taken), "KD409")


@pytest.mark.parametrize(
    ("used", "is_safe"),
    [
        ("y = Mine(3)(keras.Input((5, 2)))", True),
        ("model = keras.Model(inputs=[], outputs=[])", True),
        ("y = Mine(3)(inputs=keras.Input((5, 2)))", False),
        (
            ("class More(Mine):\n    def call(self, x):\n        return super().call(inputs=x)"),
            False,
        ),
    ],
)
def test_a_parameter_that_is_passed_by_name_is_not_renamed_by_a_safe_fix(tmp_path, used, is_safe):
    (tmp_path / "code.py").write_text(
        "import keras\n\n\nclass Mine(keras.layers.LSTM):\n    def call(self, inputs):\n"
        f"        return super().call(inputs)\n\n\n{used}\n"
    )
    first, *_ = fix([tmp_path / "code.py"], select=["KD226"]).found.findings
    assert (first.fix.applicability is Applicability.SAFE) is is_safe
