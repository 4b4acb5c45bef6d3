"""``self.model = …`` in a callback, ``model.outputs = …``: members that cannot be assigned.

## What it does
Reports assignments to members of models, layers, metrics, optimizers and callbacks that are
properties without a setter.

## Why it breaks
`AttributeError: property 'model' of 'Mine' object has no setter`. `Callback.model` was a plain
attribute up to Keras 2; `model.outputs`, `layer.trainable_weights` and the rest are worked out from
what the object is made of.

## What to write instead
Another name for what is your own (`self.my_model = …`); `callback.set_model(model)` for a
callback's model; a new model for other outputs, `keras.Model(model.inputs, outputs)`; for weights,
`self.add_weight(…)`, and `layer.trainable = False` to freeze them.

## How we know
Each of them was tried on Keras 3.15.1, and is tried again by a test.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_

from kdoctor.kinds import Kind
from kdoctor.model import Finding, Severity
from kdoctor.rules.facts import Facts
from kdoctor.rules.members._owners import class_of, symbol
from kdoctor.rules.own_classes import stands_in_old_optimizer
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.triggers import changes_of
from kdoctor.syntax import MemberStore, Module
from kdoctor.syntax.scopes import BindingKind

_WEIGHTS = (
    *("weights", "trainable_weights", "non_trainable_weights"),
    *("variables", "trainable_variables", "non_trainable_variables"),
)
READ_ONLY = {
    Kind.CALLBACK: frozenset({"model"}),
    Kind.LAYER: frozenset({*_WEIGHTS, "losses", "metrics", "output", "input", "dtype"}),
    Kind.MODEL: frozenset({*_WEIGHTS, "losses", "metrics", "metrics_names", "layers", "dtype"}),
    Kind.OPTIMIZER: frozenset({"iterations"}),
}
# Of models that are built by calls, which a class of the user's own need not be.
OF_FUNCTIONAL = frozenset({"inputs", "outputs", "input", "output"})
_HELP = {
    "model": "Keras sets it: `callback.set_model(model)`. Call your own by another name.",
    "outputs": "Make another model: `keras.Model(model.inputs, outputs)`.",
    "output": "Make another model: `keras.Model(model.inputs, output)`.",
    "layers": "Make another model of these layers: `keras.Sequential(layers)`.",
}
_BINDS = frozenset({BindingKind.ASSIGN, BindingKind.AUGMENT, BindingKind.LOOP, BindingKind.WITH})


def check(module: Module, facts: Facts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each assignment that the user's own class does not make possible."""
    for store in module.member_stores:
        if store.how not in _BINDS or store.value is None or store.owner_overrides:
            continue
        if store.owner.kind is Kind.OPTIMIZER and stands_in_old_optimizer(module, store.node):
            continue  # KD511 and KD512 tell of the class as a whole
        if _is_read_only(store) and not module.is_guarded(store.node):
            yield _finding(module, store)


def _is_read_only(store: MemberStore) -> bool:
    if store.member in READ_ONLY.get(store.owner.kind, ()):
        return True
    is_functional = store.owner.kind is Kind.MODEL and store.owner.cls == "Functional"
    return is_functional and store.member in OF_FUNCTIONAL


def _finding(module: Module, store: MemberStore) -> Finding:
    cls = class_of(store.owner)
    named = f"'{cls}' object" if cls else "object"
    error = (
        f"`{'Sequential' if cls == 'Sequential' else 'Model'}.layers` attribute is reserved and "
        "should not be used"
        if store.member == "layers"
        else f"property '{store.member}' of {named} has no setter"
    )
    return rule.finding(
        module.place(store.node),
        f"`{store.member}` cannot be assigned: AttributeError: {error}",
        symbol=symbol(store.owner, store.member),
        confidence=store.confidence,
        help=_HELP.get(store.member, "It is worked out from what the object is made of."),
        no_fix_because="what is meant by the assignment must be said in another way",
    )


rule = Rule(
    code="KD214",
    name="read-only-member",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=reduce(
        or_,
        (changes_of({kind}, *members) for kind, members in READ_ONLY.items()),
        changes_of({Kind.MODEL}, *OF_FUNCTIONAL),
    ),
    since="3.0",
)

VALID = [
    "import keras\nmodel = keras.Sequential()\nmodel.stop_training = True\nmodel.name = 'mine'",
    "import keras\noptimizer = keras.optimizers.SGD()\noptimizer.learning_rate = 0.1",
    "import keras\nlayer = keras.layers.Dense(3)\nlayer.trainable = False\nlayer.input_spec = None",
    (
        "import keras\n\n\nclass Mine(keras.callbacks.Callback):\n    def __init__(self, model):\n"
        "        super().__init__()\n        self.other_model = model"
    ),
    (
        "import keras\n\n\nclass Mine(keras.callbacks.Callback):\n    model = None\n\n"
        "    def __init__(self, model):\n        self.model = model"
    ),
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    def __init__(self):\n"
        "        super().__init__()\n        self.inputs = [1]"
    ),
    (
        "import tf_keras\n\n\nclass Mine(tf_keras.callbacks.Callback):\n"
        "    def __init__(self, model):\n        self.model = model"
    ),
]
INVALID = [
    Example(
        before="import keras\n\n\nclass Mine(keras.callbacks.Callback):\n"
        "    def __init__(self, model):\n        super().__init__()\n"
        "        self.model = model\n\n\nMine(keras.Sequential())",
        raises="AttributeError: property 'model' of 'Mine' object has no setter",
    ),
    Example(
        before="import keras\n\nx = keras.Input((4,))\nmodel = keras.Model(x, x)\n"
        "model.outputs = [model.layers[-1].output]",
        raises="AttributeError: property 'outputs' of 'Functional' object has no setter",
    ),
    Example(
        before="import keras\n\n\nclass Mine(keras.layers.Layer):\n    def build(self, shape):\n"
        "        self.w = self.add_weight(shape=(3,))\n"
        "        self.trainable_weights = [self.w]\n\n\nMine().build((3,))",
        raises="AttributeError: property 'trainable_weights' of 'Mine' object has no setter",
    ),
    Example(
        before="import keras\n\nmodel = keras.Sequential()\nmodel.layers = model.layers[:-1]",
        raises="AttributeError: `Sequential.layers` attribute is reserved and should not be used",
    ),
]
