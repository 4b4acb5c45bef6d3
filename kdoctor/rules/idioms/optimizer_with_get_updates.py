"""A custom optimizer with `get_updates`, the protocol of Keras 1 and 2.

## What it does
Reports classes that descend from Keras' `Optimizer` and define `get_updates`, but not
`update_step`. If kdoctor understands every statement of the class, the fix rewrites it.

## Why it breaks
`get_updates(loss, params)` created the operations that update all variables. Keras 3 never calls
it: it calls `build` once and `update_step` for each variable. The class raises as soon as it is
instantiated, as the base class requires `learning_rate`, or at the first training step.

## What to write instead
An optimizer defines how one variable is updated, not all of them. `get_gradients` is not needed,
`self.updates` and `K.update(p, new)` become `self.assign(p, new)`, `self.weights` and `K.zeros`
become variables created in `build`, and Keras increments `self.iterations`:

    class Momentum(keras.optimizers.Optimizer):
        def __init__(self, learning_rate=0.01, momentum=0.9, **options):
            super().__init__(learning_rate, **options)
            self.momentum = momentum

        def build(self, variables):
            if not self.built:
                super().build(variables)
                self.velocities = [
                    self.add_variable_from_reference(each, name="velocity") for each in variables
                ]

        def update_step(self, gradient, variable, learning_rate):
            rate = keras.ops.cast(learning_rate, variable.dtype)
            velocity = self.velocities[self._get_variable_index(variable)]
            self.assign(velocity, self.momentum * velocity - rate * gradient)
            self.assign_add(variable, velocity)

        def get_config(self):
            return {**super().get_config(), "momentum": self.momentum}

Clipping (`clipnorm`), decay (a schedule as `learning_rate`) and weight constraints are handled by
Keras: remove them.

An optimizer that wraps another one, or needs the gradients of all variables at once, overrides
`apply`:

    class Lookahead(keras.optimizers.Optimizer):
        def __init__(self, optimizer, period=5, step=0.5, **options):
            super().__init__(options.pop("learning_rate", 0.0), **options)
            self.optimizer = keras.optimizers.get(optimizer)
            self.period, self.step = period, step

        def build(self, variables):
            if not self.built:
                super().build(variables)
                self.optimizer.build(variables)
                self.slow = [
                    self.add_variable_from_reference(each, name="slow") for each in variables
                ]

        def apply(self, grads, trainable_variables=None):
            if not self.built:
                self.build(trainable_variables)
            pairs = list(zip(self.slow, self._trainable_variables))
            first = keras.ops.equal(self.iterations, 0)
            for slow, fast in pairs:
                slow.assign(keras.ops.where(first, fast, slow))
            self.optimizer.apply(grads, trainable_variables)
            self.iterations.assign_add(1)
            meet = keras.ops.equal(self.iterations % self.period, 0)
            for slow, fast in pairs:
                slow.assign(keras.ops.where(meet, slow + self.step * (fast - slow), slow))
                fast.assign(keras.ops.where(meet, slow, fast))

        def get_config(self):
            inner = keras.optimizers.serialize(self.optimizer)
            own = {"optimizer": inner, "period": self.period, "step": self.step}
            return {**super().get_config(), **own}

Gradients of several batches are accumulated with `Adam(gradient_accumulation_steps=4)`, weight
decay is `AdamW(weight_decay=0.004)`, and `optimizer.exclude_from_weight_decay(var_names=["bias"])`.

The fix turns the loop over `zip(params, grads, ms, vs)` into `update_step` and moves what `K.zeros`
creates into `build`. It is unsafe: hyperparameters, which were variables, become numbers.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: `FTML`, `Padam` and `Yogi` of keras-contrib and the `Adam` of
keras-lookahead's tests, rewritten, train in 20 steps to the same weights as the old classes (the
largest difference is 5e-5: `1 - 0.999` was computed in float32). The two optimizers above are run
by a test.
"""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import defines
from kdoctor.model import Finding, Severity
from kdoctor.rules.idioms._optimizers.protocols import old_optimizers
from kdoctor.rules.idioms._optimizers.rewrite_class import finding
from kdoctor.rules.idioms._optimizers.updates import HOOK
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module

