"""Differences that one call, one argument or one draw hides are not called equal.

Each is a definition before its fix, with the replacement that makes the fix wrong. The right fix,
which changes the same line by a comment, runs as well.
"""

import sys

import pytest

from kdoctor.interpreters import Interpreter
from kdoctor.verify.user.definitions import Source
from kdoctor.verify.user.results import VerdictState
from kdoctor.verify.user.running import Limits
from kdoctor.verify.user.verifying import verify

KERAS = (
    "import tensorflow as tf\nfrom tensorflow import keras\n"
    "from keras import layers\nfrom keras.layers import Layer\n\n"
)
HIDDEN = {
    "pair_of_models": (
        (
            "def pair_of_models():\n"
            "    inp = keras.Input((4,))\n"
            "    enc = keras.Model(inp, layers.Dense(3)(inp))\n"
            "    z = keras.Input((3,))\n"
            "    dec = keras.Model(z, layers.Dense(4, activation='sigmoid')(z))\n"
            "    return enc, dec\n"
        ),
        "'sigmoid'",
        "'tanh'",
    ),
    "compiled_lr": (
        (
            "def compiled_lr():\n"
            "    inp = keras.Input((4,))\n"
            "    m = keras.Model(inp, layers.Dense(3, activation='softmax')(inp))\n"
            "    m.compile(keras.optimizers.Adam(learning_rate=0.01), 'categorical_crossentropy', metrics=['accuracy'])\n"
            "    return m\n"
        ),
        "0.01",
        "0.1",
    ),
    "compiled_loss": (
        (
            "def compiled_loss():\n"
            "    inp = keras.Input((4,))\n"
            "    m = keras.Model(inp, layers.Dense(1)(inp))\n"
            "    m.compile('sgd', keras.losses.BinaryCrossentropy(from_logits=True))\n"
            "    return m\n"
        ),
        "from_logits=True",
        "from_logits=False",
    ),
    "compiling": (
        (
            "def compiling(model):\n"
            "    model.compile(keras.optimizers.SGD(0.5), keras.losses.CategoricalCrossentropy(label_smoothing=0.1))\n"
            "    return model\n"
        ),
        "0.1",
        "0.2",
    ),
    "NamedOut": (
        (
            "def NamedOut():\n"
            "    inp = keras.Input((4,), name='pixels')\n"
            "    a = layers.Dense(3, name='cls')(inp)\n"
            "    b = layers.Dense(3, name='box')(inp)\n"
            "    return keras.Model(inp, [a, b])\n"
        ),
        "'box'",
        "'boxes'",
    ),
    "make_act": (
        (
            "def make_act(alpha=0.3):\n"
            "    def act(x):\n"
            "        return tf.where(x > 0, x, alpha * x)\n"
            "    return act\n"
        ),
        "alpha * x",
        "x",
    ),
    "make_pen": (
        (
            "def make_pen(factor=0.3):\n"
            "    def pen(a, b):\n"
            "        return factor * tf.reduce_mean(tf.abs(a - b), axis=-1)\n"
            "    return pen\n"
        ),
        "factor * ",
        "",
    ),
    "symbolic": (
        (
            "def symbolic():\n"
            "    inp = keras.Input((4,))\n"
            "    out = layers.Dense(3, activation='relu')(inp)\n"
            "    return inp, out\n"
        ),
        "'relu'",
        "'tanh'",
    ),
    "gamma_dropped": (
        (
            "def gamma_dropped(y_true, y_pred, gamma=2.0):\n"
            "    return tf.reduce_mean(tf.abs(y_true - y_pred) ** gamma, axis=-1)\n"
        ),
        "** gamma",
        "** 2.0",
    ),
    "ConfigLost": (
        (
            "class ConfigLost(Layer):\n"
            "    def __init__(self, scale=2.0, **kwargs):\n"
            "        super().__init__(**kwargs)\n"
            "        self.scale = scale\n"
            "    def call(self, inputs):\n"
            "        return inputs * self.scale\n"
            "    def get_config(self):\n"
            "        return {**super().get_config(), 'scale': self.scale}\n"
        ),
        "{**super().get_config(), 'scale': self.scale}",
        "super().get_config()",
    ),
    "ScaleIgnored": (
        (
            "class ScaleIgnored(Layer):\n"
            "    def __init__(self, scale=2.0, **kwargs):\n"
            "        super().__init__(**kwargs)\n"
            "        self.scale = scale\n"
            "    def call(self, inputs):\n"
            "        return inputs * self.scale\n"
        ),
        "self.scale = scale",
        "self.scale = 2.0",
    ),
    "HiddenDefault": (
        (
            "class HiddenDefault(Layer):\n"
            "    def __init__(self, scale=None, **kwargs):\n"
            "        super().__init__(**kwargs)\n"
            "        self.scale = 2.0 if scale is None else scale\n"
            "    def call(self, inputs):\n"
            "        return inputs * self.scale\n"
            "\n"
            "made = HiddenDefault(scale=3.0)\n"
        ),
        "2.0 if",
        "4.0 if",
    ),
    "Sw": (
        ("def Sw(x, beta=1.0):\n    return x * tf.sigmoid(beta * x)\n"),
        "tf.sigmoid(beta * x)",
        "tf.sigmoid(x)",
    ),
    "Stop": (
        (
            "class Stop(keras.callbacks.Callback):\n"
            "    def __init__(self, patience=5):\n"
            "        super().__init__()\n"
            "        self.patience = patience\n"
            "        self.wait = 0\n"
            "    def on_epoch_end(self, epoch, logs=None):\n"
            "        self.wait += 1\n"
            "        if self.wait > self.patience:\n"
            "            self.model.stop_training = True\n"
        ),
        "self.wait > self.patience",
        "self.wait >= self.patience",
    ),
    "Warm": (
        (
            "class Warm(keras.optimizers.schedules.LearningRateSchedule):\n"
            "    def __init__(self, base=0.1, warmup=10):\n"
            "        self.base = base\n"
            "        self.warmup = warmup\n"
            "    def __call__(self, step):\n"
            "        step = tf.cast(step, 'float32')\n"
            "        return tf.where(step < self.warmup, self.base * step / self.warmup, self.base * tf.math.rsqrt(step / self.warmup))\n"
            "    def get_config(self):\n"
            "        return {'base': self.base, 'warmup': self.warmup}\n"
        ),
        "tf.math.rsqrt(step / self.warmup)",
        "tf.math.rsqrt(step)",
    ),
    "sched": (
        (
            "def sched(epoch, lr):\n"
            "    if epoch < 10:\n"
            "        return lr\n"
            "    return float(lr * tf.math.exp(-0.1))\n"
        ),
        "10",
        "20",
    ),
    "glorot": (
        (
            "def glorot():\n"
            "    inp = keras.Input((4,))\n"
            "    return keras.Model(inp, layers.Dense(30, kernel_initializer='glorot_uniform')(inp))\n"
        ),
        "glorot_uniform",
        "glorot_normal",
    ),
    "Init": (
        (
            "class Init(keras.initializers.Initializer):\n"
            "    def __call__(self, shape, dtype=None, **kwargs):\n"
            "        return tf.fill(shape, tf.cast(0.5, dtype or 'float32'))\n"
        ),
        (
            "def __call__(self, shape, dtype=None, **kwargs):\n"
            "        return tf.fill(shape, tf.cast(0.5, dtype or 'float32'))"
        ),
        ("def __call__(self, shape):\n        return tf.fill(shape, 0.5)"),
    ),
    "RegConfig": (
        (
            "class RegConfig(keras.regularizers.Regularizer):\n"
            "    def __init__(self, strength=0.1):\n"
            "        self.strength = strength\n"
            "    def __call__(self, x):\n"
            "        return self.strength * tf.reduce_sum(tf.abs(x))\n"
            "    def get_config(self):\n"
            "        return {'strength': self.strength}\n"
        ),
        "return {'strength': self.strength}",
        "return {}",
    ),
    "LossWeights": (
        (
            "class LossWeights(keras.losses.Loss):\n"
            "    def __init__(self, name='lw', **kwargs):\n"
            "        super().__init__(name=name, **kwargs)\n"
            "    def __call__(self, y_true, y_pred, sample_weight=None):\n"
            "        values = tf.reduce_mean(tf.abs(y_true - y_pred), axis=-1)\n"
            "        if sample_weight is not None:\n"
            "            values = values * sample_weight\n"
            "        return tf.reduce_mean(values)\n"
        ),
        "            values = values * sample_weight",
        "            pass",
    ),
    "masking": (
        (
            "def masking():\n"
            "    inp = keras.Input((6, 4))\n"
            "    x = layers.Masking(mask_value=-1.0)(inp)\n"
            "    return keras.Model(inp, layers.LSTM(5)(x))\n"
        ),
        "mask_value=-1.0",
        "mask_value=0.0",
    ),
    "emb_mask": (
        (
            "def emb_mask():\n"
            "    inp = keras.Input((6,), dtype='int32')\n"
            "    x = layers.Embedding(20, 5, mask_zero=True)(inp)\n"
            "    return keras.Model(inp, layers.GlobalAveragePooling1D()(x))\n"
        ),
        "mask_zero=True",
        "mask_zero=False",
    ),
    "Cell": (
        (
            "class Cell(Layer):\n"
            "    def __init__(self, units=4, **kwargs):\n"
            "        super().__init__(**kwargs)\n"
            "        self.units = units\n"
            "        self.state_size = units\n"
            "    def build(self, input_shape):\n"
            "        self.k = self.add_weight(shape=(input_shape[-1], self.units), name='k', initializer='glorot_uniform')\n"
            "        self.r = self.add_weight(shape=(self.units, self.units), name='r', initializer='orthogonal')\n"
            "        self.built = True\n"
            "    def call(self, inputs, states):\n"
            "        h = tf.tanh(tf.matmul(inputs, self.k) + tf.matmul(states[0], self.r))\n"
            "        return h, [h]\n"
        ),
        "'orthogonal'",
        "'glorot_uniform'",
    ),
    "decayed": (
        (
            "def decayed(rate=0.01):\n"
            "    schedule = keras.optimizers.schedules.ExponentialDecay(rate, 1000, 0.5)\n"
            "    return keras.optimizers.SGD(learning_rate=schedule, clipnorm=1.0)\n"
        ),
        "1000",
        "2000",
    ),
    "clipped": (
        "def clipped():\n    return keras.optimizers.Adam(1e-2, clipvalue=0.5)\n",
        "clipvalue",
        "clipnorm",
    ),
    "watching": (
        (
            "def watching():\n"
            "    stop = keras.callbacks.EarlyStopping(patience=3)\n"
            "    slower = keras.callbacks.ReduceLROnPlateau(min_delta=0.1)\n"
            "    return [stop, slower]\n"
        ),
        "0.1",
        "0.2",
    ),
    "saving": (
        (
            "def saving():\n"
            "    return keras.callbacks.ModelCheckpoint('best.h5', save_best_only=True)\n"
        ),
        "True",
        "False",
    ),
    "slowing": (
        (
            "def slowing():\n"
            "    return keras.callbacks.LearningRateScheduler(lambda epoch, rate: float(rate) * 0.5)\n"
        ),
        "0.5",
        "0.25",
    ),
    "Batches": (
        (
            "class Batches(keras.utils.Sequence):\n"
            "    def __init__(self, n=4):\n"
            "        self.n = n\n"
            "    def __len__(self):\n"
            "        return self.n // 2\n"
            "    def __getitem__(self, index):\n"
            "        return tf.ones((2, 3)) * index, tf.zeros((2, 1))\n"
            "    def on_epoch_end(self):\n"
            "        self.n += 2\n"
        ),
        "+= 2",
        "+= 4",
    ),
    "Apart": (
        (
            "class Apart(Layer):\n"
            "    def call(self, inputs):\n"
            "        return tf.reduce_sum(inputs['left'] - inputs['right'], axis=-1)\n"
        ),
        "inputs['left'] - inputs['right']",
        "inputs['right'] - inputs['left']",
    ),
    "Joined": (
        (
            "class Joined(keras.Model):\n"
            "    def __init__(self):\n"
            "        super().__init__()\n"
            "        self.dense = layers.Dense(3)\n"
            "    def call(self, inputs):\n"
            "        return tf.nn.softmax(self.dense(inputs['a']) + inputs['b'][..., :1] * [0.5, 1, 2])\n"
        ),
        "[0.5, 1, 2]",
        "[2, 1, 0.5]",
    ),
}


