"""A loss or metric uses a symbolic tensor of the model: `z_mean` of an encoder.

## What it does
Reports Keras functions (`K.square(z_mean)`, `keras.ops.exp(z_log_var)`, `mse(inputs, y_pred)`) and
operators (`error + kl_loss`) in a loss or metric that are applied to a symbolic tensor from outside
it: a `keras.Input`, or the output of layers. TensorFlow functions are reported by KD503.

## Why it breaks
Keras 2 could compute the loss in the graph of the model, where such a tensor was like any other.
Keras 3 calls a loss with the values of `y_true` and `y_pred`, but the symbolic tensor has none:
`ValueError: A KerasTensor cannot be used as input to a TensorFlow function.`, or `TypeError: Failed
to convert elements of (None, 2) to Tensor.`

## What to write instead
A layer that receives the tensors and adds their part of the loss to the model:

    class KLDivergence(keras.Layer):
        def call(self, inputs):
            mean, log_var = inputs
            terms = 1 + log_var - ops.square(mean) - ops.exp(log_var)
            self.add_loss(-0.5 * ops.mean(ops.sum(terms, axis=-1)))
            return inputs

    z_mean, z_log_var = KLDivergence()([z_mean, z_log_var])

The loss keeps the terms that depend on `y_true` and `y_pred`.

## How we know
Losses that mix both were run on Keras 3.15.1 with TensorFlow, JAX and PyTorch, compiled and
eagerly: each raises.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.roots import uses_another_keras
from kdoctor.analysis.tensors.symbolic import REFUSED, SYMBOLIC
from kdoctor.analysis.triggers import Trigger
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.idioms._outside_tensors import may_read_one, reads, takes_values
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report the first place where a loss reads such a tensor."""
    told: set[tuple[cst.CSTNode, str]] = set()
    others = uses_another_keras(module, facts)
    found = reads(module, lambda name: is_keras_3(facts, name))
    for read in sorted(found, key=lambda each: module.span(each.tensor)):
        name = module.source(read.tensor)
        is_call = takes_values(read.symbol)
        if (read.function, name) in told or (others and not is_call):
            continue
        if module.is_guarded(read.tensor):
            continue
        told.add((read.function, name))
        yield rule.finding(
            module.place(read.tensor),
            f"a loss or metric uses `{name}`, a symbolic tensor of the model, which has no value "
            f"there: {REFUSED}",
            symbol=read.symbol,
            confidence=read.confidence,
            help="Pass it to a custom layer whose `call` computes this part of the loss and adds "
            "it with `self.add_loss(value)`.",
            fix=NoFix("you have to decide where the layer goes and what it receives"),
        )


rule = Rule(
    code="KD517",
    name="symbolic-tensor-in-a-loss",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers=SYMBOLIC & Trigger(may_read_one),
    since="3.0",
)

_MODEL = (
    "import keras\nimport numpy as np\nfrom keras import backend as K\nfrom keras import ops\n\n"
    "x = keras.Input((4,))\nz_mean = keras.layers.Dense(2)(x)\n"
    "model = keras.Model(x, keras.layers.Dense(4)(z_mean))\n\n\n"
)
_FIT = "\nx = y = np.ones((2, 4))\nmodel.fit(x, y, verbose=0)\n"
_LOSS = (
    _MODEL + "def loss(y_true, y_pred):\n    return ops.mean((y_true - y_pred) ** 2) + {}\n\n\n"
    "model.compile('sgd', loss)\n" + _FIT
)

VALID = [
    _LOSS.format("model.layers[1].kernel[0, 0]"),
    _LOSS.format("ops.shape(z_mean)[1] * 1.0"),
    _LOSS.format("ops.sum(model(y_true))"),
    # While the model is built, all of it is symbolic.
    (
        _MODEL + "def distance(y_true, y_pred):\n"
        "    return ops.square(y_true - y_pred) + ops.sum(ops.square(z_mean))\n\n\n"
        "d = distance(x, model.output)\n"
    ),
    _MODEL
    + "def add(y_true, y_pred):\n    return ops.add(y_true, y_pred)\n\n\nadd(z_mean, z_mean)\n",
    # Of what it does have: a shape.
    _LOSS.format("ops.mean(ops.reshape(y_pred, (-1, z_mean.shape[1]))) * len(z_mean.shape)"),
    _LOSS.format("(0.0 if z_mean is None else 1.0 / z_mean.shape[1])"),
    # Of its own variable of that name.
    (
        _MODEL + "def loss(y_true, y_pred):\n    z_mean = y_true - y_pred\n"
        "    return ops.mean(ops.square(z_mean))\n\n\nmodel.compile('sgd', loss)\n"
    ),
    _LOSS.format("ops.sum(z_mean)")
    .replace("import keras\n", "import tf_keras as keras\n")
    .replace("from keras", "from tf_keras"),
]
INVALID = [
    Example(before=_LOSS.format("ops.sum(z_mean)"), raises=REFUSED),
    Example(
        before=_MODEL + "def loss(target, output):\n"
        "    error = keras.losses.mean_squared_error(target, output)\n"
        "    return ops.mean(error) + ops.mean(ops.exp(z_mean) - z_mean)\n\n\n"
        "model.compile('sgd', loss=loss)\nmodel.fit(np.ones((2, 4)), np.ones((2, 4)))\n",
        raises=REFUSED,
    ),
    # Handed to a function that makes the loss.
    Example(
        before=_MODEL + "def with_divergence(mean):\n    def loss(y_true, y_pred):\n"
        "        return ops.mean(ops.abs(y_true - y_pred)) + ops.mean(ops.exp(mean))\n\n"
        "    return loss\n\n\nmodel.compile('sgd', with_divergence(z_mean))\n" + _FIT,
        raises=REFUSED,
    ),
    # By an operator.
    Example(
        before=_LOSS.replace("def loss", "penalty = ops.mean(z_mean)\n\n\ndef loss").format(
            "0.5 * penalty"
        ),
        raises=REFUSED,
    ),
    Example(
        before=_MODEL
        + "model.compile(\n    'sgd',\n    loss=lambda t, p: ops.mean(ops.abs(t - p)) "
        "+ ops.mean(z_mean),\n    metrics=[lambda t, p: ops.mean(p) * ops.mean(model.input)],\n)\n"
        + _FIT,
        raises=REFUSED,
        findings=2,
    ),
]
