"""Which code Keras runs, of all that a file has."""

from __future__ import annotations

import pytest

from kdoctor.analysis.backends.reach import is_run_by_keras, is_run_by_keras_alone
from kdoctor.documents import Document
from kdoctor.keras_api import newest_target, oracle
from kdoctor.syntax import Module

HEAD = "import keras\nimport tensorflow as tf\nfrom keras import layers\n"


def lines_run(source, asked=is_run_by_keras):
    """Return the `tf.abs` and `tf.ones` of a source that Keras runs, by line."""
    unit = Document.parse(source.encode(), "code.py").units[0]
    module = Module.parse(unit, oracle(newest_target()))
    return [
        module.place(each.node).line
        for each in module.references
        if each.name in ("tensorflow.abs", "tensorflow.ones") and asked(module, each.node)
    ]


@pytest.mark.parametrize(
    "source",
    [
        "class A(layers.Layer):\n    def call(self, x):\n        return tf.abs(x)  # run\n",
        "class A(layers.Layer):\n    def call(self, x):\n        match self.mode:\n            case 'jax':\n                return x\n            case 'tensorflow':\n                return tf.abs(x)  # run\n",
        "class A(layers.Layer):\n    def call(self, x):\n        if keras.backend.backend() == 'tensorflow':\n            return self._f(x)\n        return self._f(2 * x)\n    def _f(self, x):\n        return tf.abs(x)  # run\n    def g(self, x):\n        return x\nclass B(A):\n    def call(self, x):\n        return self._f(x)\n",
        "class A(layers.Layer):\n    def build(self, shape):\n        self.a = tf.abs(1)  # run\n",
        "class A(keras.Model):\n    def compute_loss(self, x, y, y_pred, **_):\n        return tf.abs(y)  # run\n",
        "class A(keras.losses.Loss):\n    def call(self, y_true, y_pred):\n        return tf.abs(y_true)  # run\n",
        "class A(keras.metrics.Metric):\n    def result(self):\n        return tf.abs(self.x)  # run\n",
        "class A(keras.initializers.Initializer):\n    def __call__(self, shape, dtype=None):\n        return tf.ones(shape)  # run\n",
        "class A(keras.regularizers.Regularizer):\n    def __call__(self, x):\n        return tf.abs(x)  # run\n",
        "class A(keras.constraints.NonNeg):\n    def __call__(self, w):\n        return tf.abs(w)  # run\n",
        "class A(keras.optimizers.schedules.LearningRateSchedule):\n    def __call__(self, step):\n        return tf.abs(step)  # run\n",
        "class A(keras.optimizers.Optimizer):\n    def update_step(self, gradient, variable, learning_rate):\n        tf.abs(gradient)  # run\n",
        "def f(y_true, y_pred):\n    return tf.abs(y_true)  # run\n",
        "f = layers.Lambda(lambda x: tf.abs(x))  # run\n",
        "def f(x):\n    return tf.abs(x)  # run\nlayers.Dense(2, activation=f)\n",
        "def f(x):\n    return tf.abs(x)  # run\nlayers.Dense(2, kernel_regularizer=f)\n",
        "def f(x):\n    return tf.abs(x)  # run\nkeras.models.load_model('a', custom_objects={'f': f})\n",
        "@keras.saving.register_keras_serializable()\ndef f(x):\n    return tf.abs(x)  # run\n",
        # by way of functions and methods of the file
        "def f(x):\n    return tf.abs(x)  # run\ndef g(x):\n    return f(x)\nclass A(layers.Layer):\n    def call(self, x):\n        return g(x)\n",
        "class A(layers.Layer):\n    def call(self, x):\n        return self.f(x)\n    def f(self, x):\n        return tf.abs(x)  # run\n",
        "def f(x):\n    return tf.abs(x)  # run\nclass A(layers.Layer):\n    def call(self, x):\n        return f(x)\nif __name__ == '__main__':\n    f(1)\n",
        "def f(x):\n    return tf.abs(f(x))  # run\nclass A(layers.Layer):\n    def call(self, x):\n        return f(x)\n",
        "class A(layers.Layer):\n    def call(self, x):\n        def f(y):\n            return tf.abs(y)  # run\n        return tf.map_fn(f, x)\n",
        "def f(x):\n    return tf.abs(x)  # run\nclass A(layers.Layer):\n    def call(self, x):\n        return tf.map_fn(f, x)\n",
        # kept before it is called
        "def f(x):\n    return tf.abs(x)  # run\nclass A(layers.Layer):\n    def __init__(self):\n        self.act = f\n    def call(self, x):\n        return self.act(x)\n",
        "def f(x):\n    return tf.abs(x)  # run\nclass A(layers.Layer):\n    def __init__(self, act=f):\n        self.act = act\n    def call(self, x):\n        return self.act(x)\n",
        "def f(x):\n    return tf.abs(x)  # run\nACTS = {'f': f}\nclass A(layers.Layer):\n    def call(self, x):\n        return ACTS['f'](x)\n",
        "def f(x):\n    return tf.abs(x)  # run\nACTS = {'f': f}\nclass A(layers.Layer):\n    def __init__(self, act):\n        self.act = ACTS.get(act)\n    def call(self, x):\n        return self.act(x)\n",
        "def f(x):\n    return tf.abs(x)  # run\ndef get(name):\n    return f if name else None\nclass A(layers.Layer):\n    def __init__(self, act):\n        self.act = get(act)\n    def call(self, x):\n        return self.act(x)\n",
        "def f(x):\n    return tf.abs(x)  # run\nclass A(layers.Layer):\n    def __init__(self, act):\n        self.act = act\n    def call(self, x):\n        return self.act(x)\na = A(f)\nb = A(act=f)\n",
        "def f(x):\n    return tf.abs(x)  # run\nconfig.act = f\nclass A(layers.Layer):\n    def __init__(self, cfg):\n        self.act = cfg.act\n    def call(self, x):\n        return self.act(x)\n",
        # with what keras.ops returns, or for it
        "def f(x):\n    return keras.ops.exp(-tf.abs(x))  # run\n",
        "def f(x):\n    y = keras.ops.exp(x)\n    return tf.abs(y[0] - 1)  # run\n",
        # of a class of the file
        "class A(layers.Layer):\n    pass\nclass B(A):\n    def call(self, x):\n        return tf.abs(x)  # run\n",
    ],
)  # fmt: skip
def test_what_keras_surely_runs(source):
    lines = (HEAD + source).splitlines()
    marked = [number for number, line in enumerate(lines, 1) if line.endswith("# run")]
    assert lines_run(HEAD + source) == marked != []


