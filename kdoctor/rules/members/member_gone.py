"""Members of models, layers, optimizers, metrics and tensors that Keras 2 had and the target lacks.

## What it does
Looks up every attribute that is read from an object of known class or kind in the API of the
target's release, and reports those that an earlier release's class had and the target's has not.

## Why it breaks
Keras 3 is written anew, and kept of its classes what is documented. `fit_generator` and its kin,
`predict_classes`, `layer.output_shape`, `get_output_at`, `add_update`, `optimizer.weights`,
`metric.reset_states` and some two hundred more are gone: `AttributeError: 'Sequential' object has
no attribute 'fit_generator'`. The class decides: `output_shape` is gone from layers and is still
there on models.

## What to write instead
`model.fit(generator)`, which takes what `fit_generator` took; `layer.output.shape`;
`metric.reset_state()`. `workers=`, `use_multiprocessing=` and `max_queue_size=` belong to the data
now: `class Mine(keras.utils.PyDataset)`, made with `Mine(workers=4, use_multiprocessing=True)`.

Where a member has no counterpart, the finding says what took its place: updates are made by
`variable.assign(…)` on the spot, extra metrics are objects that `call` or `train_step` updates,
losses of inner tensors are added by a layer:

    class Regularize(keras.layers.Layer):
        def call(self, x):
            self.add_loss(0.01 * keras.ops.mean(keras.ops.square(x)))
            return x

## How we know
The members of every release are read from its wheel; a class with a base that could not be read is
never said to lack anything. Each replacement was run; safe is what gave the same and lost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.kinds import Kind
from kdoctor.model import Applicability, Finding, Fix, Severity
from kdoctor.rewrite import MemberRewrite, MemberTable, Refusal
from kdoctor.rules.facts import Facts
from kdoctor.rules.members._advice import advice_for
from kdoctor.rules.members._owners import (
    asks_for_several_calls,
    attribute_error,
    last_release_with,
    owner_in_words,
    symbol,
)
from kdoctor.rules.members._rows import KINDS, ROWS
from kdoctor.rules.members._updates import update_fix
from kdoctor.rules.own_classes import stands_in_old_optimizer
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberUse, Module

_KINDS = frozenset(
    {
        *(Kind.MODEL, Kind.LAYER, Kind.OPTIMIZER, Kind.LOSS, Kind.METRIC, Kind.CALLBACK),
        *(Kind.TENSOR, Kind.VARIABLE),
    }
)
# Rules of their own tell more about these.
_ELSEWHERE = frozenset(
    {
        *("backend", "unique_object_name", "_keras_history"),
        *("get_gradients", "get_updates", "updates_with_grads", "lr"),
        "_keras_shape",
    }
)


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report each use of a member that is gone and that the user's own code does not define."""
    table = MemberTable(ROWS, KINDS, facts.signature)
    for use in module.members:
        if use.owner.kind not in _KINDS or use.member in _ELSEWHERE or use.owner_defines:
            continue
        if (use.owner.kind, use.member) == (Kind.MODEL, "reset_states"):
            continue  # KD208
        last = last_release_with(facts, use.owner, use.member)
        if last is None or module.is_guarded(use.node):
            continue
        if use.owner.kind is Kind.OPTIMIZER and stands_in_old_optimizer(module, use.node):
            continue  # KD511 and KD512 tell of the class as a whole
        yield _finding(module, facts, use, table, last)


def _finding(
    module: Module, facts: Facts, use: MemberUse, table: MemberTable, last: str
) -> Finding:
    advice = advice_for(use.owner.kind, use.member)
    special = update_fix(module, use)
    attempt = special or table.attempt(module, use, lambda row: _rated(facts, row))
    if use.member.endswith("_at") and asks_for_several_calls(module):
        attempt = Refusal("this file reads also what other calls of a layer gave")
    has_rows = bool(table.rows_for(use.owner, use.member))
    release = f" (last in Keras {last})" if last[1:] else ""
    return rule.finding(
        module.place(use.node),
        f"{owner_in_words(use.owner)} has no `{use.member}` any more{release}: "
        f"{attribute_error(use.owner, use.member)}",
        symbol=symbol(use.owner, use.member),
        confidence=use.confidence,
        help=advice.help,
        fix=attempt if isinstance(attempt, Fix) else None,
        no_fix_because=None
        if isinstance(attempt, Fix)
        else attempt.reason
        if has_rows
        else advice.no_fix_because,
    )


def _rated(facts: Facts, row: MemberRewrite) -> Applicability:
    """A row is proven by the examples that show its member."""
    return facts.applicability(
        *(
            each
            for each in INVALID
            if each.after is not None
            if f".{row.member}" in each.before and f".{row.member}" not in each.after
        )
    )


rule = Rule(
    code="KD205",
    name="member-gone",
    family="members",
    severity=Severity.ERROR,
    check=check,
    since="3.0",
)

VALID = [
    "import keras\nmodel = keras.Sequential()\nmodel.fit(generator, steps_per_epoch=3)",
    # A model has it; only layers have lost it.
    "import keras\nmodel = keras.Sequential()\nmodel.output_shape",
    "import tf_keras\nmodel = tf_keras.Sequential()\nmodel.fit_generator(generator)",
    "import keras\nmodel = read_somewhere()\nmodel.fit_generator(generator)",
    "import keras\nfrom agents import Agent\nAgent(keras.Sequential()).fit_generator(generator)",
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    def fit_generator(self, data):\n"
        "        return self.fit(data)\n\n\nMine().fit_generator(data)"
    ),
    (
        "import keras\nmodel = keras.Sequential()\nif hasattr(model, 'fit_generator'):\n"
        "    model.fit_generator(data)\nelse:\n    model.fit(data)"
    ),
    (
        "import keras\nmodel = keras.Sequential()\ntry:\n    model.fit_generator(data)\n"
        "except AttributeError:\n    model.fit(data)"
    ),
    # Recurrent layers have both names.
    "import keras\nkeras.layers.LSTM(3, stateful=True).reset_states()",
    # `tf.Variable` is TensorFlow's, and has it.
    "import keras\nimport tensorflow as tf\ntf.Variable(1.0).get_shape()",
    "import keras\nmodel = keras.Sequential()\nmodel.targets = [1]\nmodel.targets",
    "import keras\nmodel = keras.Sequential()\nmodel.anything_of_mine",
    # Built by calls, a class of models is functional, and has `inputs`.
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    def __init__(self, x, y):\n"
        "        super().__init__(inputs=x, outputs=y)\n\n    def show(self):\n"
        "        return self.inputs, self.outputs"
    ),
    "import keras\nagent.compile(optimizer, metrics=['mae'])\nagent.fit_generator(data)",
]
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
        after=f"{_MODEL}state = [keras.ops.convert_to_numpy(variable) "
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
        before=f"{_MODEL}print(model.total_loss)",
        raises="AttributeError: 'Sequential' object has no attribute 'total_loss'",
    ),
]
