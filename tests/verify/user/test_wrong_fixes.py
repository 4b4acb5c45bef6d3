"""Right fixes are equal and wrong ones are not, for each kind of definition.

Each case is a definition before its fix, after it, and the replacement that makes the fix wrong. A
wrong one must never be called equal.
"""

import sys

import pytest

from kdoctor.interpreters import Interpreter
from kdoctor.verify.user.definitions import Source
from kdoctor.verify.user.results import VerdictState
from kdoctor.verify.user.running import Limits
from kdoctor.verify.user.verifying import verify

RATE = """
from keras import backend as K
from keras.callbacks import Callback

class Halving(Callback):
    def on_epoch_begin(self, epoch, logs=None):
        rate = float(K.get_value(self.model.optimizer.lr))
        K.set_value(self.model.optimizer.lr, rate * 0.5)
"""
RATE_FIXED = """
from keras import ops
from keras.callbacks import Callback

class Halving(Callback):
    def on_epoch_begin(self, epoch, logs=None):
        rate = float(ops.convert_to_numpy(self.model.optimizer.learning_rate))
        self.model.optimizer.learning_rate = rate * 0.5
"""
PRINTS = """
from keras import backend as K
from keras.callbacks import Callback

class Telling(Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("rate", K.get_value(self.model.optimizer.lr), "in epoch", epoch)
"""
PRINTS_FIXED = """
from keras import ops
from keras.callbacks import Callback

class Telling(Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("rate", ops.convert_to_numpy(self.model.optimizer.learning_rate), "in epoch", epoch)
"""
WRITES = """
import numpy as np
from keras import backend as K
from keras.callbacks import Callback

class Keeping(Callback):
    def on_train_end(self, logs=None):
        np.save("norms.npy", [K.get_value(K.sum(K.square(w))) for w in self.model.weights])
"""
WRITES_FIXED = """
import numpy as np
from keras import ops
from keras.callbacks import Callback

class Keeping(Callback):
    def on_train_end(self, logs=None):
        np.save("norms.npy", [ops.convert_to_numpy(ops.sum(ops.square(w)))[()]
                              for w in self.model.weights])
"""
SAVES = """
from keras.callbacks import Callback

class Saving(Callback):
    def on_train_end(self, logs=None):
        self.model.save_weights("last.weights.h5")
        print("saved", self.model.name)
"""
# Of its two methods one is called by Keras; the other is fixed as well, and runs never.
ALONE = """
from keras import backend as K
from keras.callbacks import Callback

class HalfSeen(Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.optimizer.lr = 0.25

    def spread(self, weights):
        return K.std(weights)
"""
ALONE_FIXED = """
from keras import ops
from keras.callbacks import Callback

class HalfSeen(Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.optimizer.learning_rate = 0.25

    def spread(self, weights):
        return ops.std(weights)
"""
MODEL = """
from keras import backend as K

def flat_norms(model, x):
    return K.get_value(K.sqrt(K.sum(K.square(model(x)), axis=-1)))
"""
MODEL_FIXED = """
from keras import ops

def flat_norms(model, x):
    return ops.convert_to_numpy(ops.sqrt(ops.sum(ops.square(model(x)), axis=-1)))
"""
CHANGES = """
from keras import backend as K

def shrink(model):
    for weight in model.trainable_weights:
        K.set_value(weight, 0.5 * K.get_value(weight))
"""
CHANGES_FIXED = """
from keras import ops

def shrink(model):
    for weight in model.trainable_weights:
        weight.assign(0.5 * ops.convert_to_numpy(weight))
"""
RETURNS_A_MODEL = """
from keras.models import Model

def without_head(model):
    return Model(model.inputs, model.layers[-2].output)
"""
ARRAYS = """
import numpy as np
from keras import backend as K

def iou(y_true, y_pred):
    both = np.logical_and(y_true > 0.5, y_pred > 0.5)
    either = np.logical_or(y_true > 0.5, y_pred > 0.5)
    return both.sum() / (either.sum() + K.epsilon())
"""
ARRAYS_FIXED = ARRAYS.replace("from keras import backend as K", "from keras import config").replace(
    "K.epsilon", "config.epsilon"
)
PRINTING = """
from keras import backend as K

def tell(size=3):
    print("the mean of", size, "is", float(K.get_value(K.mean(K.arange(0, size, dtype="float32")))))
"""
PRINTING_FIXED = """
from keras import ops

def tell(size=3):
    print("the mean of", size, "is", float(ops.mean(ops.arange(0, size, dtype="float32"))))
"""
YIELDS = """
from keras import backend as K

def batches(size=2):
    number = 0
    while True:
        yield K.get_value(K.ones((size, size)) * number)
        number += 1
"""
YIELDS_FIXED = """
from keras import ops

def batches(size=2):
    number = 0
    while True:
        yield ops.convert_to_numpy(ops.ones((size, size)) * number)
        number += 1
"""
METHODS = """
import tensorflow as tf
from keras import backend as K

class Saliency:
    def explain(self, validation_data, model, class_index):
        images, _ = validation_data
        given = tf.constant(images)
        with tf.GradientTape() as tape:
            tape.watch(given)
            score = K.sum(model(given)[:, class_index])
        return self.normed(tape.gradient(score, given))

    @staticmethod
    def normed(values):
        return values / (K.max(K.abs(values)) + K.epsilon())
"""
METHODS_FIXED = METHODS.replace("from keras import backend as K", "from keras import config, ops")
METHODS_FIXED = METHODS_FIXED.replace("K.epsilon", "config.epsilon").replace("K.", "ops.")
STEPS = """
import tensorflow as tf
from tensorflow import keras

class Plain(keras.optimizers.legacy.Optimizer):
    def __init__(self, learning_rate=0.05, name="Plain", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        return var.assign_sub(self._get_hyper("learning_rate", var.dtype) * tf.sign(grad))

    def get_config(self):
        rate = self._serialize_hyperparameter("learning_rate")
        return {**super().get_config(), "learning_rate": rate}
"""
STEPS_FIXED = """
import tensorflow as tf
from tensorflow import keras

class Plain(keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.05, name="Plain", **kwargs):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)

    def update_step(self, grad, var, learning_rate):
        var.assign_sub(learning_rate * tf.sign(grad))
"""
WRAPS = """
from keras import backend as K
from keras.layers import Layer

class Scaled(Layer):
    def __init__(self, layer, **kwargs):
        super().__init__(**kwargs)
        self.layer = layer

    def call(self, inputs):
        return K.tanh(self.layer(inputs))
"""
WRAPS_FIXED = WRAPS.replace("from keras import backend as K", "from keras import ops").replace(
    "K.tanh", "ops.tanh"
)
# Before, after, and what of it is written wrongly, as what.
CASES = {
    "Halving": (RATE, RATE_FIXED, "rate * 0.5", "rate * 0.6", "callback"),
    "Telling": (PRINTS, PRINTS_FIXED, '"in epoch", epoch', '"in epoch", 0', "callback"),
    "Keeping": (WRITES, WRITES_FIXED, "ops.square(w)", "ops.abs(w)", "callback"),
    "Saving": (SAVES, SAVES, "self.model.name", "self.model", "callback"),
    "flat_norms": (MODEL, MODEL_FIXED, "axis=-1", "axis=0", "function of a model"),
    "shrink": (CHANGES, CHANGES_FIXED, "0.5 *", "0.4 *", "function of a model"),
    "without_head": (
        *(RETURNS_A_MODEL, RETURNS_A_MODEL, "layers[-2]", "layers[-1]", "function of a model"),
    ),
    "iou": (ARRAYS, ARRAYS_FIXED, "logical_or", "logical_xor", "loss or metric"),
    "tell": (PRINTING, PRINTING_FIXED, "ops.mean", "ops.max", "function that prints"),
    "batches": (YIELDS, YIELDS_FIXED, "* number", "+ number", "function of plain values"),
    "Saliency": (METHODS, METHODS_FIXED, "ops.abs(values)", "values", "class of methods"),
    "Plain": (STEPS, STEPS_FIXED, "tf.sign(grad)", "grad", "optimizer"),
    "Scaled": (WRAPS, WRAPS_FIXED, "ops.tanh", "ops.sin", "layer"),
}
# What is not seen is not equal: nothing is done, it is not run, nothing is the same twice.
NOTHING = """
from keras import backend as K
from keras.callbacks import Callback

class Waiting(Callback):
    def on_epoch_end(self, epoch, logs=None):
        K.floatx()
"""
LEAVES = """
from keras import backend as K

def look_at_all_weights(model):
    for weight in model.weights:
        K.get_value(weight)
"""
CHANCE = """
import random
from keras import backend as K
from keras.callbacks import Callback

class Guessing(Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(K.floatx(), random.SystemRandom().random())
"""
UNKNOWN = """
from keras import backend as K

class HalfRun:
    def size(self):
        return 3

    def spread(self, unknown):
        return K.std(unknown.of_nobody)
"""
NOT_COMPARED = {
    "HalfSeen": (ALONE, ALONE_FIXED, "spread() did not run"),
    "Waiting": (NOTHING, NOTHING, "it has no visible effect"),
    "look_at_all_weights": (LEAVES, LEAVES, "does not change the model"),
    "Guessing": (CHANCE, CHANCE, "differs from run to run"),
    "HalfRun": (UNKNOWN, UNKNOWN, "spread() did not run"),
}