@pytest.mark.parametrize(
    "source",
    [
        "tf.abs(1)\n",
        "def f(x):\n    return tf.abs(x)\n",
        "def f(x):\n    return tf.abs(x)\nf(1)\n",
        "class A:\n    def call(self, x):\n        return tf.abs(x)\n",
        "class A(tf.Module):\n    def __call__(self, x):\n        return tf.abs(x)\n",
        "class A(layers.Layer):\n    def export(self, x):\n        return tf.abs(x)\n",
        "class A(keras.callbacks.Callback):\n    def on_epoch_end(self, epoch, logs):\n        tf.abs(1)\n",
        # a pipeline has a function, too
        "def f(x):\n    return tf.abs(x)\ndata.map(f)\nclass A(layers.Layer):\n    def call(self, x):\n        return f(x)\n",
        "def f(x):\n    return tf.abs(x)\ndata.map(lambda x: f(x))\nclass A(layers.Layer):\n    def call(self, x):\n        return f(x)\n",
        "class A(layers.Layer):\n    def call(self, x):\n        return tf.abs(x)\na = A()\ndata.map(lambda x: a(x))\n",
        "class A(layers.Layer):\n    def call(self, x):\n        return tf.abs(tf.strings.length(x))\n",
        "class Tokenizer(layers.Layer):\n    def call(self, x):\n        return tf.abs(x)\n",
        # kept, and never called by Keras
        "def f(x):\n    return tf.abs(x)\nACTS = {'f': f}\nACTS['f'](1)\nclass A(layers.Layer):\n    def call(self, x):\n        return ACTS\n",
        "def f(x):\n    return tf.abs(x)\nclass A(layers.Layer):\n    def __init__(self):\n        self.parse = f\n    def load(self, data):\n        return data.map(self.parse)\n    def call(self, x):\n        return self.parse(x)\n",
        "def f(x):\n    return tf.abs(x)\ntrain({'f': f})\n",
        # with what keras.ops returns: for arrays, and in a pipeline
        "def f(x):\n    return tf.abs(keras.ops.convert_to_numpy(x))\n",
        "def f(x):\n    return keras.ops.exp(tf.abs(x))\ndata.map(f)\n",
        # TensorFlow's as a whole
        "class A(keras.Model):\n    def train_step(self, data):\n        return {'loss': tf.abs(1)}\n",
        "class A(keras.Model):\n    def call(self, x):\n        with tf.GradientTape() as tape:\n            y = tf.abs(x)\n        return y\n",
        "class A(keras.Model):\n    @tf.function(input_signature=[tf.TensorSpec([None])])\n    def call(self, x):\n        return tf.abs(x)\n",
        # who asks for the backend knows
        "class A(layers.Layer):\n    def call(self, x):\n        return tf.abs(x) if keras.backend.backend() == 'tensorflow' else x\n",
        "from mine.lazy import tensorflow as late\nclass A(layers.Layer):\n    def call(self, x):\n        return tf.abs(late.lookup.find(x))\n",
        "from mine import in_tf_function\nclass A(layers.Layer):\n    def call(self, x):\n        if in_tf_function():\n            return tf.abs(x)\n        return x\n",
        "from mine import preprocessing_function\nclass A(layers.Layer):\n    @preprocessing_function\n    def call(self, x):\n        return tf.abs(x)\n",
        "class A(layers.Layer):\n    def call(self, x):\n        name = keras.backend.backend()\n        match name:\n            case 'jax':\n                return x\n            case 'tensorflow':\n                return tf.abs(x)\n",
        "class A(layers.Layer):\n    def call(self, x):\n        if keras.backend.backend() == 'tensorflow':\n            return self._call_here(x)\n        return x\n    def _call_here(self, x):\n        return tf.abs(x)\n",
        "class A(layers.Layer):\n    def call(self, x):\n        if keras.config.backend() == 'jax':\n            return x\n        else:\n            return tf.abs(x)\n",
        "from keras.backend import backend\nIS_TF = backend() == 'tensorflow'\nclass A(layers.Layer):\n    def call(self, x):\n        if IS_TF:\n            return tf.abs(x)\n",
        "if keras.backend.backend() != 'tensorflow':\n    raise ImportError('no')\nclass A(layers.Layer):\n    def call(self, x):\n        return tf.abs(x)\n",
        "class A(layers.Layer):\n    def call(self, x):\n        if keras.backend.backend() not in ('tensorflow', 'numpy'):\n            return x\n        return tf.abs(x)\n",
    ],
)  # fmt: skip
def test_what_is_no_matter_of_the_backend(source):
    assert lines_run(HEAD + source) == []


