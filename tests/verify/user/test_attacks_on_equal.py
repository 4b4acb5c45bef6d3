"""Fixes with subtle differences are not called equal.

Each attack is a definition before its fix, with the replacement that makes the fix wrong. The right
fix runs as well: a verifier that never says "equal" would pass any attack.
"""

import sys

import pytest

from kdoctor.interpreters import Interpreter
from kdoctor.verify.user.definitions import Source
from kdoctor.verify.user.results import VerdictState
from kdoctor.verify.user.running import Limits
from kdoctor.verify.user.verifying import verify

KERAS = "import tensorflow as tf\nfrom tensorflow import keras\nfrom keras.layers import Layer\n\n"
ATTACKS = {
    # Only values far from zero show it.
    "relu6": (
        "def relu6(x):\n    return tf.minimum(tf.nn.relu(x), 6.0)\n",
        "tf.minimum(tf.nn.relu(x), 6.0)",
        "tf.nn.relu(x)",
    ),
    "Clipped": (
        (
            "class Clipped(Layer):\n    def call(self, inputs):\n"
            "        return tf.clip_by_value(inputs, -8.0, 8.0)\n"
        ),
        "tf.clip_by_value(inputs, -8.0, 8.0)",
        "tf.clip_by_value(inputs, -9.0, 9.0)",
    ),
    "far_loss": (
        (
            "def far_loss(y_true, y_pred):\n"
            "    return tf.reduce_mean(tf.minimum(tf.abs(y_true - y_pred), 12.0), axis=-1)\n"
        ),
        "tf.minimum(tf.abs(y_true - y_pred), 12.0)",
        "tf.abs(y_true - y_pred)",
    ),
    # Only zero shows it.
    "unit": (
        "def unit(x):\n    return x / (tf.norm(x, axis=-1, keepdims=True) + 1e-7)\n",
        " + 1e-7",
        "",
    ),
    "Unit": (
        (
            "class Unit(Layer):\n    def call(self, inputs):\n"
            "        return inputs / (tf.norm(inputs, axis=-1, keepdims=True) + 1e-7)\n"
        ),
        " + 1e-7",
        "",
    ),
    "signs": (
        "def signs(x):\n    return tf.where(x >= 0.0, tf.ones_like(x), -tf.ones_like(x))\n",
        ">=",
        ">",
    ),
    # The calls in the file do not show it.
    "Rescaled": (
        (
            "class Rescaled(Layer):\n    def __init__(self, scale=2.0, **kwargs):\n"
            "        super().__init__(**kwargs)\n        self.scale = scale\n\n"
            "    def call(self, inputs):\n        return inputs * self.scale\n\n"
            "made = Rescaled(scale=3.0)\n"
        ),
        "scale=2.0",
        "scale=4.0",
    ),
    "rescaled": (
        (
            "def rescaled(y_true, y_pred, scale=2.0):\n"
            "    return scale * tf.reduce_mean(tf.abs(y_true - y_pred), axis=-1)\n\n"
            "model.compile('sgd', lambda a, b: rescaled(a, b, scale=3.0))\n"
        ),
        "scale=2.0",
        "scale=4.0",
    ),
    "penalty": (
        (
            "def penalty(factor, power=2.0):\n    def measured(y_true, y_pred):\n"
            "        return factor * tf.reduce_mean(tf.abs(y_true - y_pred) ** power, axis=-1)\n"
            "    return measured\n\nmodel.compile('sgd', penalty(0.5, 3.0))\n"
        ),
        "power=2.0",
        "power=1.0",
    ),
    # One call does not show it.
    "Counting": (
        (
            "class Counting(Layer):\n    def build(self, input_shape):\n"
            "        self.count = self.add_weight(\n"
            "            name='count', shape=(), initializer='zeros', trainable=False)\n"
            "        super().build(input_shape)\n\n"
            "    def call(self, inputs):\n        self.count.assign(self.count + 1.0)\n"
            "        return inputs * self.count\n"
        ),
        "self.count.assign(self.count + 1.0)",
        "self.count.assign(tf.ones(()))",
    ),
    "Share": (
        (
            "class Share(keras.metrics.Metric):\n    def __init__(self, name='share', **kwargs):\n"
            "        super().__init__(name=name, **kwargs)\n"
            "        self.total = self.add_weight(name='total', initializer='zeros')\n"
            "        self.count = self.add_weight(name='count', initializer='zeros')\n\n"
            "    def update_state(self, y_true, y_pred, sample_weight=None):\n"
            "        apart = tf.cast(tf.abs(tf.cast(y_true, y_pred.dtype) - y_pred), 'float32')\n"
            "        self.total.assign_add(tf.reduce_sum(apart))\n"
            "        self.count.assign_add(tf.cast(tf.size(apart), 'float32'))\n\n"
            "    def result(self):\n        return self.total / self.count\n"
        ),
        "tf.reduce_sum(apart))\n        self.count.assign_add(tf.cast(tf.size(apart), 'float32'))",
        "tf.reduce_mean(apart))\n        self.count.assign_add(1.0)",
    ),
    "Remembering": (
        (
            "class Remembering(keras.callbacks.Callback):\n    def __init__(self):\n"
            "        super().__init__()\n        self.seen_losses = []\n\n"
            "    def on_train_begin(self, logs=None):\n        self.seen_losses = []\n\n"
            "    def on_epoch_end(self, epoch, logs=None):\n"
            "        self.seen_losses.append(float(logs['loss']))\n"
        ),
        "    def on_train_begin(self, logs=None):\n        self.seen_losses = []\n\n",
        "",
    ),
    "Slow": (
        (
            "class Slow(keras.optimizers.legacy.Optimizer):\n"
            "    def __init__(self, learning_rate=0.05, name='Slow', **kwargs):\n"
            "        super().__init__(name, **kwargs)\n"
            "        self._set_hyper('learning_rate', learning_rate)\n\n"
            "    def _resource_apply_dense(self, grad, var, apply_state=None):\n"
            "        late = tf.cast(self.iterations >= 6, grad.dtype)\n"
            "        rate = self._get_hyper('learning_rate', grad.dtype)\n"
            "        return var.assign_sub(rate * grad * (1.0 + late))\n\n"
            "    def get_config(self):\n"
            "        rate = self._serialize_hyperparameter('learning_rate')\n"
            "        return {**super().get_config(), 'learning_rate': rate}\n"
        ),
        "(1.0 + late)",
        "(1.0 + 2.0 * late)",
    ),
    # It is random: another spread, another share of zeros, another mean.
    "Dropping": (
        (
            "class Dropping(Layer):\n    def call(self, inputs, training=None):\n"
            "        if not training:\n            return inputs\n"
            "        return tf.nn.dropout(inputs, 0.5)\n"
        ),
        "0.5",
        "0.2",
    ),
    "Noise": (
        (
            "class Noise(Layer):\n    def call(self, inputs):\n"
            "        return inputs + tf.random.normal(tf.shape(inputs), stddev=0.1)\n"
        ),
        "stddev=0.1",
        "stddev=0.4",
    ),
    "noisy": (
        "def noisy(x):\n    return x + tf.random.uniform(tf.shape(x), 0.0, 1.0)\n",
        "0.0, 1.0",
        "-0.5, 0.5",
    ),
    "Drawn": (
        (
            "class Drawn(keras.initializers.Initializer):\n"
            "    def __call__(self, shape, dtype=None, **kwargs):\n"
            "        return tf.random.normal(shape, stddev=0.05)\n"
        ),
        "0.05",
        "1.0",
    ),
    "small_start": (
        (
            "def small_start(units=16):\n    inputs = keras.Input((8,))\n"
            "    return keras.Model(inputs, keras.layers.Dense(\n"
            "        units, kernel_initializer='he_normal')(inputs))\n"
        ),
        "'he_normal'",
        "keras.initializers.RandomNormal(stddev=2.0)",
    ),
    "zero_start": (
        (
            "def zero_start(units=16):\n    inputs = keras.Input((8,))\n"
            "    return keras.Model(inputs, keras.layers.Dense(\n"
            "        units, kernel_initializer='he_normal')(inputs))\n"
        ),
        "'he_normal'",
        "'zeros'",
    ),
    # Only training shows it.
    "phases": (
        (
            "class phases(Layer):\n    def call(self, inputs, training=None):\n"
            "        return inputs * (2.0 if training else 1.0)\n"
        ),
        "inputs * (2.0 if training else 1.0)",
        "inputs * (2.0 if training is None else 1.0)",
    ),
    "Handed": (
        (
            "class Handed(Layer):\n    def __init__(self, **kwargs):\n"
            "        super().__init__(**kwargs)\n"
            "        self.inner = keras.layers.BatchNormalization()\n\n"
            "    def call(self, inputs):\n        return self.inner(inputs)\n"
        ),
        "self.inner(inputs)",
        "self.inner(inputs, training=False)",
    ),
    "penalised": (
        (
            "def penalised(units=5):\n    inputs = keras.Input((8,))\n"
            "    return keras.Model(inputs, keras.layers.Dense(\n"
            "        units, kernel_regularizer=keras.regularizers.L2(0.1))(inputs))\n"
        ),
        "L2(0.1)",
        "L2(0.01)",
    ),
    "Adding": (
        (
            "class Adding(Layer):\n    def call(self, inputs):\n"
            "        self.add_loss(tf.reduce_mean(tf.abs(inputs)))\n        return inputs * 2.0\n"
        ),
        "        self.add_loss(tf.reduce_mean(tf.abs(inputs)))\n",
        "",
    ),
    "bounded": (
        (
            "def bounded(units=5):\n    inputs = keras.Input((8,))\n"
            "    return keras.Model(inputs, keras.layers.Dense(\n"
            "        units, kernel_constraint=keras.constraints.NonNeg())(inputs))\n"
        ),
        "keras.constraints.NonNeg()",
        "None",
    ),
    "frozen": (
        (
            "def frozen(units=5):\n    inputs = keras.Input((8,))\n"
            "    return keras.Model(inputs, keras.layers.Dense(units, trainable=False)(inputs))\n"
        ),
        "units, trainable=False",
        "units",
    ),
    # A mask shows it.
    "Passing": (
        (
            "class Passing(Layer):\n    def __init__(self, **kwargs):\n"
            "        super().__init__(**kwargs)\n        self.supports_masking = True\n\n"
            "    def call(self, inputs):\n        return inputs * 2.0\n"
        ),
        "self.supports_masking = True",
        "self.supports_masking = False",
    ),
    "Masking2": (
        (
            "class Masking2(Layer):\n    def __init__(self, **kwargs):\n"
            "        super().__init__(**kwargs)\n        self.supports_masking = True\n\n"
            "    def compute_mask(self, inputs, mask=None):\n        return None\n\n"
            "    def call(self, inputs):\n        return inputs * 2.0\n"
        ),
        "return None",
        "return mask",
    ),
    "Minding": (
        (
            "class Minding(Layer):\n    def call(self, inputs, mask=None):\n"
            "        if mask is None:\n            return inputs\n"
            "        return inputs * tf.cast(mask[..., None], inputs.dtype)\n"
        ),
        "inputs * tf.cast(mask[..., None], inputs.dtype)",
        "inputs",
    ),
    # The shape of the symbolic output others.
    "Halved": (
        (
            "class Halved(Layer):\n    def compute_output_shape(self, input_shape):\n"
            "        return tuple(input_shape[:-1]) + (2,)\n\n"
            "    def call(self, inputs):\n        return inputs[..., :2] * 3.0\n"
        ),
        "(2,)",
        "(3,)",
    ),
    # Gradients, dtypes, small numbers beside large ones.
    "held": (
        "def held(x):\n    return x * tf.stop_gradient(tf.sigmoid(x))\n",
        "tf.stop_gradient(tf.sigmoid(x))",
        "tf.sigmoid(x)",
    ),
    "Whole": (
        (
            "class Whole(Layer):\n    def call(self, inputs):\n"
            "        return tf.cast(tf.round(inputs), 'int32')\n"
        ),
        "'int32'",
        "'float32'",
    ),
    "beside": (
        "def beside(x):\n    return tf.concat([x * 1e7, x], axis=-1)\n",
        "1e7, x]",
        "1e7, x * 1.2]",
    ),
    "rounded": (
        "def rounded(x):\n    return tf.multiply(x, 3.0)\n",
        "tf.multiply(x, 3.0)",
        "tf.cast(tf.cast(x, 'bfloat16'), 'float32') * 3.0",
    ),
    # It gives the same, which proves nothing.
    "never": (
        "def never(x):\n    return tf.cast(x > 1e6, 'float32')\n",
        "1e6",
        "2e6",
    ),
    "Never": (
        (
            "class Never(Layer):\n    def call(self, inputs):\n"
            "        return tf.cast(inputs > 1e6, 'float32')\n"
        ),
        "1e6",
        "2e6",
    ),
    "no_loss": (
        (
            "def no_loss(y_true, y_pred):\n"
            "    return tf.reduce_mean(tf.cast(y_pred > 1e6, 'float32'), axis=-1)\n"
        ),
        "1e6",
        "2e6",
    ),
}
SLOW_FIXED = """class Slow(keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.05, name='Slow', **kwargs):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)

    def update_step(self, grad, var, learning_rate):
        late = tf.cast(self.iterations >= 6, grad.dtype)
        var.assign_sub(tf.cast(learning_rate, grad.dtype) * grad * (1.0 + late))
"""
FIXED = {"Slow": SLOW_FIXED}
# The right fix has no visible effect either: it returns zero.
NOTHING_SEEN = ("never", "Never", "no_loss")
# One of each sort, and of each thing that is looked at.
RIGHT = ("relu6", "Unit", "far_loss", "Share", "Remembering", "Slow", "Dropping", "noisy", "Drawn")
RIGHT += ("Rescaled", "penalty")
RIGHT += ("small_start", "Handed", "penalised", "Adding", "bounded", "Passing", "Halved", "beside")
# What the fix changes and what does not run with what is tried.
UNREACHED = {
    "half": (
        (
            "def half(x, mode='plain'):\n    if mode == 'summed':\n        return keras.backend.sum(x)\n"
            "    return keras.backend.square(x)\n"
        ),
        (
            "def half(x, mode='plain'):\n    if mode == 'summed':\n        return tf.reduce_mean(x)\n"
            "    return tf.square(x)\n"
        ),
    ),
    "none": (
        (
            "def none(x, mode='plain'):\n    if mode == 'summed':\n        return keras.backend.sum(x)\n"
            "    return tf.square(x)\n"
        ),
        (
            "def none(x, mode='plain'):\n    if mode == 'summed':\n        return tf.reduce_mean(x)\n"
            "    return tf.square(x)\n"
        ),
    ),
}


