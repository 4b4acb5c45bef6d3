"""Safe fixes that changed what other files of the project, or subclasses, get from a file."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix
from kdoctor.model import Applicability, Fix

KEPT = """
import keras


class Kept(keras.callbacks.Callback):
    def __init__(self, model):
        super().__init__()
        self.model = model
"""
OWN = """
from net import Kept


class Own(Kept):
    def set_model(self, model):
        self.names = model.names
"""
IMAGES = """
import keras
import numpy as np


def images():
    while True:
        yield np.ones((2, 3))


def run():
    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
    model.compile('sgd', 'mse')
    return model.predict(images(), steps=2, verbose=0)
"""
SEEN = """
import keras


class Seen(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, log):
        self.last = sorted(log)
"""
SLOWER = """
import keras
import tensorflow as tf


def slower(epoch, lr):
    return lr * tf.math.exp(-0.1)


scheduler = keras.callbacks.LearningRateScheduler(slower)
"""
DOUBLE = """
import keras


class Double(keras.layers.Layer):
    def call(self, x):
        return 2 * x

    def compute_output_shape(self, input_shape):
        return [(input_shape[0], 4)]
"""
WIDE = """

class Wide(Double):
    def compute_output_shape(self, input_shape):
        return super().compute_output_shape(input_shape)[0]
"""
BASE = """
import keras

x, z = keras.layers.Input((4,)), keras.layers.Input((4,))
y = keras.layers.Dense(4)(x)
base = keras.Model(x, [y])
out = keras.layers.Dense(2)(base(z))
"""
DECAY = """
import keras
import numpy as np

model = keras.Sequential([keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(learning_rate=0.1, decay=0.5), 'mse')
model.fit(np.ones((4, 2)), np.ones((4, 1)))
"""
BATCHES = """
import keras
import numpy as np


class Batches(keras.utils.Sequence):
    def __init__(self):
        super().__init__()

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return [np.ones((2, 3)), np.ones((2, 3))], np.ones((2, 1))
"""
HALF = """

class Half(Batches):
    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        x[0] = x[0] / 2
        return x, y
"""
MEASURED = """
import keras
import numpy as np
from keras import backend as K


def near(y_true, y_pred):
    return K.mean(y_true * y_pred)


model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
model.compile('sgd', 'mse', metrics=[near])
model.fit(np.ones((4, 3)), np.ones(4), verbose=0)
"""


@pytest.mark.parametrize(
    ("code", "source", "own", "other"),
    [
        ("KD214", KEPT, "", OWN),
        ("KD455", IMAGES, "", "from net import images\nfor x in images():\n    print(x.shape)\n"),
        ("KD460", SEEN, "", "import net\nnet.Seen().on_train_batch_end(1, log={})\n"),
        ("KD468", SLOWER, "", "from net import slower\nprint(slower(1, 0.1).numpy())\n"),
        ("KD468", SLOWER, "print(slower(1, 0.1).numpy())\n", ""),
        ("KD456", DOUBLE, WIDE, ""),
        ("KD456", DOUBLE, "", f"from net import Double\n{WIDE}"),
        ("KD450", BASE, "", "from net import base\nfirst = base([[1.0] * 4])[0]\n"),
        ("KD401", DECAY, "", "from net import model\nmodel.optimizer.learning_rate.assign(1.0)\n"),
        ("KD457", MEASURED, "", "from net import near\nprint(near([[1.0]], [[1.0, 2.0]]))\n"),
        ("KD409", BATCHES, HALF, ""),
        ("KD409", BATCHES, "", f"from net import Batches\n{HALF}"),
    ],
)
def test_a_fix_is_not_safe_that_others_may_notice(tmp_path, code, source, own, other):
    (tmp_path / ".git").mkdir()
    (tmp_path / "net.py").write_text(source)
    (tmp_path / "use.py").write_text("import keras\n")

    def applicabilities():
        result = fix([tmp_path / "net.py"], select=[code])
        return {each.fix.applicability for each in result.found.findings}

    assert applicabilities() == {Applicability.SAFE}
    (tmp_path / "net.py").write_text(f"{source}{own}")
    (tmp_path / "use.py").write_text(other)
    assert applicabilities() == {Applicability.UNSAFE}


def test_a_constant_that_another_file_imports_keeps_its_shape(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "net.py").write_text(
        "import keras\n"
        "START = keras.initializers.Constant([1.0, 2.0])\n"
        "layer = keras.layers.Dense(1, kernel_initializer=START)\n"
        "model = keras.Sequential([keras.layers.Input((2,)), layer])\n"
    )
    (tmp_path / "use.py").write_text("import keras\n")

    def has_fix():
        return [
            isinstance(each.fix, Fix)
            for each in fix([tmp_path / "net.py"], select=["KD485"]).found.findings
        ]

    assert has_fix() == [True]
    (tmp_path / "use.py").write_text("from net import START\nprint(START((1, 2)))\n")
    assert has_fix() == [False]
