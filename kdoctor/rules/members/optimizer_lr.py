"""``optimizer.lr``: the learning rate is called ``learning_rate``.

## What it does
Reports reads of `.lr` from an optimizer, `K.get_value(model.optimizer.lr)` and
`optimizer.lr *= 0.1` among them. (What `optimizer.lr = 0.1` alone does is told by a rule of the
KD4 family: it changes nothing, and silently.)

## Why it breaks
`lr` was another name of `learning_rate` up to Keras 2. Keras 3 has not got it: `AttributeError:
'Adam' object has no attribute 'lr'`. Only after an assignment to it there is such an attribute,
which the optimizer knows nothing of: then the read gives that value, whatever the learning rate is.

## What to write instead
`optimizer.learning_rate`. Its value as a number is `float(optimizer.learning_rate)`.

## How we know
Run on Keras 3.15.1 with `Adam` and `SGD`, and before and after the repair on Keras 2 and Keras 3,
which gave the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.kinds import Kind, Type
from kdoctor.model import Confidence, Edit, Finding, Fix, Severity
from kdoctor.rules.facts import Facts
from kdoctor.rules.members._owners import attribute_error, symbol
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.triggers import changes_of, reads_of
from kdoctor.syntax import MemberStore, Module
from kdoctor.syntax.scopes import BindingKind


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report each read, and each update, which reads as well."""
    for use in module.members:
        mine = use.owner_defines and not use.is_assigned
        if _is_it(use.owner, use.member) and not mine and not module.is_guarded(use.node):
            yield _finding(module, facts, use.node, use.owner, is_assigned=use.is_assigned)
    for store in module.member_stores:
        if _is_update(store) and not module.is_guarded(store.node):
            yield _finding(module, facts, store.node, store.owner, is_assigned=False)


def _is_it(owner: Type, member: str) -> bool:
    return owner.kind is Kind.OPTIMIZER and member == "lr"


def _is_update(store: MemberStore) -> bool:
    is_it = _is_it(store.owner, store.member) and not store.owner_defines
    return is_it and store.how is BindingKind.AUGMENT


def _finding(
    module: Module, facts: Facts, node: cst.Attribute, owner: Type, *, is_assigned: bool
) -> Finding:
    proof = facts.applicability(*(each for each in INVALID if each.after))
    if is_assigned:
        message = (
            "`lr` of an optimizer is not its learning rate, but what this file has assigned to it: "
            "Keras 3 calls it `learning_rate`"
        )
    else:
        message = f"an optimizer has no `lr` any more: {attribute_error(owner, 'lr')}"
    return rule.finding(
        module.place(node),
        message,
        symbol=symbol(owner, "lr"),
        confidence=Confidence.LIKELY,
        severity=Severity.CHANGE if is_assigned else Severity.ERROR,
        help="It is called `learning_rate`.",
        fix=Fix(
            "Read `.learning_rate` instead of `.lr`",
            (Edit(module.span(node.attr), ("learning_rate",)),),
            proof,
        ),
    )


rule = Rule(
    code="KD206",
    name="optimizer-lr",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=reads_of({Kind.OPTIMIZER}, "lr") | changes_of({Kind.OPTIMIZER}, "lr"),
    since="3.0",
)

VALID = [
    "import keras\noptimizer = keras.optimizers.Adam()\noptimizer.learning_rate",
    "import keras\nlr = 0.1\nkeras.optimizers.Adam(lr)",
    "import tf_keras\ntf_keras.optimizers.Adam().lr",
    (
        "import keras\noptimizer = keras.optimizers.Adam()\nif hasattr(optimizer, 'lr'):\n"
        "    optimizer.lr"
    ),
    "import keras\nfrom mine import Optimizer\nOptimizer().lr",
    (
        "import keras\n\n\nclass Mine(keras.optimizers.SGD):\n    lr = 0.1\n\n\n"
        "print(Mine().lr)\nMine().lr *= 2"
    ),
    (
        "import keras\n\n\nclass Mine(keras.optimizers.SGD):\n    def __init__(self, lr):\n"
        "        super().__init__(lr)\n        self.lr = lr\n\n    def show(self):\n"
        "        print(self.lr)"
    ),
    # Nothing is read here.
    "import keras\noptimizer = keras.optimizers.Adam()\noptimizer.lr = 0.1",
]
_COMPILED = (
    "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
    'model.compile("sgd", "mse")\n'
)
INVALID = [
    Example(
        before=f"{_COMPILED}rate = float(model.optimizer.lr)",
        after=f"{_COMPILED}rate = float(model.optimizer.learning_rate)",
        raises="AttributeError: ",
        same="round(rate, 6)",
    ),
    Example(
        before="import keras\n\noptimizer = keras.optimizers.Adam(0.5)\nprint(optimizer.lr)",
        after="import keras\n\noptimizer = keras.optimizers.Adam(0.5)\n"
        "print(optimizer.learning_rate)",
        raises="AttributeError: 'Adam' object has no attribute 'lr'",
    ),
    Example(
        before="import keras\n\noptimizer = keras.optimizers.Adam(0.5)\noptimizer.lr *= 0.5",
        after="import keras\n\noptimizer = keras.optimizers.Adam(0.5)\n"
        "optimizer.learning_rate *= 0.5",
        raises="AttributeError: 'Adam' object has no attribute 'lr'",
        check="assert float(optimizer.learning_rate) == 0.25",
    ),
    Example(
        before=f"{_COMPILED}\n\nclass Halve(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n"
        "        print(float(self.model.optimizer.lr))\n\n\n"
        "halve = Halve()\nhalve.set_model(model)\nhalve.on_epoch_end(0)",
        after=f"{_COMPILED}\n\nclass Halve(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n"
        "        print(float(self.model.optimizer.learning_rate))\n\n\n"
        "halve = Halve()\nhalve.set_model(model)\nhalve.on_epoch_end(0)",
        raises="AttributeError: ",
    ),
]
