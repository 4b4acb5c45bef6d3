"""Examples of training steps that return an untracked loss, and of correct ones."""

from __future__ import annotations

from kdoctor.rules.rule import Example

_HEAD = (
    "import keras\nimport numpy as np\nimport tensorflow as tf\n\n"
    "x, y = np.ones((4, 3), 'float32'), np.full((4, 1), 5, 'float32')\n\n\n"
)
_INIT = (
    "    def __init__(self):\n        super().__init__()\n"
    "        self.dense = keras.layers.Dense(1, kernel_initializer='zeros')\n{}\n"
    "    def call(self, x):\n        return self.dense(x)\n\n"
)
_TRAIN = (
    "    def train_step(self, data):\n        x, y = data\n"
    "        with tf.GradientTape() as tape:\n"
    "            loss = tf.reduce_mean((y - self(x, training=True)) ** 2)\n"
    "        gradients = tape.gradient(loss, self.trainable_variables)\n"
    "        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))\n"
)
_TEST = (
    "    def test_step(self, data):\n        x, y = data\n"
    "        loss = tf.reduce_mean((y - self(x, training=False)) ** 2)\n"
)
_CLASS = f"class Own(keras.Model):\n{_INIT}{_TRAIN}"
_LONE = "        return {'loss': loss}\n"
_COMPILED = "\n\nmodel = Own()\nmodel.compile('sgd')\n"
_FITTED = f"{_COMPILED}losses = model.fit(x, y, epochs=2, verbose=0).history['loss']\n"
_WHOLE = _HEAD + _CLASS.format("") + _LONE
_TRACKER = "        self.tracker = keras.metrics.Mean(name='loss')\n"
_TRACKED = (
    "        self.tracker.update_state(loss)\n        return {'loss': self.tracker.result()}\n"
)
_ROUNDED = "[round(float(each), 3) for each in losses]"

# A base of the file with the layers, and a class with the steps.
_BASE = f"class Base(keras.Model):\n{_INIT.format('')}\nclass Own(Base):\n{_TRAIN}"
_COMPUTED = _WHOLE.replace(
    "tf.reduce_mean((y - self(x, training=True)) ** 2)", "self.compute_loss(x, y, self(x))"
)
_SEVERAL = "[self.dense(x), self.dense(x)]"
_WITH_LOSS = _FITTED.replace("'sgd'", "'sgd', 'mse'")

