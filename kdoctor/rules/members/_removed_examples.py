"""The examples of ``member_gone``: what each of its rewrites makes of a small program."""

from __future__ import annotations

from kdoctor.rules.rule import Example

_COUNTING = (
    "import keras\n\n\nclass Counting(keras.layers.Layer):\n    def build(self, shape):\n"
    "        self.count = self.add_weight(shape=(), initializer='zeros', trainable=False)\n"
    "        self.seen = self.add_weight(shape=(), initializer='zeros', trainable=False)\n\n"
    "    def call(self, x):\n        {}\n        return x\n\n\n"
    "counting = Counting()\ncounting(keras.ops.ones((2, 3)))\n"
)
_SCALED_STEP = (
    "import keras\nimport tensorflow as tf\n\n"
    "model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, dtype='mixed_float16')])\n"
    "optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1))\n\n\n"
    "@tf.function\ndef step():\n    with tf.GradientTape() as tape:\n"
    "        y = keras.ops.cast(model(keras.ops.ones((8, 4))), 'float32')\n"
    "        loss = keras.ops.mean((y - 1) ** 2)\n"
    "        scaled = optimizer.scale_loss(loss)\n"
    "    gradients = tape.gradient(scaled, model.trainable_variables)\n"
    "    gradients = {}\n"
    "    optimizer.apply_gradients(zip(gradients, model.trainable_variables))\n"
    "    return loss\n\n\nfirst = step()\n"
)
_PRIVATE = (
    "import keras\nimport numpy as np\n\n\nclass Mine(keras.layers.Layer):\n"
    "    def call(self, x):\n"
    "        return [self.{}, self.{}, self.{}, self.{}]\n\n\n"
    "layer = Mine(name='mine', dtype='float64')\n"
    "told = layer.call(np.ones((1, 2)))\n"
)
_MODEL = (
    "import keras\nimport numpy as np\n\n"
    "model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])\n"
    "model.compile('sgd', 'mse')\n"
)
_DATA = (
    "import numpy as np\n\n\ndef batches():\n    while True:\n"
    "        yield np.ones((2, 4)), np.ones((2, 3))\n"
)
_MINE = """

import sys
import types

import keras

sys.modules["mine"] = types.ModuleType("mine")
sys.modules["mine"].build = lambda: keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
"""
_BUILT = "import keras\n\nlayer = keras.layers.Dense(1)\nlayer.build((None, 1))\n"
_FUNCTIONAL = "import keras\n\nx = keras.Input((4,), name='data')\n"