@pytest.fixture(scope="module")
def verdicts(is_run):
    pytest.importorskip("tf_keras")
    sources = []
    for name, (before, old, new) in ATTACKS.items():
        after = FIXED.get(name, before)
        assert after.count(old) == 1, name
        if name in NOTHING_SEEN or is_run(test_the_right_fix_is_equal, name):
            sources.append(Source(f"right/{name}.py", KERAS + before, KERAS + after))
        if is_run(test_a_wrong_fix_is_not_called_equal, name):
            wrong = after.replace(old, new)
            sources.append(Source(f"wrong/{name}.py", KERAS + before, KERAS + wrong))
    for name, (before, after) in UNREACHED.items():
        sources.append(Source(f"unreached/{name}.py", KERAS + before, KERAS + after))
    here = Interpreter(sys.executable, "the one that runs the tests")
    report = verify(sources, lambda _: None, here, Limits(seconds=60.0))
    return {(each.path.partition("/")[0], each.name): each for each in report.verdicts}


@pytest.mark.sampled(4)
@pytest.mark.frameworks
@pytest.mark.parametrize("name", ATTACKS)
def test_a_wrong_fix_is_not_called_equal(verdicts, name):
    assert verdicts["wrong", name].state is not VerdictState.EQUAL, verdicts["wrong", name]


@pytest.mark.sampled(4)
@pytest.mark.frameworks
@pytest.mark.parametrize("name", RIGHT)
def test_the_right_fix_is_equal(verdicts, name):
    assert verdicts["right", name].state is VerdictState.EQUAL, verdicts["right", name]


@pytest.mark.frameworks
@pytest.mark.parametrize("name", NOTHING_SEEN)
def test_a_constant_result_is_not_tried(verdicts, name):
    found = verdicts["right", name]
    assert found.state is VerdictState.NOT_TRIED, found
    assert "which proves nothing" in found.why


@pytest.mark.frameworks
def test_a_line_of_the_fix_that_did_not_run_is_named(verdicts):
    found = verdicts["unreached", "half"]
    assert found.state is VerdictState.EQUAL, found
    assert found.notes == ("not compared, because it did not run: line 7 of the fixed code",)


@pytest.mark.frameworks
def test_a_fix_of_which_nothing_ran_is_not_tried(verdicts):
    found = verdicts["unreached", "none"]
    assert found.state is VerdictState.NOT_TRIED, found
    assert found.why == "none of the code that the fix changes in it ran"
