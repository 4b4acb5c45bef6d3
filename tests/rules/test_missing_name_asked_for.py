"""Gone classes that a file only asks for: what is written, and where nothing is."""

from textwrap import indent

import pytest

from kdoctor.engine import fix, scan

NAMES = ["KD101", "KD102", "KD104"]


def mended(source: str) -> str:
    result = fix(["-"], stdin=source.encode(), select=NAMES, unsafe=True)
    return result.files[0].after.decode() if result.files else source


def findings(source: str):
    return scan(["-"], stdin=source.encode(), select=NAMES).findings


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "from keras.layers.core import TFOpLambda\n\n\ndef f(x):\n"
            "    return isinstance(x, (str, TFOpLambda))\n",
            "def f(x):\n    return isinstance(x, str)\n",
            id="one class is left of a tuple",
        ),
        pytest.param(
            "from keras.layers.core import TFOpLambda, SlicingOpLambda as Sliced\n\n\ndef f(x):\n"
            "    return isinstance(\n        x,\n        (\n            str,\n            TFOpLambda,\n"
            "            int,\n            Sliced,\n        ),\n    )\n",
            "def f(x):\n    return isinstance(\n        x,\n        (\n            str,\n"
            "            int,\n        ),\n    )\n",
            id="two are left, and the layout with them",
        ),
        pytest.param(
            "import os\nfrom keras.layers.core import TFOpLambda\n\n\ndef f(x):\n"
            "    return isinstance(x, TFOpLambda) or issubclass(type(x), (str, TFOpLambda))\n",
            "import os\n\n\nTFOpLambda = ()  # Keras 3 has no `TFOpLambda`: nothing is an instance "
            "of it\n\n\ndef f(x):\n"
            "    return isinstance(x, TFOpLambda) or issubclass(type(x), (str, TFOpLambda))\n",
            id="asked for alone: the name is bound",
        ),
        pytest.param(
            "from keras.engine import base_layer, base_layer_v1\n\n\ndef f(x):\n"
            "    old = isinstance(x, base_layer_v1.Layer)  # eager?\n"
            "    return old or isinstance(x, base_layer.Layer)\n",
            "from keras import Layer\n\n\ndef f(x):\n"
            "    old = isinstance(x, ())  # eager?\n"
            "    return old or isinstance(x, Layer)\n",
            id="a class beside which there was the one of today",
        ),
        pytest.param(
            "from keras.engine import training_v1\n\n\ndef f(x):\n"
            "    return isinstance(x, (str, int, training_v1.Model))\n",
            "def f(x):\n    return isinstance(x, (str, int))\n",
            id="read off a module",
        ),
        pytest.param(
            "import tensorflow as tf\n\n\ndef f(x):\n"
            "    return isinstance(x, (tf.Tensor, tf.keras.experimental.SequenceFeatures))\n",
            "import tensorflow as tf\n\n\ndef f(x):\n    return isinstance(x, tf.Tensor)\n",
            id="read off the package",
        ),
        pytest.param(
            "def f(x):\n    from keras.layers.core import ClassMethod\n\n"
            "    return isinstance(x, ClassMethod)\n",
            "def f(x):\n    return isinstance(x, ())\n",
            id="imported in a function",
        ),
        pytest.param(
            "from keras.src.engine import base_layer_v1\n\n\ndef f(cls):\n"
            "    return issubclass(cls, base_layer_v1.Layer)\n",
            "def f(cls):\n    return issubclass(cls, ())\n",
            id="private in Keras 2.13 to 2.15",
        ),
        pytest.param(
            "from keras.backend import GraphExecutionFunction\n\n\ndef f(x):\n"
            "    return isinstance(x, (str, GraphExecutionFunction))\n",
            "def f(x):\n    return isinstance(x, str)\n",
            id="of the backend",
        ),
        pytest.param(
            "import keras\nisinstance(x, keras.engine.training.GeneratorEnqueuer)\n",
            "isinstance(x, ())\n",
            id="its module is gone as well",
        ),
        pytest.param(
            "from keras.layers.rnn.legacy_cells import LSTMCell\n\n\ndef f(x):\n"
            "    return isinstance(x, (str, LSTMCell))\n",
            "def f(x):\n    return isinstance(x, str)\n",
            id="a class of TensorFlow 1 that is called as one of today",
        ),
    ],
)
def test_what_is_written_for_a_class_that_nothing_can_be(before: str, after: str) -> None:
    assert mended(before) == after
    assert mended(after) == after


