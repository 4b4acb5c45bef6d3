"""A custom optimizer with `_resource_apply_dense` and slots, the protocol of `tf.keras` up to 2.10.

## What it does
Reports classes that descend from Keras' `Optimizer` and define `_resource_apply_dense`,
`_resource_apply_sparse`, `_create_slots` or `_prepare_local`, but not `update_step`. If kdoctor
understands every statement of the class, the fix rewrites it.

## Why it breaks
Keras 3 calls none of these, and its base class has neither `_set_hyper`, `_get_hyper` and
`_decayed_lr` nor `add_slot` and `get_slot`. The class raises as soon as it is instantiated: the
first argument of the base class is now the learning rate instead of the name. A subclass of `Adam`
or another Keras optimizer inherits its `update_step`: it trains like a plain `Adam`, without what
the class adds.

## What to write instead

| `tf.keras` up to 2.10 | Keras 3 |
|---|---|
| `super().__init__(name, **kwargs)` | `super().__init__(learning_rate=…, name=name, **kwargs)` |
| `self._set_hyper("beta", beta)` | `self.beta = beta` |
| `self._get_hyper("beta", dtype)` | `keras.ops.cast(self.beta, dtype)` |
| `self._decayed_lr(dtype)` | `keras.ops.cast(learning_rate, dtype)` |
| `_create_slots(self, var_list)` | `build(self, variables)` |
| `self.add_slot(var, "m")` | `self.add_variable_from_reference(var, name="m")` |
| `self.get_slot(var, "m")` | `self.ms[self._get_variable_index(var)]` |
| `_resource_apply_dense(self, grad, var)` | `update_step(self, grad, var, learning_rate)` |
| `self._serialize_hyperparameter("beta")` | `self.beta` |

A complete class written this way, and one that wraps another optimizer: `kdoctor explain KD512`.

The base class has its own attributes: hyperparameters named `weight_decay`, `clipnorm` or `use_ema`
need another name, or Keras applies them too. Learning rate decay is a schedule.

With TensorFlow, `update_step` gets a `tf.Variable` whose `name` is `kernel:0`; the name with the
layer in it is `self._trainable_variables[self._get_variable_index(variable)].path`. The gradients
of embeddings are `tf.IndexedSlices`, and rows that occur twice are not summed.

The fix handles all of that: it writes `_decayed_lr` if the class had a `decay`, passes the
gradients of embeddings to the former `_resource_apply_sparse`, and renames clashing attributes. It
is unsafe: hyperparameters, which were variables, become numbers.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: eight optimizers of tensorflow-addons, `RAdam` of keras-radam
and the `AdamWarmup` of keras-bert, rewritten, train in 20 steps, with and without an embedding
layer, to the same weights as the old classes, most of them to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import defines
from kdoctor.model import Finding, Severity
from kdoctor.rules.idioms._optimizers.protocols import old_optimizers
from kdoctor.rules.idioms._optimizers.resource import DENSE, PREPARE, SLOTS, SPARSE
from kdoctor.rules.idioms._optimizers.rewrite_class import finding
from kdoctor.rules.idioms._optimizers.updates import HOOK
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module

_HOOKS = frozenset({DENSE, SPARSE, SLOTS, PREPARE})
_HELP = (
    "Create the slots in `build(self, variables)` with "
    "`self.add_variable_from_reference(variable, name=…)`; write the update as "
    "`update_step(self, gradient, variable, learning_rate)`; keep hyperparameters as plain "
    "attributes and pass `learning_rate` to `super().__init__`. `kdoctor explain KD511` lists "
    "the replacements, `kdoctor explain KD512` shows such a class."
)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such class; of one that has `get_updates` as well KD512 tells."""
    for optimizer in old_optimizers(module, facts, _HOOKS):
        if HOOK not in optimizer.methods:
            yield finding(rule, module, facts, optimizer, _HELP)


rule = Rule(
    code="KD511",
    name="optimizer-with-resource-apply",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers=defines(*_HOOKS),
    since="3.0",
)

