"""A layer with weights as ``activation=``: Keras 3 creates its weights late.

## What it does
Reports layers passed as `activation=` that have weights: `PReLU()`, or a user-defined class that
calls `add_weight`. Layers without weights (`LeakyReLU()`) behave as on Keras 2 and are not
reported.

## Why it breaks
Nothing raises at first, and the weights are trained. But while a model is built, Keras 3 asks
`Dense` for its output shape and does not run the activation, so its weights are only created by the
first real call. Until then `model.weights` and `count_params()` lack them, a fresh model refuses
`load_weights` (`ValueError: A total of 1 objects could not be loaded`) and `set_weights`, and an
error in the activation shows at the first batch instead of immediately. Keras 2 created them
immediately.

## What to write instead
Add the layer as a separate element, after the layer that it activates:

    model.add(keras.layers.Dense(10))
    model.add(keras.layers.PReLU())

Weights saved in the old form then have other names.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with `PReLU` and a custom layer in `Dense`: 4 weights before
the first call on Keras 3, 5 on Keras 2; `load_weights` into a fresh model raises on Keras 3 only;
saving and loading the whole model keeps the weights on both.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import kind_of_class
from kdoctor.analysis.queries import Argument, constructs
from kdoctor.analysis.queries.forms import is_any_call
from kdoctor.keras_api import ClassFamily, EntryKind
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_LAYERS = constructs(Kind.LAYER).even(hidden=True, guarded=True)


@rule(
    "KD302",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=_LAYERS.argument("activation", where=is_any_call)
    | _LAYERS.argument("recurrent_activation", where=is_any_call),
)
def check(given: Argument) -> Finding | None:
    """Report each activation that is an instance of a layer with weights."""
    cls = _class_with_weights(given.module, given.facts, given.value_node)
    if cls is None:
        return None
    return given.finding(
        f"`{cls}` has weights, and as `{given.keyword}=` it creates them only at the first call: "
        "until then the model lacks them, and `load_weights` into a fresh model raises ValueError",
        at=given.arg,
        confidence=Confidence.LIKELY,
        help=f"Add it as a separate layer after the `{given.leaf}`.",
        fix=NoFix("weights saved in the old form would no longer be found"),
    )


def _is_layer(facts: TargetFacts, name: str) -> bool:
    found = facts.lookup(name)
    if found.moved_to:
        found = facts.lookup(found.moved_to[0])
    return found.kind is EntryKind.CLASS and found.family is ClassFamily.LAYER


def _class_with_weights(
    module: Module, facts: TargetFacts, value: cst.BaseExpression
) -> str | None:
    """Return the class of a layer with weights that ``value`` makes."""
    if not isinstance(value, cst.Call):
        return None
    name = module.qualified(value.func)
    if name is not None:
        return name.rpartition(".")[2] if _keras_layer_has_weights(facts, name) else None
    cls = class_named(module, value.func)
    return cls.name.value if cls is not None and _surely_makes_weights(module, cls) else None


def _keras_layer_has_weights(facts: TargetFacts, name: str) -> bool:
    """A layer that takes an initializer has something to initialize."""
    if not _is_layer(facts, name):
        return False
    signature = facts.signature(name)
    return signature is not None and any(
        parameter.name.endswith("initializer") for parameter in signature.parameters
    )


def _surely_makes_weights(module: Module, cls: cst.ClassDef) -> bool:
    return kind_of_class(module, cls) is Kind.LAYER and any(
        _adds_a_weight(each) for each in descendants(cls.body)
    )


def _adds_a_weight(node: cst.CSTNode) -> bool:
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value == "add_weight"
        and isinstance(node.func.value, cst.Name)
        and node.func.value.value == "self"
    )


VALID = [
    "import keras\nkeras.layers.Dense(3, activation='relu')",
    "import keras\nkeras.layers.Dense(3, activation=keras.layers.LeakyReLU())",
    "import keras\nkeras.layers.Dense(3, activation=keras.ops.relu)",
    "import keras\nfrom mine import Swish\nkeras.layers.Dense(3, activation=Swish())",
    (
        "import keras\n\n\nclass Swish(keras.layers.Layer):\n    def call(self, x):\n"
        "        return x * keras.ops.sigmoid(x)\n\n\nkeras.layers.Dense(3, activation=Swish())"
    ),
]
INVALID = [
    Example(
        before="import keras\n\nmodel = keras.Sequential([\n"
        "    keras.Input((4,)), keras.layers.Dense(3, activation=keras.layers.PReLU())\n])",
        check="assert len(model.weights) == 2\n"
        "model(keras.ops.ones((1, 4)))\nassert len(model.weights) == 3",
    ),
    Example(
        before="import keras\n\n\nclass Scaled(keras.layers.Layer):\n"
        "    def build(self, shape):\n"
        "        self.alpha = self.add_weight(shape=(1,), initializer='ones')\n\n"
        "    def call(self, x):\n        return x * self.alpha\n\n\n"
        "model = keras.Sequential([keras.Input((4,))])\n"
        "model.add(keras.layers.Dense(3, activation=Scaled()))",
        check="assert len(model.weights) == 2\n"
        "model(keras.ops.ones((1, 4)))\nassert len(model.weights) == 3",
    ),
]