@pytest.mark.parametrize("asked", ["type(x) is {}", "x.__class__ == {}", "isinstance(x, {})"])
def test_each_question_is_answered_with_no(asked: str) -> None:
    question = asked.format("TFOpLambda")
    after = mended(
        f"from keras.layers.core import TFOpLambda\n\n\ndef f(x):\n    return {question}\n"
    )
    names: dict[str, object] = {}
    exec(after, names)  # noqa: S102 - it is what this file wrote
    assert names["f"](names) is False


def test_an_except_clause_still_catches_the_others() -> None:
    after = mended(
        "from keras.layers.core import ClassMethod\n\n\ndef f():\n    try:\n        return 1 / 0\n"
        "    except (ClassMethod, ZeroDivisionError):\n        return 3\n"
    )
    names: dict[str, object] = {}
    exec(after, names)  # noqa: S102 - it is what this file wrote
    assert names["f"]() == 3


HEAD = "from keras.layers.core import TFOpLambda\n"
ASKS = "def f(x):\n    return isinstance(x, TFOpLambda)\n"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(f"{HEAD}\n__all__ = ['TFOpLambda']\n\n\n{ASKS}", id="exported"),
        pytest.param(f"{HEAD}\nKNOWN = {{'op': TFOpLambda}}\n\n\n{ASKS}", id="kept in a table"),
        pytest.param(f"{HEAD}\n\nclass Mine(TFOpLambda):\n    pass\n\n\n{ASKS}", id="a base"),
        pytest.param(f"{HEAD}\n\ndef g(x: TFOpLambda):\n    pass\n\n\n{ASKS}", id="an annotation"),
        pytest.param(
            f"{HEAD}\n\ndef f(x):\n    match x:\n        case TFOpLambda():\n            return 1\n",
            id="a pattern, which takes no tuple",
        ),
        pytest.param(
            f"{HEAD}\n\ndef f(x):\n    return isinstance(x, str | TFOpLambda)\n", id="a union"
        ),
        pytest.param(
            "try:\n    from keras.layers.core.tf_op_layer import TFOpLambda\nexcept ImportError:\n"
            f"    from keras.layers.core import TFOpLambda\n\n\n{ASKS}",
            id="one import of two",
        ),
        pytest.param(
            "from keras.layers.core import TFOpLambda  # noqa: F401\n\n\n" + ASKS, id="kept"
        ),
        pytest.param(
            "from keras.engine.node import Node\n\n\ndef f(x):\n    return isinstance(x, Node)\n",
            id="Keras 3 has a Node of its own",
        ),
        pytest.param(
            "from keras.optimizers.optimizer_v2.optimizer_v2 import OptimizerV2\n\n\ndef f(x):\n"
            "    return isinstance(x, OptimizerV2)\n",
            id="all optimizers were one",
        ),
        pytest.param(
            "from keras.engine.base_layer import BaseRandomLayer\n\n\ndef f(x):\n"
            "    return isinstance(x, BaseRandomLayer)\n",
            id="Dropout was one",
        ),
        pytest.param(
            "import keras\n\n\nclass Mine(keras.layers.core.TFOpLambda):\n    pass\n\n\ndef f(x):\n"
            "    return isinstance(x, keras.layers.core.TFOpLambda)\n",
            id="a base, read off the package",
        ),
        pytest.param(
            "import keras\n\n\ndef f(x):\n    return type(x) is keras.layers.core.TFOpLambda\n",
            id="Python warns of `is ()`",
        ),
    ],
)
def test_a_class_that_is_used_otherwise_or_that_something_can_be_is_left(source: str) -> None:
    assert findings(source)
    # Nothing is asked in another way; the import stays, or stands in the function that needs it.
    above, _, below = source.partition("\n\n\n")
    moved = below.replace("def f(x):\n", f"def f(x):\n{indent(above, '    ')}\n")
    assert mended(source) in {source, moved}


def test_a_file_from_which_another_takes_the_name_is_left(tmp_path) -> None:
    (tmp_path / "compat.py").write_text(HEAD + "\n\n" + ASKS)
    (tmp_path / "main.py").write_text("from compat import TFOpLambda\n")
    result = fix([str(tmp_path)], select=NAMES, unsafe=True)
    assert not result.files


def test_a_cell_of_tensorflow_1_that_is_made_keeps_its_redirect() -> None:
    (found,) = findings("from keras.layers.rnn.legacy_cells import LSTMCell\n\nLSTMCell(3)\n")
    assert found.fix is not None
    assert "LSTMCell" in found.fix.title
    assert "nothing" not in found.fix.title


def test_the_reason_tells_what_becomes_of_the_branch() -> None:
    (found,) = findings(
        "from keras.engine.training_v1 import Model\n\n\ndef f(x):\n    return isinstance(x, Model)\n"
    )
    assert found.fix is not None
    assert found.fix.title == "Say that nothing is an instance of `training_v1.Model`"
    assert found.fix.unsafe_because.endswith("never runs")