VALID = [
    # It is kept in a metric.
    f"{_HEAD}{_CLASS.format(_TRACKER)}{_TRACKED}{_FITTED}",
    (
        f"{_HEAD}{_CLASS.format('')}        for each in self.metrics:\n"
        f"            each.update_state(loss)\n{_LONE}{_FITTED}"
    ),
    f"{_HEAD}{_CLASS.format('')}        self._loss_tracker.update_state(loss)\n{_LONE}{_FITTED}",
    # The names are others.
    f"{_HEAD}{_CLASS.format('')}        return {{'loss': loss, 'more': loss}}\n{_FITTED}",
    f"{_HEAD}{_CLASS.format('')}        return {{'reconstruction': loss}}\n{_FITTED}",
    f"{_HEAD}{_CLASS.format(_TRACKER.replace('loss', 'mean'))}{_LONE}{_FITTED}",
    (
        f"{_HEAD}{_CLASS.format('')}        logs = {{'loss': loss}}\n        logs['more'] = loss\n"
        f"        return logs\n{_FITTED}"
    ),
    f"{_WHOLE}\n    @property\n    def metrics(self):\n        return []\n{_FITTED}",
    # The step of Keras.
    f"{_HEAD}{_CLASS.format('')}        super().train_step(data)\n{_LONE}{_FITTED}",
    # The `train_step` of Keras makes the metrics of `compile` known.
    (
        f"{_HEAD}class Own(keras.Model):\n{_INIT.format('')}{_TEST}{_LONE}\n\nmodel = Own()\n"
        "model.compile('sgd', 'mse', metrics=['mae'])\nmodel.fit(x, y, validation_data=(x, y))\n"
    ),
    # Nobody replaces what is returned here.
    f"{_WHOLE}{_COMPILED}model.train_on_batch(x, y)",
    f"{_WHOLE}{_COMPILED}model.train_step((x, y))",
    _HEAD + _CLASS.format("        self.optimizer = keras.optimizers.SGD(0.1)\n") + _LONE,
    (
        _HEAD
        + _CLASS.format("\n    def compile(self, rate):\n        self.optimizer = rate\n")
        + _LONE
    ),
    # A model of several outputs has metrics for each.
    (
        f"{_COMPUTED}{_FITTED}".replace("self.dense(x)\n", f"{_SEVERAL}\n")
        .replace("'sgd'", "'sgd', ['mse', 'mse']")
        .replace("x, y, epochs", "x, [y, y], epochs")
    ),
    # A layer of one's own, or one that may give its states, too.
    f"{_COMPUTED}{_WITH_LOSS}".replace("keras.layers.Dense(1, ", "Own2(1, "),
    f"{_COMPUTED}{_WITH_LOSS}".replace("keras.layers.Dense(1, ", "keras.layers.LSTM(1, "),
    # The base keeps it, or an heir.
    f"{_HEAD}{_BASE.replace('self.dense =', 'self.metrics; self.dense =')}{_LONE}{_FITTED}",
    (
        f"{_WHOLE}\n\nclass Heir(Own):\n    @property\n    def metrics(self):\n        return []\n"
        f"{_FITTED}"
    ).replace("= Own()", "= Heir()"),
    f"{_HEAD}{_BASE}{_LONE}{_FITTED}".replace("keras.Model", "Unknown"),
    f"dict = make\n{_HEAD}{_CLASS.format('')}        return dict(loss=loss)\n{_FITTED}",
    f"{_HEAD}{_CLASS.format('')}        return dict(loss=loss, more=loss)\n{_FITTED}",
    f"{_WHOLE}{_FITTED}".replace(
        "model = Own()", "with tf.distribute.MirroredStrategy().scope():\n    model = Own()"
    ),
    f"{_WHOLE}{_FITTED}".replace("keras.Model", "Base"),
    f"{_WHOLE}{_FITTED}".replace("self, data", "self, x, y"),
    f"{_WHOLE}{_FITTED}".replace("import keras", "import tf_keras as keras"),
    f"{_WHOLE}{_FITTED}".replace("'loss': loss", "'loss': 0.0"),
]
INVALID = [
    Example(before=_WHOLE + _FITTED, on_keras_2=True, same=_ROUNDED),
    Example(
        before=_HEAD + _CLASS.format("") + "        return dict(loss=loss)\n" + _FITTED,
        on_keras_2=True,
        same=_ROUNDED,
    ),
    # The model is a class of the file.
    Example(before=_HEAD + _BASE + _LONE + _FITTED, on_keras_2=True, same=_ROUNDED),
    # `compute_loss` updates none, either, where the model has one output.
    Example(before=_COMPUTED + _WITH_LOSS, on_keras_2=True, same=_ROUNDED),
    # Both steps, with a `compile` of the class' own.
    Example(
        before=_HEAD.replace("import keras\n", "from tensorflow import keras\n")
        + _CLASS.format("\n    def compile(self, rate):\n        super().compile('sgd', 'mse')\n")
        + f"        logs = {{'loss': loss}}\n        return logs\n\n{_TEST}{_LONE}"
        + "\n\nmodel = Own()\nmodel.compile(0.1)\nmodel.fit(x, y, verbose=0)\n"
        "losses = [model.evaluate(x, y, verbose=0)]\n",
        findings=2,
        on_keras_2=True,
        same=_ROUNDED,
    ),
    Example(
        before=_WHOLE.replace("    def train_step", "    @tf.function\n    def train_step")
        + _FITTED.replace("'sgd'", "'sgd', 'mse', metrics=['mae']"),
        raises="ValueError: Cannot get result() since the metric has not yet been built.",
        on_keras_2=True,
        same=_ROUNDED,
    ),
]