@pytest.fixture(scope="module")
def verdicts(is_run):
    pytest.importorskip("tf_keras")
    sources = []
    for name, (before, old, new) in HIDDEN.items():
        assert before.count(old) == 1, name
        if is_run(test_the_right_fix_is_equal, name):
            right = commented(before, old)
            sources.append(Source(f"right/{name}.py", KERAS + before, KERAS + right))
        if is_run(test_a_hidden_difference_is_not_called_equal, name):
            wrong = before.replace(old, new)
            sources.append(Source(f"wrong/{name}.py", KERAS + before, KERAS + wrong))
    here = Interpreter(sys.executable, "the one that runs the tests")
    report = verify(sources, lambda _: None, here, Limits(seconds=60.0))
    return {(each.path.partition("/")[0], each.name): each for each in report.verdicts}


def commented(text, part):
    """Add a comment to the line on which a part of the text ends."""
    end = text.index("\n", text.index(part) + len(part.rstrip("\n")))
    return f"{text[:end]}  # kept{text[end:]}"


@pytest.mark.sampled(8)
@pytest.mark.frameworks
@pytest.mark.parametrize("name", HIDDEN)
def test_a_hidden_difference_is_not_called_equal(verdicts, name):
    assert verdicts["wrong", name].is_bad, verdicts["wrong", name]


@pytest.mark.sampled(8)
@pytest.mark.frameworks
@pytest.mark.parametrize("name", HIDDEN)
def test_the_right_fix_is_equal(verdicts, name):
    assert verdicts["right", name].state is VerdictState.EQUAL, verdicts["right", name]


@pytest.mark.frameworks
def test_callbacks_whose_work_nobody_sees_are_not_called_equal():
    pytest.importorskip("tf_keras")
    before = KERAS + (
        "def idle():\n    return keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: None)\n"
    )
    source = Source("idle.py", before, commented(before, "None"))
    here = Interpreter(sys.executable, "the one that runs the tests")
    (verdict,) = verify([source], lambda _: None, here, Limits(seconds=60.0)).verdicts
    assert verdict.state is VerdictState.NOT_TRIED
    assert "no visible effect" in verdict.why