VALID = [
    # For both.
    (
        "import keras\n\n\nclass Mine(keras.optimizers.Optimizer):\n"
        "    def _resource_apply_dense(self, grad, var):\n        pass\n\n"
        "    def update_step(self, gradient, variable, learning_rate):\n        pass"
    ),
    # Keras 2 still.
    (
        "import tf_keras\n\n\nclass Mine(tf_keras.optimizers.legacy.Optimizer):\n"
        "    def _resource_apply_dense(self, grad, var):\n"
        "        var.assign_sub(grad * self._decayed_lr(var.dtype))"
    ),
    # TensorFlow's own.
    (
        "import keras\nimport tensorflow as tf\n\n\nclass Mine(tf.compat.v1.train.Optimizer):\n"
        "    def _resource_apply_dense(self, grad, var):\n"
        "        return var.assign_sub(grad)"
    ),
    (
        "import keras\n\nif keras.__version__.startswith('2'):\n\n"
        "    class Mine(keras.optimizers.Optimizer):\n"
        "        def _create_slots(self, var_list):\n            self.add_slot(var_list[0], 'm')"
    ),
]
_OLD = """import tensorflow as tf


class Momentum(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, momentum=0.5, weight_decay=0.01, name="M", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("momentum", momentum)
        self.weight_decay = weight_decay  # not decoupled

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "velocity")

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        apply_state[(var_device, var_dtype)]["momentum"] = self._get_hyper("momentum", var_dtype)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        var_device, var_dtype = var.device, var.dtype.base_dtype
        coefficients = (apply_state or {}).get(
            (var_device, var_dtype)
        ) or self._fallback_apply_state(var_device, var_dtype)
        velocity = self.get_slot(var, "velocity")
        grad = grad + self.weight_decay * var
        step = coefficients["momentum"] * velocity - coefficients["lr_t"] * grad
        velocity_t = velocity.assign(step, use_locking=self._use_locking)
        return var.assign_add(velocity_t, use_locking=self._use_locking)

    def get_config(self):
        config = super().get_config()
        config.update(
            {
                "learning_rate": self._serialize_hyperparameter("learning_rate"),
                "decay": self._serialize_hyperparameter("decay"),
                "momentum": self._serialize_hyperparameter("momentum"),
                "weight_decay": self.weight_decay,
            }
        )
        return config
"""
_NEW = """import tensorflow as tf


class Momentum(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, momentum=0.5, weight_decay=0.01, name="M", **kwargs):
        decay = kwargs.pop("decay", 0.0)
        super().__init__(learning_rate=kwargs.pop("lr", learning_rate), name=name, **kwargs)
        self.decay = decay
        self.momentum = momentum
        self._weight_decay = weight_decay  # not decoupled

    def build(self, var_list):
        if self.built:
            return
        super().build(var_list)
        self._velocity_slots = []
        for var in var_list:
            self._velocity_slots.append(self.add_variable_from_reference(var, name="velocity"))

    def _coefficients(self, var_dtype):
        coefficients = {"lr_t": self._decayed_lr(var_dtype)}
        coefficients["momentum"] = tf.keras.ops.cast(self.momentum, var_dtype)
        return coefficients

    def _decayed_lr(self, dtype):
        steps = tf.keras.ops.cast(self.iterations, dtype)
        decay = tf.keras.ops.cast(self.decay, dtype)
        return tf.keras.ops.cast(self.learning_rate, dtype) / (1.0 + decay * steps)

    def update_step(self, grad, var, learning_rate):
        var_dtype = var.dtype
        coefficients = self._coefficients(var_dtype)
        velocity = self._velocity_slots[self._get_variable_index(var)]
        grad = grad + self._weight_decay * var
        step = coefficients["momentum"] * velocity - coefficients["lr_t"] * grad
        velocity_t = velocity.assign(step)
        return var.assign_add(velocity_t)

    def get_config(self):
        config = super().get_config()
        config.update(
            {
                "decay": self.decay,
                "momentum": self.momentum,
                "weight_decay": self._weight_decay,
            }
        )
        return config
"""
_USE = "\n\nmine = Momentum(0.05, decay=0.1)\n"
_TRAINED = """
import numpy as np


def trained(optimizer):
    kernel = tf.keras.layers.Dense(1, kernel_initializer="ones")
    model = tf.keras.Sequential([tf.keras.Input((2,)), kernel])
    model.compile(optimizer, "mse")
    x, y = np.arange(8.0).reshape(4, 2) / 8, np.ones((4, 1))
    model.fit(x, y, batch_size=2, epochs=10, shuffle=False, verbose=0)
    return [each.tolist() for each in model.get_weights()]


weights = trained(Momentum.from_config(mine.get_config()))
"""
INVALID = [
    Example(
        before=_OLD + _USE,
        after=_NEW + _USE,
        raises="ValueError: Argument `learning_rate` should be float",
        unsafe=True,
        check=_TRAINED,
        on_keras_2=True,
        same="weights",
    ),
    # A class that another of the user's classes is made of is left to a person, and so is what
    # Keras 3 has no place for.
    Example(
        before="import keras\n\n\nclass Clipped(keras.optimizers.Optimizer):\n"
        "    def __init__(self, learning_rate=0.1, name='Clipped', **kwargs):\n"
        "        super().__init__(name, **kwargs)\n"
        "        self._set_hyper('learning_rate', learning_rate)\n\n"
        "    def _aggregate_gradients(self, grads_and_vars):\n"
        "        return [grad for grad, _ in grads_and_vars]\n\n"
        "    def _resource_apply_dense(self, grad, var, apply_state=None):\n"
        "        return var.assign_sub(grad * self._decayed_lr(var.dtype))\n\n\nClipped()",
        raises="ValueError: Argument `learning_rate` should be float",
    ),
    # The updates are those of plain `SGD`.
    Example(
        before="import tensorflow as tf\n\n\nclass Halved(tf.keras.optimizers.SGD):\n"
        "    def _resource_apply_dense(self, grad, var, apply_state=None):\n"
        "        return super()._resource_apply_dense(grad / 2, var, apply_state)\n\n\n"
        "optimizer = Halved(0.5)\n",
        check="variable = tf.Variable(1.0)\n"
        "optimizer.apply_gradients([(tf.constant(1.0), variable)])\n"
        "assert float(variable) == 0.5",
    ),
    Example(
        before="import keras\n\n\nclass Slowed(keras.optimizers.Adam):\n"
        "    def __init__(self, slow=0.5, **kwargs):\n        super().__init__(**kwargs)\n"
        "        self._set_hyper('slow', slow)\n\n"
        "    def _prepare_local(self, var_device, var_dtype, apply_state):\n"
        "        super()._prepare_local(var_device, var_dtype, apply_state)\n\n\nSlowed()",
        raises="AttributeError: 'Slowed' object has no attribute '_set_hyper'",
    ),
]