LAYER = "class A(layers.Layer):\n    def call(self, x):\n        return f(x)\n"


@pytest.mark.parametrize(
    ("source", "is_alone"),
    [
        ("def f(x):\n    return tf.abs(x)\n", True),
        # Who calls `g`, and with what, nobody knows.
        ("def f(x):\n    return tf.abs(x)\ndef g(x):\n    return f(x)\n", False),
        (
            "def h(x):\n    return tf.abs(x)\ndef f(x):\n    return h(x)\ndef g(x):\n    h(x)\n",
            False,
        ),
        (
            "def h(x):\n    return tf.abs(x)\ndef f(x):\n    return h(x)\ndef g(x):\n    f(x)\n",
            False,
        ),
        ("def f(x):\n    return tf.abs(x)\nprint(f(1))\n", True),
        ("def f(x):\n    return keras.ops.exp(tf.abs(x))\ndef g(x):\n    f(x)\n", True),
        # TensorFlow calls it.
        ("@tf.function\ndef f(x):\n    return tf.abs(x)\n", False),
        ("def h(x):\n    return tf.abs(x)\n@tf.function\ndef f(x):\n    return h(x)\n", False),
        ("def f(x):\n    return tf.map_fn(lambda z: tf.abs(z), x)\n", False),
        ("def f(x):\n    def g(z):\n        return tf.abs(z)\n    return tf.map_fn(g, x)\n", False),
        ("def f(x):\n    return tf.cond(x, lambda: tf.abs(x), lambda: x)\n", True),
        ("def f(x):\n    return keras.ops.map(lambda z: tf.abs(z), x)\n", True),
    ],
)
def test_a_function_that_another_one_calls_too_is_not_run_by_keras_alone(source, is_alone):
    lines = lines_run(HEAD + source + LAYER)
    assert len(lines) == 1
    assert lines_run(HEAD + source + LAYER, is_run_by_keras_alone) == (lines if is_alone else [])
