"""``--namespace``: the imports of a project moved from one root of Keras to the other."""

import pytest

from kdoctor.engine import fix, scan

TF = """\
import tensorflow as tf
from tensorflow import keras, nn  # both
from tensorflow.keras import layers as L, models
from tensorflow.keras.layers import (
    Conv2D,  # convolution
    Dense,
)
import tensorflow.keras.utils as ku


class Wave(tf.keras.layers.Layer):
    def call(self, x: tf.Tensor) -> tf.Tensor:
        return tf.nn.relu(x) + nn.relu(x)


def build():
    from tensorflow.keras.optimizers import Adam

    ku.set_random_seed(1)
    keras.Sequential([Conv2D(1, 2), Dense(2), L.Dense(3)]).compile(Adam())
    return models.Model
"""
KERAS = """\
import keras
import tensorflow as tf
from tensorflow import nn  # both
from keras import layers as L, models
from keras.layers import (
    Conv2D,  # convolution
    Dense,
)
import keras.utils as ku


class Wave(keras.layers.Layer):
    def call(self, x: tf.Tensor) -> tf.Tensor:
        return tf.nn.relu(x) + nn.relu(x)


def build():
    from keras.optimizers import Adam

    ku.set_random_seed(1)
    keras.Sequential([Conv2D(1, 2), Dense(2), L.Dense(3)]).compile(Adam())
    return models.Model
"""


def moved(source, namespace, **options):
    result = fix(["-"], stdin=source.encode(), namespace=namespace, **options)
    return result.files[0].after.decode() if result.files else source


def reasons(source, namespace="keras"):
    found = scan(["-"], stdin=source.encode(), namespace=namespace, select=["KD710"]).findings
    return [each.no_fix_because for each in found]


def test_every_way_to_import_moves_and_comments_stay():
    assert moved(TF, "keras") == KERAS
    assert moved(KERAS, "keras") == KERAS


def test_it_goes_back_as_well():
    there = moved(KERAS, "tf.keras")
    assert "from tensorflow import keras\n" in there
    assert moved(there, "tf.keras") == there
    assert moved(there, "keras") == KERAS


def test_without_the_option_nothing_is_said():
    assert not scan(["-"], stdin=TF.encode(), select=["KD710"]).findings


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("from tensorflow.keras import backend as K\nK.sum(1)\n", "`keras.backend.sum` does not exist"),
        ("from tensorflow.keras.backend import sum\nsum(1)\n", "`keras.backend.sum` does not exist"),
        ("from tensorflow.keras.layers import AlphaDropout\nAlphaDropout(1)\n", "`keras.layers.AlphaDropout` is a different object"),
        ("from tensorflow import keras\nprint(keras)\n", "the module object itself is passed on"),
        ("from tensorflow.keras.layers import *\n", "a star import does not say which names"),
        ("keras = 1\nimport tensorflow as tf\ntf.keras.Model()\n", "`keras` means something else"),
        (
            "try:\n    from tensorflow import keras\nexcept ImportError:\n    import keras\nkeras.Model()\n",
            "one of several ways",
        ),
        ("from tensorflow.keras.nowhere import x\n", "`keras.nowhere` does not exist"),
    ],
)  # fmt: skip
def test_what_is_not_one_object_stays_and_says_why(source, reason):
    (found,) = reasons(source)
    assert reason in found
    assert moved(source, "keras", unsafe=True, select=["KD710"]) == source


def test_what_stays_does_not_keep_the_others():
    source = "from tensorflow.keras import backend as K, layers\n\nlayers.Dense(K.sum(1))\n"
    assert moved(source, "keras", select=["KD710"]) == (
        "from keras import layers\nfrom tensorflow.keras import backend as K\n\n"
        "layers.Dense(K.sum(1))\n"
    )


def test_a_module_that_others_may_read_moves_only_unsafely():
    source = "from tensorflow import keras\n"
    assert moved(source, "keras") == source
    assert moved(source, "keras", unsafe=True) == "import keras\n"


def test_on_keras_2_nothing_moves():
    source = "from tensorflow.keras.layers import Dense\n\nDense(1)\n"
    assert moved(source, "keras", target="keras==2.15") == source
    assert moved(source, "keras", target="tensorflow==2.21") != source


def test_it_goes_in_one_run_with_the_other_fixes():
    source = (
        "import tensorflow as tf\nfrom keras.layers.core import Dense\n\n"
        "tf.keras.Sequential([Dense(1)])\n"
    )
    assert moved(source, "keras") == (
        "import keras\nfrom keras.layers import Dense\n\nkeras.Sequential([Dense(1)])\n"
    )
    assert moved(source, "tf.keras") == (
        "import tensorflow as tf\nfrom tensorflow.keras.layers import Dense\n\n"
        "tf.keras.Sequential([Dense(1)])\n"
    )


def test_it_moves_the_imports_of_a_notebook_and_of_a_readme():
    text = "# T\n\n```python\nimport tensorflow as tf\ntf.keras.Model()\n```\n"
    assert moved(text, "keras", kind="markdown") == text.replace(
        "import tensorflow as tf\ntf.keras", "import keras\nkeras"
    )
