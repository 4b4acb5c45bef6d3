"""A loss or a metric that reads a symbolic tensor of the model: `z_mean` of an encoder.

## What it does
Reports functions of Keras (`K.square(z_mean)`, `keras.ops.exp(z_log_var)`, `mse(inputs, y_pred)`)
that a loss or a metric calls with a symbolic tensor from outside of it: of a `keras.Input`, or of
what layers made of one. Functions of TensorFlow are KD503's.

## Why it breaks
Keras 2 could work out the loss in the graph of the model, where such a tensor was one like any
other. Keras 3 calls a loss with the values of `y_true` and `y_pred`, and the symbolic tensor has
none: `ValueError: A KerasTensor cannot be used as input to a TensorFlow function.`, or `TypeError:
Failed to convert elements of (None, 2) to Tensor.`

## What to write instead
A layer that is given the tensors, and adds what depends on them to the loss of the model:

    class KLDivergence(keras.Layer):
        def call(self, inputs):
            mean, log_var = inputs
            terms = 1 + log_var - ops.square(mean) - ops.exp(log_var)
            self.add_loss(-0.5 * ops.mean(ops.sum(terms, axis=-1)))
            return inputs

    z_mean, z_log_var = KLDivergence()([z_mean, z_log_var])

The loss keeps what depends on `y_true` and `y_pred`.

## How we know
Losses that mix both were run on Keras 3.15.1 with TensorFlow, JAX and PyTorch, as graphs and
eagerly: each raises.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.keras_api import split_root
from kdoctor.kinds import Kind
from kdoctor.model import Finding, Severity
from kdoctor.rules.calls import is_keras_3
from kdoctor.rules.closures import outer_tensors_of_a_loss
from kdoctor.rules.facts import Facts
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.symbolic import REFUSED, SYMBOLIC
from kdoctor.rules.triggers import Trigger, may_be_of
from kdoctor.syntax import Module
from kdoctor.syntax.glimpse import Glimpse
from kdoctor.syntax.nodes import nodes_in, parameters_of

_PARTS: Final = ("backend", "losses", "metrics", "ops")
# They ask for what a symbolic tensor does have.
_ASKING: Final = frozenset({
    "dtype", "int_shape", "is_keras_tensor", "is_placeholder", "is_sparse", "is_tensor",
    "is_variable", "ndim", "shape", "size", "standardize_dtype",
})  # fmt: skip


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report the first place where a loss reads such a tensor."""
    told: set[tuple[cst.CSTNode, str]] = set()
    for reference in module.references:
        call = reference.call
        if call is None or not _takes_values(reference.name) or module.is_guarded(call):
            continue
        if not is_keras_3(facts, reference.name):
            continue
        for function, tensor in outer_tensors_of_a_loss(module, call):
            name = module.source(tensor)
            if (function, name) in told:
                continue
            told.add((function, name))
            yield rule.finding(
                module.place(tensor),
                f"a loss or metric reads `{name}`, a symbolic tensor of the model, which has no "
                f"value there: {REFUSED}",
                symbol=reference.name,
                confidence=reference.confidence,
                help="Give it to a layer of your own, whose `call` works this part of the loss "
                "out, and adds it by `self.add_loss(value)`.",
                no_fix_because="what the layer is given, and where it stands, is yours to say",
            )


def _takes_values(name: str) -> bool:
    """Say whether a name is a function of Keras that works on the values of tensors."""
    split = split_root(name)
    if split is None:
        return False
    part, _, function = split[1].partition(".")
    return part in _PARTS and function.islower() and function not in _ASKING


def _may_read_one(glimpse: Glimpse, facts: Facts) -> bool:
    """Say whether a function gives one of Keras' what may be a symbolic tensor from outside."""
    calls = {
        called.node
        for name, found in glimpse.calls_by_meaning.items()
        if _takes_values(name)
        for called in found
    }
    if not calls:
        return False
    asked = [
        (call, each)
        for scope, nodes in glimpse.scopes.items()
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef)
        if (here := calls.intersection(nodes))
        for call, each in _free_names(scope, nodes, here)
        if each.id in glimpse.bound
    ]
    return bool(asked) and may_be_of(glimpse, facts, asked, {Kind.TENSOR})


def _free_names(
    scope: ast.FunctionDef | ast.AsyncFunctionDef, nodes: list[ast.AST], calls: set[ast.Call]
) -> Iterator[tuple[ast.Call, ast.Name]]:
    """Yield the names that calls are given and their function does not bind, surely."""
    bound = {each.arg for each in parameters_of(scope.args)}
    for node in nodes:
        if isinstance(node, ast.Assign):
            bound.update(each.id for each in node.targets if isinstance(each, ast.Name))
    for call in calls:
        for argument in (*call.args, *(each.value for each in call.keywords)):
            for each in nodes_in(argument):
                if isinstance(each, ast.Name) and each.id not in bound:
                    yield call, each


rule = Rule(
    code="KD517",
    name="symbolic-tensor-in-a-loss",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers=SYMBOLIC & Trigger(_may_read_one),
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
]
