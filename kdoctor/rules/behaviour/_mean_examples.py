"""Examples of steps that update every `Mean` with predictions, and of correct ones."""

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
_TRACKER = "        self.tracker = keras.metrics.Mean(name='{}')\n"
_LISTED = "    @property\n    def metrics(self):\n        return [self.tracker]\n\n"
_STEP = (
    "    def train_step(self, data):\n        x, y = data\n"
    "        with tf.GradientTape() as tape:\n"
    "            y_pred = self(x, training=True)\n"
    "            loss = {}\n"
    "        gradients = tape.gradient(loss, self.trainable_variables)\n"
    "        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))\n"
)
_COMPILED = "self.compiled_loss(y, y_pred, regularization_losses=self.losses)"
_SQUARES = "tf.reduce_mean((y - y_pred) ** 2)"
_TEST = (
    "    def test_step(self, data):\n        x, y = data\n"
    "        y_pred = self(x, training=False)\n"
    f"        {_COMPILED}\n"
)
_UPDATE = "        self.compiled_metrics.update_state(y, y_pred)\n"
_TRACKED = "        self.tracker.update_state(loss)\n"
_RESULTS = "        return {m.name: m.result() for m in self.metrics}\n"
_RESULT = "        return {'loss': self.tracker.result()}\n"
_MODEL = "\n\nmodel = Own()\nmodel.compile('sgd', 'mse', metrics=['mae'])\n"
_FITTED = f"{_MODEL}history = model.fit(x, y, epochs=2, verbose=0).history\n"
_EVALUATED = f"{_MODEL}got = model.evaluate(x, y, verbose=0, return_dict=True)\n"

_CLASS = f"{_HEAD}class Own(keras.Model):\n{_INIT}"
_PLAIN = _CLASS.format("")
_USUAL = _PLAIN + _STEP.format(_COMPILED)
_KEEPS = _CLASS.format(_TRACKER.format("loss"))
_LOOP = (
    "        for metric in self.metrics:\n"
    '            if metric.name == "loss":\n'
    "                metric.update_state(loss)\n"
    "            else:\n"
    "                metric.update_state(y, y_pred)\n"
)
# What the logs of a run are: Keras 3 and 2 order them in other ways.
_LOSSES = "[round(float(each), 3) for each in history['loss']]"
_TOTALS = "[round(float(each), 3) for each in history['total']]"

VALID = [
    # The loop, and steps that leave the metrics of `compile` alone.
    f"{_USUAL}{_LOOP}{_RESULTS}{_FITTED}",
    f"{_KEEPS}{_LISTED}{_STEP.format(_SQUARES)}{_TRACKED}{_RESULT}{_FITTED}",
    # The loss that is returned is another, among more than the metrics.
    (
        f"{_USUAL}{_UPDATE}        logs = {{m.name: m.result() for m in self.metrics}}\n"
        f"        return {{**logs, 'loss': loss, 'twice': 2 * loss}}\n{_FITTED}"
    ),
    (
        f"{_USUAL}{_UPDATE}        logs = {{m.name: m.result() for m in self.metrics}}\n"
        f"        logs.update(loss=loss, twice=2 * loss)\n        return logs\n{_FITTED}"
    ),
    f"{_USUAL}{_UPDATE}        return {{'total': loss}}\n{_FITTED}",
    # It has what it needs after all.
    f"{_USUAL}{_UPDATE}        self._loss_tracker.update_state(loss)\n{_RESULTS}{_FITTED}",
    # Some of the metrics, chosen by what they are.
    (
        f"{_USUAL}{_UPDATE}        return {{m.name: m.result() for m in self.metrics if m.name in "
        f"self.shown}}\n{_FITTED}"
    ),
    # Metrics of the class' own that are no means, or are not listed, or not updated.
    (
        f"{_CLASS.format('        self.total = keras.metrics.Sum()')}{_LISTED}"
        f"{_STEP.format(_SQUARES)}        self.total.update_state(loss)\n{_UPDATE}"
        f"        return {{'total': self.total.result()}}\n{_FITTED}"
    ),
    (
        f"{_KEEPS}{_LISTED.replace('self.tracker', '')}{_STEP.format(_SQUARES)}{_TRACKED}{_UPDATE}"
        f"{_RESULT}{_FITTED}"
    ),
    f"{_KEEPS}{_STEP.format(_SQUARES)}{_UPDATE}        return {{'total': loss}}\n{_FITTED}",
    # A model of the user's that has its own, or decides by itself what is logged.
    (
        f"{_USUAL}{_UPDATE}{_RESULTS}\n    @property\n    def compiled_metrics(self):\n"
        f"        return self.mine\n{_FITTED}"
    ),
    (
        f"{_USUAL}{_UPDATE}{_RESULTS}\n    @property\n    def metrics(self):\n"
        f"        return self.mine\n{_FITTED}"
    ),
    (
        f"{_USUAL}{_UPDATE}{_RESULTS}\n    def compile(self, optimizer):\n"
        f"        self.optimizer = optimizer\n{_FITTED}"
    ),
    (
        f"{_USUAL}{_UPDATE}{_RESULTS}\n\nclass Heir(Own):\n    @property\n"
        f"    def metrics(self):\n        return []\n{_FITTED}"
    ),
    # What is asked is no model of Keras 3.
    f"{_USUAL}{_UPDATE}{_RESULTS}".replace("keras.Model", "Base"),
    f"{_USUAL}{_UPDATE}{_RESULTS}".replace("import keras", "import tf_keras as keras"),
    "import keras\nrun.compiled_metrics.update_state(1, 2)",
]
INVALID = [
    # The `train_step` and the `test_step` that were in every guide.
    Example(
        before=f"{_USUAL}{_UPDATE}{_RESULTS}{_FITTED}",
        after=f"{_USUAL}{_LOOP}{_RESULTS}{_FITTED}",
        unsafe=True,
        same=_LOSSES,
    ),
    Example(
        before=f"{_PLAIN}{_TEST}{_UPDATE}{_RESULTS}{_EVALUATED}",
        after=(
            f"{_PLAIN}{_TEST.replace(_COMPILED, 'loss = ' + _COMPILED)}{_LOOP}{_RESULTS}"
            f"{_EVALUATED}"
        ),
        unsafe=True,
        same="round(got['loss'], 3)",
    ),
    # A tracker that a property lists, and one that the model finds itself.
    Example(
        before=f"{_KEEPS}{_LISTED}{_STEP.format(_SQUARES)}{_TRACKED}{_UPDATE}{_RESULT}{_FITTED}",
        after=f"{_KEEPS}{_LISTED}{_STEP.format(_SQUARES)}{_TRACKED}{_RESULT}{_FITTED}",
        same=_LOSSES,
    ),
    Example(
        before=(
            f"{_CLASS.format(_TRACKER.format('total'))}{_STEP.format(_SQUARES)}{_TRACKED}{_UPDATE}"
            f"{_RESULTS}{_FITTED}"
        ),
        same=_TOTALS,
    ),
    # The loss is none of those that Keras computes; the logs are made by Keras, or have more.
    Example(
        before=(
            f"{_USUAL}{_UPDATE}        logs = {{m.name: m.result() for m in self.metrics}}\n"
            f"        logs['rate'] = self.optimizer.learning_rate\n        return logs\n{_FITTED}"
        ),
        after=(
            f"{_USUAL}{_LOOP}        logs = {{m.name: m.result() for m in self.metrics}}\n"
            f"        logs['rate'] = self.optimizer.learning_rate\n        return logs\n{_FITTED}"
        ),
        unsafe=True,
        same=_LOSSES,
    ),
    Example(
        before=f"{_PLAIN}{_STEP.format(_SQUARES)}{_UPDATE}{_RESULTS}{_FITTED}",
        check="assert set(history) <= {'mae'}",
        on_keras_2=True,
    ),
]