INVALID = [
    Example(
        before=f"{_MODEL}history = model.fit_generator(batches(), steps_per_epoch=3, epochs=2)",
        after=f"{_MODEL}history = model.fit(batches(), steps_per_epoch=3, epochs=2)",
        raises="AttributeError: 'Sequential' object has no attribute 'fit_generator'",
        prelude=_DATA,
        check="assert len(history.history['loss']) == 2\nassert model.optimizer.iterations == 6",
    ),
    Example(
        before=f"{_MODEL}history = model.fit_generator(\n"
        "    batches(), 3, 2, 0, [], batches(), 1,\n"
        "    shuffle=False, max_queue_size=10,  # as it was\n    initial_epoch=1,\n)",
        after=f"{_MODEL}history = model.fit(\n"
        "    batches(), steps_per_epoch=3, epochs=2, verbose=0, callbacks=[], "
        "validation_data=batches(), validation_steps=1,\n"
        "    shuffle=False,  # as it was\n    initial_epoch=1,\n)",
        raises="AttributeError: 'Sequential' object has no attribute 'fit_generator'",
        prelude=_DATA,
        check="assert list(history.history) == ['loss', 'val_loss']\nassert history.epoch == [1]",
    ),
    Example(
        before=f"{_MODEL}model.fit_generator(batches(), 3, workers=4, use_multiprocessing=True)",
        after=f"{_MODEL}model.fit(batches(), steps_per_epoch=3)",
        raises="AttributeError: 'Sequential' object has no attribute 'fit_generator'",
        prelude=_DATA,
        unsafe=True,
    ),
    Example(
        before=f"{_MODEL}loss = model.evaluate_generator(batches(), 2, workers=1)",
        after=f"{_MODEL}loss = model.evaluate(batches(), steps=2, verbose=0)",
        raises="AttributeError: 'Sequential' object has no attribute 'evaluate_generator'",
        prelude=_DATA,
        check="assert abs(loss - np.mean((model.predict(np.ones((2, 4))) - 1) ** 2)) < 1e-5",
    ),
    Example(
        before=f"{_MODEL}y = model.predict_generator(batches(), steps=2, verbose=1)",
        after=f"{_MODEL}y = model.predict(batches(), steps=2, verbose=1)",
        raises="AttributeError: 'Sequential' object has no attribute 'predict_generator'",
        prelude=_DATA,
        check="assert y.shape == (4, 3)",
    ),
    Example(
        before=f"{_MODEL}y = model.predict_proba(np.ones((2, 4)))",
        after=f"{_MODEL}y = model.predict(np.ones((2, 4)), verbose=0)",
        raises="AttributeError: 'Sequential' object has no attribute 'predict_proba'",
        check="assert y.shape == (2, 3)",
    ),
    Example(
        before="import keras\n\nmodel = keras.Sequential()\nmodel.add(keras.layers.Dense(3))\n"
        "model.add(keras.layers.Activation('softmax'))\ny = model.predict_classes(x, verbose=1)",
        after="import keras\n\nmodel = keras.Sequential()\nmodel.add(keras.layers.Dense(3))\n"
        "model.add(keras.layers.Activation('softmax'))\n"
        "y = model.predict(x, verbose=1).argmax(axis=-1)",
        raises="AttributeError: 'Sequential' object has no attribute 'predict_classes'",
        prelude="import numpy as np\n\nx = np.ones((2, 4))",
        check="assert y.shape == (2,) and y.dtype.kind == 'i'",
    ),
    Example(
        before="import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1, 'sigmoid')])\n"
        "y = 1 - model.predict_classes(x, 8)",
        after="import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1, 'sigmoid')])\n"
        "y = 1 - (model.predict(x, batch_size=8, verbose=0) > 0.5).astype('int32')",
        raises="AttributeError: 'Sequential' object has no attribute 'predict_classes'",
        prelude="import numpy as np\n\nx = np.ones((2, 4))",
        check="assert y.shape == (2, 1) and y.dtype == 'int32'",
    ),
    Example(
        before=f"{_MODEL}copy = keras.models.clone_model(model)\ny = copy.predict_classes(x)",
        raises="AttributeError: ",
        prelude="x = None",
    ),
    Example(
        before=f"{_MODEL}model._make_predict_function()\ny = model.predict(np.ones((2, 4)))",
        after=f"{_MODEL}model.make_predict_function()\ny = model.predict(np.ones((2, 4)))",
        raises="AttributeError: 'Sequential' object has no attribute '_make_predict_function'",
        check="assert y.shape == (2, 3)",
    ),
    # What was private has a public name.
    Example(
        before=_PRIVATE.format("_name", "_dtype", "_compute_dtype", "_activity_regularizer"),
        after=_PRIVATE.format("name", "dtype", "compute_dtype", "activity_regularizer"),
        raises="AttributeError: 'Mine' object has no attribute '_name'",
        findings=4,
        on_keras_2=True,
        same="told",
    ),
    Example(
        before=f"{_MODEL}told = [model._name, model._dtype, model._compute_dtype]",
        after=f"{_MODEL}told = [model.name, model.dtype, model.compute_dtype]",
        raises="AttributeError: 'Sequential' object has no attribute '_name'",
        findings=3,
        on_keras_2=True,
        same="told",
    ),
    Example(
        before="import keras\n\nname = keras.metrics.Mean()._name",
        after="import keras\n\nname = keras.metrics.Mean().name",
        raises="AttributeError: 'Mean' object has no attribute '_name'",
        check="assert name == 'mean'",
    ),
    Example(
        before="import keras\n\nname = keras.optimizers.SGD(name='mine')._name",
        after="import keras\n\nname = keras.optimizers.SGD(name='mine').name",
        raises="AttributeError: 'SGD' object has no attribute '_name'",
        unsafe=True,
        check="assert name == 'mine'",
    ),
    # Nothing takes the place of these.
    Example(
        before=f"{_MODEL}policy = model._get_trainable_state()",
        raises="AttributeError: 'Sequential' object has no attribute '_get_trainable_state'",
    ),
    Example(
        before="import keras\n\nkeras.optimizers.SGD()._compute_gradients(1, [])",
        raises="AttributeError: 'SGD' object has no attribute '_compute_gradients'",
    ),
    Example(
        before=f"{_MODEL}compiled = model._is_compiled\nfed = len(model._feed_inputs)",
        after=f"{_MODEL}compiled = model.compiled\nfed = len(model.inputs)",
        raises="AttributeError: 'Sequential' object has no attribute '_is_compiled'",
        findings=2,
        same="compiled, fed",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.Dense(3)\nlayer(keras.Input((4,)))\n"
        "shape = layer.output_shape",
        after="import keras\n\nlayer = keras.layers.Dense(3)\nlayer(keras.Input((4,)))\n"
        "shape = layer.output.shape",
        raises="AttributeError: 'Dense' object has no attribute 'output_shape'",
        check="assert shape == (None, 3)",
        unsafe=True,
    ),
    Example(
        before=f"{_MODEL}shapes = [(each.input_shape, each.get_output_shape_at(0)) "
        "for each in model.layers]",
        after=f"{_MODEL}shapes = [(each.input.shape, each.output.shape) for each in model.layers]",
        raises="AttributeError: ",
        check="assert shapes == [((None, 4), (None, 3))]",
        findings=2,
        unsafe=True,
    ),
    Example(
        before=f"{_MODEL}inner = keras.Model(model.inputs, model.layers[-1].get_output_at(0))",
        after=f"{_MODEL}inner = keras.Model(model.inputs, model.layers[-1].output)",
        raises="AttributeError: ",
        check="assert inner(np.ones((2, 4))).shape == (2, 3)",
        unsafe=True,
    ),
    Example(
        before=f"{_MODEL}model.layers[-1].get_output_at(1)",
        raises="AttributeError: ",
    ),
    Example(
        before="import keras\nfrom mine import build\n\nmodel = build()\n"
        "model.compile('sgd', loss='mse')\nmodel.predict_generator(batches(), 2)",
        after="import keras\nfrom mine import build\n\nmodel = build()\n"
        "model.compile('sgd', loss='mse')\nmodel.predict(batches(), steps=2, verbose=0)",
        raises="AttributeError: ",
        prelude=f"{_DATA}{_MINE}",
    ),
    Example(
        before=f"{_FUNCTIONAL}layer = keras.layers.Dense(2)\ny, z = layer(x), layer(y)\n"
        "both = layer.get_output_at(0), layer.get_output_at(1)",
        raises="AttributeError: 'Dense' object has no attribute 'get_output_at'",
        prelude="import keras\n\ny = keras.Input((4,))",
        findings=2,
    ),
    Example(
        before=f"{_FUNCTIONAL}model = keras.Model(x, keras.layers.Dense(2)(x))\n"
        "names = model.input_names",
        after=f"{_FUNCTIONAL}model = keras.Model(x, keras.layers.Dense(2)(x))\n"
        "names = [tensor.name for tensor in model.inputs]",
        raises="AttributeError: 'Functional' object has no attribute 'input_names'",
        check="assert names == ['data']",
    ),
    Example(
        before=f"{_FUNCTIONAL}shape = x.get_shape()",
        after=f"{_FUNCTIONAL}shape = x.shape",
        raises="AttributeError: 'KerasTensor' object has no attribute 'get_shape'",
        check="assert shape == (None, 4)",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.Dense(3)\nlayer.build((None, 4))\n"
        "shape = layer.kernel.get_shape()",
        after="import keras\n\nlayer = keras.layers.Dense(3)\nlayer.build((None, 4))\n"
        "shape = layer.kernel.shape",
        raises="AttributeError: 'Variable' object has no attribute 'get_shape'",
        check="assert tuple(shape) == (4, 3)",
    ),
    Example(
        before=f"{_BUILT}total = sum(layer.bias.read_value())",
        after=f"{_BUILT}total = sum(layer.bias.value)",
        raises="AttributeError: 'Variable' object has no attribute 'read_value'",
        check="assert total == 0.0",
    ),
    Example(
        before=f"{_BUILT}before = layer.bias.read_value()\nlayer.bias.assign_add([1.0])\n"
        "grown = float((layer.bias - before)[0])",
        after=f"{_BUILT}before = keras.ops.copy(layer.bias)\nlayer.bias.assign_add([1.0])\n"
        "grown = float((layer.bias - before)[0])",
        raises="AttributeError: 'Variable' object has no attribute 'read_value'",
        check="assert grown == 1.0",
    ),
    Example(
        before="import keras\n\nmean = keras.metrics.Mean()\nmean.update_state(3.0)\n"
        "mean.reset_states()",
        after="import keras\n\nmean = keras.metrics.Mean()\nmean.update_state(3.0)\n"
        "mean.reset_state()",
        raises="AttributeError: 'Mean' object has no attribute 'reset_states'",
        check="assert mean.result() == 0",
    ),
    Example(
        before="import keras\n\nmean = keras.metrics.Mean()\ncount = len(mean.weights)",
        after="import keras\n\nmean = keras.metrics.Mean()\ncount = len(mean.variables)",
        raises="AttributeError: 'Mean' object has no attribute 'weights'",
        check="assert count == 2",
    ),
    Example(
        before="import keras\n\n\nclass Counting(keras.layers.Layer):\n"
        "    def build(self, shape):\n"
        "        self.count = self.add_weight(shape=(), initializer='zeros', trainable=False)\n\n"
        "    def call(self, x):\n"
        "        self.add_update(self.count.assign(self.count + 1))\n"
        "        return x\n\n\n"
        "counting = Counting()\ncounting(keras.ops.ones((2, 3)))",
        after="import keras\n\n\nclass Counting(keras.layers.Layer):\n"
        "    def build(self, shape):\n"
        "        self.count = self.add_weight(shape=(), initializer='zeros', trainable=False)\n\n"
        "    def call(self, x):\n"
        "        self.count.assign(self.count + 1)\n"
        "        return x\n\n\n"
        "counting = Counting()\ncounting(keras.ops.ones((2, 3)))",
        raises="AttributeError: ",
        check="assert counting.count == 1",
        unsafe=True,
    ),
    Example(
        before="import keras\n\nlookup = keras.layers.StringLookup(vocabulary=['a', 'b'])\n"
        "numbers = keras.layers.IntegerLookup(vocabulary=[7, 8, 9])\n"
        "counts = lookup.vocab_size(), numbers.vocab_size()",
        after="import keras\n\nlookup = keras.layers.StringLookup(vocabulary=['a', 'b'])\n"
        "numbers = keras.layers.IntegerLookup(vocabulary=[7, 8, 9])\n"
        "counts = lookup.vocabulary_size(), numbers.vocabulary_size()",
        raises="AttributeError: 'StringLookup' object has no attribute 'vocab_size'",
        check="assert counts == (3, 4)",
        findings=2,
        on_keras_2=True,
        same="counts",
    ),
    Example(
        before="import keras\n\n\nclass Stop(keras.callbacks.Callback):\n"
        "    def on_train_begin(self, logs=None):\n"
        "        x = self.validation_data[0]\n\n\nStop().on_train_begin()",
        raises="AttributeError: 'Stop' object has no attribute 'validation_data'",
    ),
    Example(
        before=f"{_MODEL}json = model.to_yaml()",
        after=f"{_MODEL}json = model.to_json()",
        raises="AttributeError: 'Sequential' object has no attribute 'to_yaml'",
        check="keras.models.model_from_json(json)",
        unsafe=True,
    ),
    Example(
        before=f"{_MODEL}state = model.optimizer.get_weights()",
        after=f"{_MODEL}state = [keras.ops.convert_to_numpy(variable)[()] "
        "for variable in model.optimizer.variables]",
        raises="AttributeError: ",
        check="assert state[0] == 0",
        unsafe=True,
    ),
    Example(
        before="import keras\n\noptimizer = keras.mixed_precision.LossScaleOptimizer("
        "keras.optimizers.SGD())\noptimizer.build([])\n"
        "scaled = optimizer.get_scaled_loss(keras.ops.ones(()))",
        after="import keras\n\noptimizer = keras.mixed_precision.LossScaleOptimizer("
        "keras.optimizers.SGD())\noptimizer.build([])\n"
        "scaled = optimizer.scale_loss(keras.ops.ones(()))",
        raises="AttributeError: 'LossScaleOptimizer' object has no attribute 'get_scaled_loss'",
        check="assert scaled == 2.0**15",
    ),
    # A pair, or a function, is no statement of its own.
    Example(
        before=_COUNTING.format(
            "self.add_update([(self.count, self.count + 1), (self.seen, x[0, 0])], x)"
        ),
        after=_COUNTING.format(
            "self.count.assign(self.count + 1)\n        self.seen.assign(x[0, 0])"
        ),
        raises="AttributeError: ",
        check="assert (counting.count, counting.seen) == (1, 1)",
        unsafe=True,
    ),
    Example(
        before=_COUNTING.format("self.add_update(lambda: self.count.assign_add(1))"),
        after=_COUNTING.format("self.count.assign_add(1)"),
        raises="AttributeError: ",
        check="assert counting.count == 1",
        unsafe=True,
    ),
    # A loop of one's own with mixed precision: `apply` unscales, and skips what is not finite.
    Example(
        before=_SCALED_STEP.format("optimizer.get_unscaled_gradients(gradients)"),
        after=_SCALED_STEP.format("gradients"),
        raises="AttributeError: ",
        check="assert first > step() > step()",
        unsafe=True,
    ),
    Example(
        before=f"{_MODEL}options = {{'epochs': 2, 'verbose': 0}}\n"
        "history = model.fit_generator(generator=batches(), steps_per_epoch=3, **options)",
        after=f"{_MODEL}options = {{'epochs': 2, 'verbose': 0}}\n"
        "history = model.fit(x=batches(), steps_per_epoch=3, **options)",
        raises="AttributeError: 'Sequential' object has no attribute 'fit_generator'",
        prelude=_DATA,
        check="assert history.epoch == [0, 1]\nassert model.optimizer.iterations == 6",
        unsafe=True,
    ),
    Example(
        before=f"{_MODEL}model.fit_generator(Batches(), class_weight={{0: 1.0}})",
        after=f"{_MODEL}model.fit(Batches(), class_weight={{0: 1.0}})",
        raises="AttributeError: 'Sequential' object has no attribute 'fit_generator'",
        prelude=_DATA + "\n\nimport keras\n\n\nclass Batches(keras.utils.PyDataset):\n"
        "    def __len__(self):\n        return 2\n\n    def __getitem__(self, index):\n"
        "        return np.ones((2, 4)), np.zeros((2, 3))\n",
        check="assert model.optimizer.iterations == 2",
        unsafe=True,
    ),
    # No function takes the phase any more: what was added for it goes.
    Example(
        before=f"{_MODEL}inputs = list(model.inputs)\nif model.uses_learning_phase:\n"
        "    inputs.append('phase')\n",
        after=f"{_MODEL}inputs = list(model.inputs)\nif False:\n    inputs.append('phase')\n",
        raises="AttributeError: 'Sequential' object has no attribute 'uses_learning_phase'",
        check="assert keras.Function(inputs, model.outputs)([np.ones((2, 4))])[0].shape == (2, 3)",
        unsafe=True,
    ),
    Example(
        before=f"{_FUNCTIONAL}y = keras.layers.Dropout(0.5)(x)\nflag = y._uses_learning_phase",
        after=f"{_FUNCTIONAL}y = keras.layers.Dropout(0.5)(x)\nflag = False",
        raises="AttributeError: 'KerasTensor' object has no attribute '_uses_learning_phase'",
        unsafe=True,
    ),
    Example(
        before=f"{_MODEL}print(model.total_loss)",
        raises="AttributeError: 'Sequential' object has no attribute 'total_loss'",
    ),
]