_HELP = (
    "Create the state in `build(self, variables)` with `self.add_variable_from_reference(each, "
    "name=…)`; move the body of the loop over variables into `update_step(self, gradient, "
    "variable, learning_rate)`, with `self.assign(variable, new)` for `K.update`; name the rate "
    "`learning_rate`, as in the base class's `get_config`, and pass it to `super().__init__`. "
    "`kdoctor explain KD512` shows such a class, and one that wraps another optimizer."
)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such class."""
    for optimizer in old_optimizers(module, facts, {HOOK}):
        yield finding(rule, module, facts, optimizer, _HELP)


rule = Rule(
    code="KD512",
    name="optimizer-with-get-updates",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers=defines(HOOK),
    since="3.0",
)

VALID = [
    # Both protocols.
    (
        "import keras\n\n\nclass Mine(keras.optimizers.Optimizer):\n"
        "    def get_updates(self, loss, params):\n        return []\n\n"
        "    def update_step(self, gradient, variable, learning_rate):\n        pass"
    ),
    "import keras\n\n\nclass Mine:\n    def get_updates(self, loss, params):\n        return []",
    # Keras 2 still.
    (
        "import tf_keras\n\n\nclass Mine(tf_keras.optimizers.legacy.Optimizer):\n"
        "    def get_updates(self, loss, params):\n        return []"
    ),
    (
        "import keras\n\nif keras.__version__.startswith('2'):\n\n"
        "    class Mine(keras.optimizers.Optimizer):\n"
        "        def get_updates(self, loss, params):\n            return []"
    ),
]
_OLD = """from keras import backend as K
from keras.optimizers import Optimizer


class Momentum(Optimizer):
    def __init__(self, lr=0.1, momentum=0.5, **kwargs):
        super(Momentum, self).__init__(**kwargs)
        with K.name_scope(self.__class__.__name__):
            self.iterations = K.variable(0, dtype="int64", name="iterations")
            self.lr = K.variable(lr, name="lr")
            self.momentum = K.variable(momentum, name="momentum")

    def get_updates(self, loss, params):
        grads = self.get_gradients(loss, params)
        self.updates = [K.update_add(self.iterations, 1)]
        moments = [K.zeros(K.int_shape(p), dtype=K.dtype(p)) for p in params]
        self.weights = [self.iterations] + moments
        for p, g, m in zip(params, grads, moments):
            v = self.momentum * m - self.lr * g  # the velocity
            self.updates.append(K.update(m, v))
            self.updates.append(K.update(p, p + v))
        return self.updates

    def get_config(self):
        config = {"lr": float(K.get_value(self.lr)), "momentum": float(K.get_value(self.momentum))}
        base_config = super(Momentum, self).get_config()
        return dict(list(base_config.items()) + list(config.items()))
"""
_NEW = """from keras import ops
from keras.optimizers import Optimizer


class Momentum(Optimizer):
    def __init__(self, learning_rate=0.1, momentum=0.5, **kwargs):
        super(Momentum, self).__init__(learning_rate=kwargs.pop("lr", learning_rate), **kwargs)
        self.momentum = momentum

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self._moments = [self.add_variable_from_reference(each, name="m") for each in variables]

    def update_step(self, g, p, learning_rate):
        g = ops.zeros_like(p) + g  # dense, if it was sparse
        m = self._moments[self._get_variable_index(p)]
        v = self.momentum * m - ops.cast(learning_rate, p.dtype) * g  # the velocity
        self.assign(m, v)
        self.assign(p, p + v)

    def get_config(self):
        config = {"momentum": float(self.momentum)}
        base_config = super(Momentum, self).get_config()
        return dict(list(base_config.items()) + list(config.items()))
"""
_USE = "\n\nmine = Momentum(lr=0.05)\n"
_TRAINED = """import keras
import numpy as np


def trained(optimizer):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile(optimizer, "mse")
    x, y = np.arange(8.0).reshape(4, 2) / 8, np.ones((4, 1))
    model.fit(x, y, batch_size=2, epochs=10, shuffle=False, verbose=0)
    return model.get_weights()


again = Momentum.from_config(mine.get_config())
for one, other in zip(trained(again), trained(keras.optimizers.SGD(0.05, momentum=0.5))):
    np.testing.assert_allclose(one, other, rtol=1e-5)
"""
INVALID = [
    Example(
        before=_OLD + _USE,
        after=_NEW + _USE,
        raises="TypeError: BaseOptimizer.__init__() missing 1 required positional argument",
        unsafe=True,
        check=_TRAINED,
    ),
    # What concerns all gradients at once has no place in `update_step`.
    Example(
        before="import keras\nfrom keras import backend as K\n\n\n"
        "class Normed(keras.optimizers.Optimizer):\n"
        "    def __init__(self, lr=0.1, **kwargs):\n        super().__init__(**kwargs)\n"
        "        self.lr = lr\n\n"
        "    def get_updates(self, loss, params):\n"
        "        grads = self.get_gradients(loss, params)\n"
        "        norm = sum(keras.ops.sum(g * g) for g in grads)\n        updates = []\n"
        "        for p, g in zip(params, grads):\n"
        "            updates.append((p, p - self.lr * g / norm))\n        return updates\n\n\n"
        "Normed()",
        raises="TypeError: BaseOptimizer.__init__() missing 1 required positional argument",
    ),
]