_KEEP = (
    "        for metric in self.metrics:\n"
    '            if metric.name == "loss":\n'
    "                metric.update_state(loss)\n"
)
_COMPUTED = "self.compute_loss(x, y, y_pred, None)"
_COPY = _PLAIN + _STEP.format(_COMPUTED)
_ALL = "        return self.compute_metrics(x, y, y_pred, None)\n"
_TESTED = _TEST.replace(_COMPILED, _COMPUTED)

NOT_KEPT = [
    f"{_COPY}{_KEEP}{_ALL}{_FITTED}",
    f"{_COPY}        self._loss_tracker.update_state(loss)\n{_ALL}{_FITTED}",
    # KD469 tells of it.
    f"{_COPY}{_UPDATE}{_RESULTS}{_FITTED}",
    # Another loss is returned, or one of the metrics.
    f"{_COPY}        logs = {_ALL.strip()[7:]}\n        return {{**logs, 'loss': loss}}\n{_FITTED}",
    f"{_COPY}        return {{'total': loss}}\n{_FITTED}",
    f"{_PLAIN}{_STEP.format(_SQUARES)}{_ALL}{_FITTED}",
    # The class has its own, or updates somewhere, or has heirs that do.
    (
        f"{_COPY}{_ALL}\n    def compute_loss(self, x, y, y_pred, sample_weight):\n"
        f"        return {_SQUARES}\n{_FITTED}"
    ),
    (
        f"{_COPY}{_ALL}\n    def compute_metrics(self, x, y, y_pred, sample_weight):\n"
        f"        return {{}}\n{_FITTED}"
    ),
    (
        f"{_COPY}        self.kept(loss)\n{_ALL}\n    def kept(self, loss):\n"
        f"        self.metrics[0].update_state(loss)\n{_FITTED}"
    ),
    (
        f"{_COPY}{_ALL}\n\nclass Heir(Own):\n    def train_step(self, data):\n"
        f"        logs = super().train_step(data)\n        return logs\n{_FITTED}"
    ),
    f"{_COPY}{_ALL}{_FITTED}".replace("(self, data)", "(self, state, data)"),
    f"{_COPY}{_ALL}{_FITTED}".replace("keras.Model", "Base"),
    f"{_COPY}{_ALL}{_FITTED}".replace("import keras", "import tf_keras as keras"),
]
KEPT_IN_NONE = [
    Example(
        before=f"{_COPY}{_ALL}{_FITTED}",
        after=f"{_COPY}{_KEEP}{_ALL}{_FITTED}",
        unsafe=True,
        same=_LOSSES,
    ),
    # The other metrics are not updated, either: there are none.
    Example(before=f"{_USUAL}{_RESULTS}{_FITTED}".replace(", metrics=['mae']", ""), same=_LOSSES),
    Example(
        before=f"{_PLAIN}{_TESTED}{_ALL}{_EVALUATED}",
        after=(
            f"{_PLAIN}{_TESTED.replace(_COMPUTED, 'loss = ' + _COMPUTED)}{_KEEP}{_ALL}{_EVALUATED}"
        ),
        unsafe=True,
        same="round(got['loss'], 3)",
    ),
    # It returns in two places.
    Example(
        before=(
            f"{_COPY}        if self.name == 'other':\n            return {{}}\n{_ALL}{_FITTED}"
        ),
        same=_LOSSES,
    ),
]
