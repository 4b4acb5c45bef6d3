"""Where there is no fix the help says what to write: it is followed to the letter, and it runs.

Each case is old code, words of the help that it was mended by, and what a person made of them.
"""

import pytest

from kdoctor.engine import scan

MODEL = """
import keras
import numpy as np

x, y = np.ones((4, 4), "float32"), np.ones((4, 3), "float32")
inputs = keras.Input((4,))
hidden = keras.layers.Dense(3)(inputs)
"""
COMPILED = """
model = keras.Model(inputs, hidden)
model.compile("sgd", "mse", metrics=["mae"])
model.evaluate(x, y, verbose=0)
"""
TRAINED = """
import keras
import numpy as np
import tensorflow as tf

x, y = np.ones((4, 4), "float32"), np.full((4, 1), 9, "float32")


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)
{made}
    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((y - self(x)) ** 2)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        {returned}


model = Own()
"""
HUB = """
import tempfile

import keras
import numpy as np
import tensorflow as tf
import tensorflow_hub as hub

made = tf.train.Checkpoint(v=tf.Variable(tf.ones((4, 2))))
made.__call__ = tf.function(
    lambda x: x @ made.v, input_signature=[tf.TensorSpec((None, 4), tf.float32)]
)
handle = tempfile.mkdtemp()
tf.saved_model.save(made, handle)
x, y = np.ones((4, 4), "float32"), np.ones((4, 1), "float32")
layer = hub.KerasLayer(handle)
"""
CASES = {
    "a layer of TensorFlow Hub": (
        HUB + "model = keras.Sequential([keras.Input((4,)), layer, keras.layers.Dense(1)])",
        "where it is not trained, `keras.layers.Lambda(lambda x: layer(x))` calls it",
        HUB
        + """
called = keras.layers.Lambda(lambda x: layer(x))
model = keras.Sequential([keras.Input((4,)), called, keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y, verbose=0)
np.testing.assert_allclose(called(x), 4 * np.ones((4, 2)))
""",
    ),
    "a loss of an inner tensor": (
        MODEL
        + """
model = keras.Model(inputs, hidden)
model.add_loss(lambda: keras.ops.mean(hidden))
""",
        "runs `self.add_loss(value)` and returns `x`",
        MODEL
        + """
class Mine(keras.layers.Layer):
    def call(self, x):
        value = keras.ops.mean(x)
        self.add_loss(value)
        return x


hidden = Mine()(hidden)
model = keras.Model(inputs, hidden)
model.compile("sgd", "mse")
loss = model.evaluate(x, y, verbose=0)
predicted = model.predict(x, verbose=0)
assert abs(loss - np.mean((predicted - y) ** 2) - predicted.mean()) < 1e-5
""",
    ),
    "a metric of a layer": (
        MODEL
        + """
class Mine(keras.layers.Layer):
    def call(self, x):
        self.add_metric(keras.ops.mean(x), name="mean")
        return x
""",
        "In `__init__` write `self.seen = keras.metrics.Mean(name=…)`",
        MODEL
        + """
class Mine(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.seen = keras.metrics.Mean(name="mean")

    def call(self, x):
        self.seen.update_state(keras.ops.mean(x))
        return x


model = keras.Model(inputs, Mine()(hidden))
model.compile("sgd", "mse")
result = model.evaluate(x, y, verbose=0, return_dict=True)
assert abs(result["mean"] - model.predict(x, verbose=0).mean()) < 1e-5
""",
    ),
    "other outputs": (
        MODEL + COMPILED + "model.outputs = [model.layers[0].output]",
        "Build a new model: `keras.Model(model.inputs, outputs)`.",
        MODEL
        + COMPILED
        + """
outputs = [model.layers[0].output]
model = keras.Model(model.inputs, outputs)
assert (model.predict(x, verbose=0)[0] == x).all()
""",
    ),
    "a callback's model": (
        MODEL
        + COMPILED
        + """
class Mine(keras.callbacks.Callback):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def set_model(self, model):
        super().set_model(model)
        self.layers = len(model.layers)
""",
        "`callback.set_model(model)`. Use another name for your own.",
        MODEL
        + COMPILED
        + """
class Mine(keras.callbacks.Callback):
    def __init__(self, model):
        super().__init__()
        self.other = model

    def set_model(self, model):
        super().set_model(model)
        self.layers = len(model.layers)


callback = Mine(model)
callback.set_model(model)
assert callback.model is callback.other and callback.layers == 2
model.fit(x, y, callbacks=[callback], verbose=0)
""",
    ),
    "the metrics of compile": (
        MODEL + COMPILED + "metrics = model.compiled_metrics.metrics",
        "`[metric for each in model.metrics for metric in getattr(each, 'metrics', [each])]`",
        MODEL
        + COMPILED
        + """
metrics = [metric for each in model.metrics for metric in getattr(each, 'metrics', [each])]
assert [each.name for each in metrics] == ["loss", "mae"]
assert sorted(model.get_metrics_result()) == ["loss", "mae"]
""",
    ),
    "weights for a layer": (
        MODEL + "layer = keras.layers.Dense(3, weights=list(np.ones((1, 4, 3))))",
        "`layer.build(shape)`, then `layer.set_weights(weights)`",
        MODEL
        + """
layer = keras.layers.Dense(3)
layer.build(inputs.shape)
layer.set_weights([np.ones((4, 3)), np.zeros(3)])
assert (keras.Model(inputs, layer(inputs)).predict(x, verbose=0) == 4).all()
""",
    ),
    "a step by hand": (
        MODEL
        + COMPILED
        + "model.optimizer.compute_gradients(lambda: model(x), model.trainable_weights)",
        (
            "`with tf.GradientTape() as tape: loss = …`, then `optimizer.apply(tape.gradient(loss, "
            "variables), variables)`"
        ),
        MODEL
        + COMPILED
        + """
import tensorflow as tf

optimizer, variables = model.optimizer, model.trainable_variables
with tf.GradientTape() as tape:
    loss = keras.ops.mean(model(x) ** 2)
optimizer.apply(tape.gradient(loss, variables), variables)
assert keras.ops.mean(model(x) ** 2) < loss
""",
    ),
    "a decay of the rate": (
        "import keras\noptimizer = keras.optimizers.Adam(0.1)\nrate = optimizer.decay",
        "`Adam(InverseTimeDecay(rate, 1, decay))` of `keras.optimizers.schedules`",
        """
from keras.optimizers import Adam
from keras.optimizers.schedules import InverseTimeDecay

rate, decay = 0.1, 0.5
optimizer = Adam(InverseTimeDecay(rate, 1, decay))
assert abs(float(optimizer.learning_rate) - 0.1) < 1e-6
""",
    ),
    "a placeholder of no shape": (
        "from keras import backend as K\n\nx = K.placeholder(None)",
        "where `shape` is None, write `(None,) * rank`",
        """
import keras
import numpy as np

x = keras.Input(batch_shape=(None,) * 2)
assert keras.Function(x, keras.ops.sum(x))(np.ones((2, 3))) == 6
""",
    ),
    "a placeholder of any rank": (
        "from keras import backend as K\n\nx = K.placeholder(None)",
        "`@tf.function(input_signature=[tf.TensorSpec(None, dtype)])`",
        """
import keras
import tensorflow as tf


@tf.function(input_signature=[tf.TensorSpec(None, "float32")])
def total(x):
    return keras.ops.sum(x)


assert total(tf.ones((2, 3))) == 6
assert total(tf.ones(4)) == 4
""",
    ),
    "noise while training": (
        """
import keras
from keras import backend as K


class Noise(keras.layers.Layer):
    def noisy(self, x):
        return K.in_train_phase(x + keras.random.normal(keras.ops.shape(x)), x)

    def call(self, x):
        return self.noisy(x)
""",
        "take `training` as an argument of `call` and branch on it: `x if training else alt`",
        """
import keras
import numpy as np


class Noise(keras.layers.Layer):
    def noisy(self, x, training):
        return x + keras.random.normal(keras.ops.shape(x)) if training else x

    def call(self, x, training=False):
        return self.noisy(x, training)


model, x = keras.Sequential([keras.Input((2,)), Noise()]), np.ones((2, 2), "float32")
assert (model.predict(x, verbose=0) == 1).all()
assert keras.ops.all(model(x, training=True) != 1)
""",
    ),
    "a copy of a weight": (
        MODEL
        + """
model = keras.Model(inputs, hidden)
copy = keras.Variable(model.weights[0].initialized_value())
""",
        "`keras.ops.convert_to_numpy(variable)`",
        MODEL
        + """
model = keras.Model(inputs, hidden)
copy = keras.Variable(keras.ops.convert_to_numpy(model.weights[0]))
assert keras.ops.all(copy == model.weights[0])
""",
    ),
    "how replicas share a metric's variable": (
        """
import keras
import tensorflow as tf


class Count(keras.metrics.Metric):
    def __init__(self, aggregation=tf.VariableAggregation.SUM):
        super().__init__()
        self.total = self.add_weight("total", initializer="zeros", aggregation=aggregation)
""",
        "In a metric, write `self.add_variable(shape, initializer, aggregation=…, name=…)`",
        """
import keras


class Count(keras.metrics.Metric):
    def __init__(self):
        super().__init__()
        self.total = self.add_variable(
            (), "zeros", aggregation="only_first_replica", name="total"
        )

    def update_state(self, values, sample_weight=None):
        self.total.assign(self.total + keras.ops.size(values))

    def result(self):
        return self.total


seen = Count()
seen.update_state([1, 2, 3])
assert seen.result() == 3
""",
    ),
    "a loss that no metric has": (
        TRAINED.format(made="", returned="return {'loss': loss}"),
        'Create `self.loss_tracker = keras.metrics.Mean(name="loss")`',
        TRAINED.format(
            made="""
        self.loss_tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_tracker]

    def test_step(self, data):
        x, y = data
        return self.tracked(tf.reduce_mean((y - self(x)) ** 2))

    def tracked(self, loss):
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}
""",
            returned="return self.tracked(loss)",
        )
        + """
model.compile("sgd", "mse", metrics=["mae"])
assert model.fit(x, y, verbose=0).history["loss"][0] > 0
assert model.evaluate(x, y, verbose=0) > 0
""",
    ),
    "the phase of all models": (
        MODEL + "keras.backend.set_learning_phase(True)",
        "pass training=True or False where the model is called",
        MODEL
        + """
model = keras.Model(inputs, keras.layers.Dropout(0.5)(inputs))
assert keras.ops.any(model(np.ones((9, 4)), training=True) == 0)
assert keras.ops.all(model(np.ones((9, 4)), training=False) == 1)
""",
    ),
}


@pytest.mark.parametrize(("old", "words"), [each[:2] for each in CASES.values()], ids=CASES)
def test_the_help_says_so(old, words):
    findings = scan(["-"], stdin=old.encode()).findings

    assert any(words in each.help and each.fix is None for each in findings)


@pytest.mark.parametrize("new", [each[2] for each in CASES.values()], ids=CASES)
def test_what_is_left_is_no_error(new):
    assert [each.message for each in scan(["-"], stdin=new.encode()).findings] == []


@pytest.mark.frameworks
@pytest.mark.parametrize("new", [each[2] for each in CASES.values()], ids=CASES)
def test_running_what_a_person_makes_of_it_raises_nothing(new):
    exec(compile(new, "mended", "exec"), {"__name__": "mended"})  # noqa: S102


@pytest.mark.frameworks
@pytest.mark.parametrize("old", [each[0] for each in CASES.values() if "class" not in each[0]])
def test_what_was_there_does_not_run(old):
    with pytest.raises((AttributeError, NotImplementedError, ValueError)):
        exec(compile(old, "old", "exec"), {"__name__": "old"})  # noqa: S102
