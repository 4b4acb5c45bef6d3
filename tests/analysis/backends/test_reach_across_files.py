"""Which functions Keras runs by way of other files of the project."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan
from kdoctor.model import Applicability

HEAD = "import keras\nimport tensorflow as tf\n"
MATHS = "import tensorflow as tf\n\n\ndef smooth(x):\n    return tf.abs(x)\n"
LAYER = "class A(keras.layers.Layer):\n    def call(self, x):\n        return "


@pytest.fixture
def found(tmp_path):
    """Return the findings of one file of a project: with a safe fix, or without."""

    def ask(files: dict[str, str], path: str = "maths.py", *, named: bool = False) -> list[bool]:
        package = tmp_path / "mine"
        package.mkdir()
        for name, text in ({"__init__.py": ""} | files).items():
            (package / name).parent.mkdir(exist_ok=True)
            (package / name).write_text(text)
        paths = [package] if named else [package / path]
        result = scan(paths, select=["KD8"], backend="all", isolated=True, jobs=1)
        assert not result.unreadable
        return [
            each.fix is not None and each.fix.applicability is Applicability.SAFE
            for each in result.findings
            if each.place.path.endswith(path)
        ]

    return ask


@pytest.mark.parametrize(
    "use",
    [
        f"from mine.maths import smooth\n{LAYER}smooth(x)\n",
        f"from mine.maths import smooth as s\n{LAYER}s(x)\n",
        f"from .maths import smooth\n{LAYER}smooth(x)\n",
        f"from .maths import *\n{LAYER}smooth(x)\n",
        f"from . import maths\n{LAYER}maths.smooth(x)\n",
        f"import mine.maths as m\n{LAYER}m.smooth(x)\n",
        f"import mine.maths\n{LAYER}mine.maths.smooth(x)\n",
        f"from . import maths\ndef f(x):\n    return maths.smooth(x)\n{LAYER}f(x)\n",
        "from .maths import smooth\nlayer = keras.layers.Lambda(smooth)\n",
        "from . import maths\nlayer = keras.layers.Dense(3, activation=maths.smooth)\n",
        "from . import maths\nACTS = {'smooth': maths.smooth}\n" + LAYER + "ACTS[self.act](x)\n",
        "from . import maths\nclass A(keras.layers.Layer):\n    def __init__(self):\n        self.act = maths.smooth\n    def call(self, x):\n        return self.act(x)\n",
        "from . import maths\ndef f(model):\n    model.compile('sgd', loss=maths.smooth)\n",
        "from . import maths\nclass A(keras.Model):\n    def compute_loss(self, x, y, y_pred, **_):\n        return maths.smooth(y - y_pred)\n",
    ],
)  # fmt: skip
def test_a_function_that_another_file_gives_to_keras_is_told_of(found, use):
    assert found({"maths.py": MATHS, "layers.py": HEAD + use}) == [True]


def test_a_function_is_found_through_two_files(found):
    blocks = "from .maths import smooth\n\n\ndef block(x):\n    return smooth(x) + 1\n"
    layer = f"{HEAD}from .blocks import block\n{LAYER}block(x)\n"
    assert found({"maths.py": MATHS, "blocks.py": blocks, "layers.py": layer}) == [True]


def test_a_function_is_found_through_what_a_package_hands_on(found):
    files = {
        "ops/__init__.py": "from .maths import smooth\n",
        "ops/maths.py": MATHS,
        "layers.py": f"{HEAD}from .ops import smooth\n{LAYER}smooth(x)\n",
    }
    assert found(files, "ops/maths.py") == [True]


def test_which_files_are_named_changes_nothing(found):
    files = {"maths.py": MATHS, "layers.py": f"{HEAD}from .maths import smooth\n{LAYER}smooth(x)\n"}
    assert found(files, named=True) == [True]


CALLED = f"{HEAD}from .maths import smooth\n{LAYER}smooth(x)\n"


@pytest.mark.parametrize(
    "other",
    [
        # A pipeline has it, too: it stays TensorFlow's.
        "import tensorflow as tf\nfrom .maths import smooth\ndef load(data):\n    return data.map(smooth)\n",
        "from .maths import smooth\ndef load(data):\n    return data.map(lambda x: smooth(x))\n",
        "from .maths import smooth\ndef scale(x):\n    return smooth(x)\ndef load(data):\n    return data.map(scale)\n",
        # Who knows what is done with it?
        "from .maths import smooth\nregister(smooth)\n",
    ],
)  # fmt: skip
def test_what_a_third_file_does_with_it_can_keep_it_on_tensorflow(found, other):
    assert found({"maths.py": MATHS, "layers.py": CALLED, "data.py": other}) == []


@pytest.mark.parametrize(
    ("other", "is_safe"),
    [
        ("from .maths import smooth\nprint(smooth(1))\n", True),
        ("from .maths import smooth\ndef report(x):\n    return smooth(x)\n", False),
        ("from . import maths\nname = 'smooth'\nprint(getattr(maths, 'smooth'))\n", False),
        ("def smooth(x):\n    return x\ndata.map(smooth)\n", True),
        ("from other import smooth\ndata.map(smooth)\n", True),
        ("from .maths import smooth\ndef f(smooth, data):\n    data.map(smooth)\n", False),
        ("import keras\nfrom .maths import smooth\nif keras.backend.backend() == 'jax':\n    f(smooth)\n", True),
    ],
)  # fmt: skip
def test_a_call_of_which_nobody_knows_makes_the_fix_unsafe(found, other, is_safe):
    assert found({"maths.py": MATHS, "layers.py": CALLED, "more.py": other}) == [is_safe]


def test_tests_do_not_count(found):
    test = "from mine.maths import smooth\ndef test_it():\n    assert smooth(-1) == 1\n"
    assert found({"maths.py": MATHS, "layers.py": CALLED, "tests/test_it.py": test}) == [True]


@pytest.mark.parametrize(
    "use",
    [
        "from .maths import smooth\n",
        "from .maths import smooth\ndef f(x):\n    return smooth(x)\n",
        "from .maths import smooth\nprint(smooth(1))\n",
        "from .maths import smooth\nclass A:\n    def call(self, x):\n        return smooth(x)\n",
        "from .maths import smooth\nclass A(keras.Model):\n    def train_step(self, data):\n        return {'loss': smooth(data)}\n",
        "from . import maths\n" + LAYER + "self.maths.smooth(x)\n",
    ],
)  # fmt: skip
def test_nothing_is_told_of_what_keras_is_not_known_to_run(found, use):
    assert found({"maths.py": MATHS, "layers.py": HEAD + use}) == []


AUGMENT = f"{HEAD}{LAYER}tf.abs(x)\n"
LOSS = (
    "import tensorflow as tf\n\n\ndef focal(y_true, y_pred):\n    return tf.abs(y_true - y_pred)\n"
)


@pytest.mark.parametrize(
    ("defined", "other"),
    [
        (AUGMENT, "from .maths import A\naugment = A()\ndata = data.map(lambda x: augment(x))\n"),
        (AUGMENT, "from . import maths\nlayer = maths.A()\ndata = data.map(layer)\n"),
        (LOSS, "from .maths import focal\ndata.map(lambda x, y: focal(x, y))\n"),
    ],
)
def test_a_layer_or_a_loss_that_another_file_has_in_a_pipeline_stays(found, defined, other):
    assert found({"maths.py": defined, "data.py": other}) == []


@pytest.mark.parametrize("defined", [AUGMENT, LOSS])
def test_a_layer_or_a_loss_in_no_pipeline_is_told_of(found, defined):
    other = "from .maths import *\ndata.map(lambda x: x)\n"
    assert found({"maths.py": defined, "data.py": other}) == [True]
