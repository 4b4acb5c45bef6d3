"""`get_updates` and `get_gradients` of a layer or model: hooks that Keras never calls.

## What it does
Reports the methods `get_updates` and `get_gradients` that a layer or a model defines. Optimizers
with `get_updates` are reported by KD512.

## Why it breaks
On a layer or a model, no version of Keras calls them: the layer passes gradients on unchanged, and
what the method was meant to do (often clipping) silently does not happen. Only optimizers of Keras
1 and 2 had them.

## What to write instead
To limit gradients: `keras.optimizers.Adam(clipvalue=1.0)` (or `clipnorm=`, `global_clipnorm=`). To
change them in one place of a model:

    @keras.ops.custom_gradient
    def clip_gradient(x):
        def grad(upstream):
            return keras.ops.clip(upstream, -1.0, 1.0)

        return x, grad

and call `clip_gradient(x)` in the layer's `call` (with TensorFlow, `upstream` is the argument; with
JAX and PyTorch see the documentation of `keras.ops.custom_gradient`).

## How we know
Run on Keras 3.15.1: `fit` of a model with such a layer, and of a subclassed model, never enters the
methods.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import kind_of_class
from kdoctor.analysis.triggers import defines
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_HOOKS = ("get_updates", "get_gradients")
_HELP = (
    "To limit gradients pass `clipvalue=`, `clipnorm=` or `global_clipnorm=` to the optimizer; "
    "to change them in one place use `keras.ops.custom_gradient` in `call`."
)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such method of a class of Keras."""
    for node in module.nodes(cst.ClassDef):
        made = kind_of_class(module, node)
        methods = {
            each.name.value: each for each in node.body.body if isinstance(each, cst.FunctionDef)
        }
        for name in _HOOKS:
            if name in methods and not _is_used(module, name):
                finding = _finding(module, node, made, methods, name)
                if finding is not None:
                    yield finding


def _finding(
    module: Module,
    node: cst.ClassDef,
    made: Kind | None,
    methods: dict[str, cst.FunctionDef],
    name: str,
) -> Finding | None:
    cls = node.name.value
    if made not in {Kind.LAYER, Kind.MODEL}:
        return None
    return rule.finding(
        module.place(methods[name].name),
        f"Keras never calls `{cls}.{name}`: it has no effect on gradients",
        symbol=f"{cls}.{name}",
        confidence=Confidence.LIKELY,
        help=_HELP,
        fix=NoFix("the code of the method has to move elsewhere"),
    )


def _is_used(module: Module, name: str) -> bool:
    """Say whether the file itself calls a method of that name on an object of its own."""
    return any(
        use.member == name and use.owner_defines and use.called is not None
        for use in module.members
    )


rule = Rule(
    code="KD501",
    name="dead-gradient-hook",
    family="idioms",
    severity=Severity.CHANGE,
    check=check,
    triggers=defines(*_HOOKS),
    since="3.0",
)

VALID = [
    "import keras\n\n\nclass Mine:\n    def get_updates(self):\n        pass",
    # The user calls it.
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    def get_gradients(self, x):\n"
        "        return x\n\n    def train_step(self, data):\n        self.get_gradients(data)"
    ),
    # An optimizer.
    (
        "import keras\n\n\nclass Mine(keras.optimizers.Optimizer):\n"
        "    def get_updates(self, loss, params):\n        return []\n\n"
        "    def update_step(self, gradient, variable, learning_rate):\n        pass"
    ),
]
INVALID = [
    Example(
        before="import keras\n\n\nclass Clip(keras.layers.Layer):\n"
        "    def call(self, x):\n        return x\n\n"
        "    def get_updates(self, params, loss):\n"
        "        raise RuntimeError('never called')\n\n\n"
        "model = keras.Sequential([keras.Input((2,)), Clip(), keras.layers.Dense(1)])\n"
        'model.compile("sgd", "mse")\n'
        "model.fit(keras.ops.ones((4, 2)), keras.ops.ones((4, 1)), verbose=0)",
    ),
]
