"""What works on Keras 3 is never called an error, whichever rule looks at it.

One line for each pattern of old code that runs there (some with a warning, some with another
meaning, which `change` and `legacy` may say). Each of them is run, so that the list stays true.
"""

import pytest

from kdoctor.engine import scan
from kdoctor.model import Severity

PRELUDE = """
import keras
import numpy as np
import tensorflow as tf
from keras import layers

inputs = keras.Input((4,), name="data")
dense = layers.Dense(3)
outputs = dense(inputs)
model = keras.Model(inputs, outputs)
model.compile("sgd", "mse", metrics=["mae"])
x, y = np.ones((2, 4)), np.ones((2, 3))
model.fit(x, y, verbose=0)
optimizer = model.optimizer


class Mine(layers.Layer):
    def build(self, shape):
        self.w = self.add_weight((1,), "zeros", name="w")
        self.v = self.add_weight(shape=(1,), name="v")
        size = tf.TensorShape(shape).as_list()[-1]
        self.input_shape = shape
        self.output_shape = (size,)
        self.updates = []
        self.built = True

    def call(self, x):
        self.add_loss(0.1 * tf.reduce_sum(x))
        return x + tf.cast(self.w, x.dtype) * x.shape.as_list()[-1]
"""
FINE = {
    "accuracy by either name": "model.compile('sgd', 'mse', metrics=['acc', 'accuracy'])",
    "history of acc": (
        "model.compile('sgd', 'mse', metrics=['acc'])\nmodel.fit(x, y, verbose=0).history['acc']"
    ),
    "Lambda": "layers.Lambda(lambda t: tf.square(t) * 2, output_shape=(4,))(inputs)",
    "input_shape": "keras.Sequential([layers.Dense(3, input_shape=(4,))])",
    "input_dim": "keras.Sequential([layers.Dense(3, input_dim=4)])",
    "input_length": "layers.Embedding(5, 3, input_length=4)",
    "Embedding weights": "layers.Embedding(5, 3, weights=[np.ones((5, 3))])",
    "decay": "keras.optimizers.SGD(0.1, momentum=0.9, decay=1e-6, nesterov=True)",
    "clipnorm": "keras.optimizers.Adam(0.1, clipnorm=1.0, amsgrad=True)",
    "save to h5": "model.save('model.h5', include_optimizer=False)",
    "save to keras": "model.save('model.keras')",
    "save_weights": "model.save_weights('model.weights.h5')",
    "save_weights in shards": "model.save_weights('a.weights.json', max_shard_size=0.25)",
    "merged values": "layers.add([tf.ones((2, 3))] * 2).get_shape().as_list()",
    "own layer": "Mine()(inputs)\nMine()(x)",
    "attribute before super": (
        "class Early(layers.Layer):\n    def __init__(self):\n        self.size = 3\n"
        "        super().__init__()\n\n\nEarly()"
    ),
    "own losses": "model.losses, model.loss, Mine().losses",
    "private layers": "model._layers, dense._inbound_nodes, dense._outbound_nodes",
    "compiled_loss": "model.compiled_loss(y, model(x))",
    "loss lambda": "model.compile('sgd', lambda t, p: keras.ops.mean(t - p))",
    "history of a tensor": "outputs._keras_history[0], outputs._keras_history.operation",
    "ReduceLROnPlateau epsilon": "keras.callbacks.ReduceLROnPlateau(epsilon=1e-3)",
    "LambdaCallback": "keras.callbacks.LambdaCallback(on_batch_end=lambda b, logs: None)",
    "implementation": "layers.LSTM(3, implementation=2)",
    "recurrent reset": "layers.LSTM(3, stateful=True).reset_states()",
    "states": "layers.LSTM(3, stateful=True).states",
    "LeakyReLU alpha": "layers.LeakyReLU(alpha=0.1), layers.LeakyReLU(0.1), layers.ReLU(6.0)",
    "renorm": "layers.BatchNormalization(renorm=True)",
    "Input by keyword": "keras.Input(batch_shape=(2, 4)), keras.Input((4,), 2)",
    "InputLayer": "layers.InputLayer(input_shape=(4,)), layers.InputLayer(batch_input_shape=(2, 4))",
    "strides by position": "layers.Conv2D(8, 3, 3)",
    "wrapped input_shape": "layers.TimeDistributed(layers.Dense(2), input_shape=(3, 4))",
    "space in a name": "layers.Dense(3, name='my layer'), keras.metrics.Mean(name='a/b')",
    "regularizers": "keras.regularizers.l2(0.1), keras.regularizers.l1_l2(l1=0.1, l2=0.1)",
    "initializers": "layers.Dense(3, kernel_initializer='normal', bias_initializer='zero')",
    "Dot": "layers.Dot(axes=1, normalize=True)",
    "tensor operators": "outputs + 1, outputs[:, 0], outputs * np.ones(3), -outputs",
    "shape of a tensor": "outputs.shape[1], len(outputs.shape), list(outputs.shape), outputs.ndim",
    "shape of a weight": "dense.kernel.shape.as_list(), dense.kernel.numpy(), dense.kernel.name",
    "shape of an array": "x.shape[1], tf.constant(x).shape.as_list(), tf.constant(x).get_shape()",
    "shape of a model": "model.output_shape, model.input_shape",
    "inputs of a model": "model.inputs, model.outputs, model.input, model.output",
    "layer by index": "model.get_layer(index=1).output, model.get_layer('data').output",
    "optimizer": "optimizer.learning_rate, optimizer.iterations, optimizer.variables",
    "learning rate": "optimizer.learning_rate = 0.1\noptimizer.learning_rate.assign(0.2)",
    "prepared functions": "model.make_predict_function(), model.make_train_function()",
    "batches": "model.train_on_batch(x, y), model.test_on_batch(x, y), model.predict_on_batch(x)",
    "json": "keras.models.model_from_json(model.to_json())",
    "summary": "model.summary(line_length=80)",
    "reset_metrics": "model.reset_metrics()",
    "class weights": "model.fit(x, y[:, :1] * 0, class_weight={0: 1.0}, epochs=0)",
    "run_eagerly": "model.compile('sgd', 'mse', run_eagerly=True, weighted_metrics=['mae'])",
    "jit_compile": "model.compile('sgd', 'mse', jit_compile=True)",
    "names assigned": "model.name = 'mine'\nmodel.stop_training = True\ndense.trainable = False",
    "metric": "keras.metrics.Mean().reset_state()",
    "weight of a metric": "keras.metrics.Mean().add_weight(name='n', initializer='zeros')",
    "reduction": "keras.losses.MeanSquaredError(reduction='none')",
    "MeanIoU": "keras.metrics.MeanIoU(num_classes=2)",
    "checkpoint": "keras.callbacks.ModelCheckpoint('model.h5', monitor='val_loss')",
    "rate in the logs": "keras.callbacks.LearningRateScheduler(lambda epoch, lr: lr)",
    "train_step": (
        "class Trained(keras.Model):\n    def train_step(self, data):\n        x, y = data\n"
        "        loss = self.compiled_loss(y, self(x))\n        return {'loss': loss}\n\n\nTrained()"
    ),
    "state of a recurrent layer": (
        "layers.LSTM(3, return_state=True)(layers.Reshape((2, 2))(inputs), "
        "initial_state=[outputs, outputs])"
    ),
    "attention": "layers.MultiHeadAttention(2, 2)(keras.Input((3, 4)), keras.Input((3, 4)))",
    "applications": "keras.applications.MobileNet(weights=None, input_shape=(32, 32, 3))",
    "sequential of layers": "keras.Sequential([keras.Input((4,)), layers.Dense(1)]).layers.pop()",
    "custom objects": "keras.utils.get_custom_objects().update({'Mine': Mine})",
    "to_categorical": "keras.utils.to_categorical([0, 1], 3), keras.utils.to_categorical([0], "
    "num_classes=3)",
    "metrics of the compiled metrics": "model.metrics[1].metrics[0].result()",
    "lists of tensors": (
        "for split in (keras.ops.split, keras.ops.array_split, keras.ops.hsplit, keras.ops.vsplit):"
        "\n    len(split(keras.Input((4,), batch_size=2), 2))\n"
        "len(keras.ops.dsplit(keras.Input((2, 2)), 2)), len(keras.ops.unstack(inputs, axis=1))"
    ),
    "vocabulary of an embedding": "layers.ReversibleEmbedding(input_dim=10, output_dim=3)",
    "shape of a ragged tensor": (
        "rows = tf.ragged.constant([[1], [2, 3]])\nrows.to_tensor(shape=rows.shape.as_list())"
    ),
    "values that are annotated as symbolic": (
        "class Sorted(layers.Layer):\n    def sort(self, x: keras.KerasTensor):\n"
        "        self.size = x.get_shape().as_list()[-1]\n        return tf.sort(x)\n\n"
        "    def call(self, x):\n        return self.sort(x)\n\n\nSorted()(inputs)"
    ),
    "pop": "keras.Sequential([layers.Dense(1), layers.Dense(2)]).pop()",
}


@pytest.mark.parametrize("code", FINE.values(), ids=FINE.keys())
def test_what_works_is_no_error(code):
    result = scan(["-"], stdin=f"{PRELUDE}\n{code}\n".encode())

    errors = [each for each in result.findings if each.severity is Severity.ERROR]
    assert not result.unreadable
    assert [(each.code, each.message) for each in errors] == []


@pytest.mark.frameworks
def test_what_is_said_to_work_works(tmp_path, monkeypatch):
    import tensorflow as tf  # noqa: PLC0415

    monkeypatch.chdir(tmp_path)
    failed = {}
    for name, code in FINE.items():
        space = {"__name__": "fine"}
        # Each model is trained, for which it need not be compiled; what the line itself does is.
        tf.config.run_functions_eagerly(True)
        try:
            exec(compile(PRELUDE, "prelude", "exec"), space)  # noqa: S102
            tf.config.run_functions_eagerly(False)
            exec(compile(code, name, "exec"), space)  # noqa: S102
        except Exception as error:  # noqa: BLE001 - which one it is, is what the test shows
            failed[name] = f"{type(error).__name__}: {error}"[:200]
        finally:
            tf.config.run_functions_eagerly(False)
    assert failed == {}