@pytest.fixture(scope="module")
def verdicts(is_run):
    pytest.importorskip("tf_keras")
    sources = []
    for name, (before, after, *_) in (CASES | NOT_COMPARED).items():
        if name in {"Saving", *NOT_COMPARED} or is_run(test_a_right_fix_is_equal, name):
            sources.append(Source(f"right/{name}.py", before, after))
    for name, (before, after, old, new, _) in CASES.items():
        assert after.count(old) == 1, name
        if is_run(test_a_wrong_fix_is_not_equal, name):
            sources.append(Source(f"wrong/{name}.py", before, after.replace(old, new)))
    here = Interpreter(sys.executable, "the one that runs the tests")
    report = verify(sources, lambda _: None, here, Limits(seconds=60.0))
    return {(each.path.partition("/")[0], each.name): each for each in report.verdicts}


@pytest.mark.sampled(4)
@pytest.mark.frameworks
@pytest.mark.parametrize("name", CASES)
def test_a_right_fix_is_equal(verdicts, name):
    found = verdicts["right", name]
    assert (found.state, found.kind) == (VerdictState.EQUAL, CASES[name][-1]), found
    assert not any("only shapes" in note for note in found.notes)


@pytest.mark.sampled(4)
@pytest.mark.frameworks
@pytest.mark.parametrize("name", CASES)
def test_a_wrong_fix_is_not_equal(verdicts, name):
    found = verdicts["wrong", name]
    # What is printed may differ for good reasons: that alone is no difference, and not equal.
    only_printed = CASES[name][-1] == "function that prints" or name in {"Telling", "Saving"}
    assert found.state is (VerdictState.NOT_TRIED if only_printed else VerdictState.DIFFERENT), (
        found
    )
    assert not only_printed or "its printed output differs" in found.why


@pytest.mark.frameworks
def test_written_files_that_are_not_compared_are_named(verdicts):
    found = verdicts["right", "Saving"]
    assert found.state is VerdictState.EQUAL
    assert found.notes == ("the .h5 files that it writes are not compared",)


@pytest.mark.frameworks
@pytest.mark.parametrize("name", NOT_COMPARED)
def test_code_that_was_not_compared_is_not_equal(verdicts, name):
    found = verdicts["right", name]
    assert found.state is VerdictState.NOT_TRIED, found
    assert NOT_COMPARED[name][-1] in found.why
