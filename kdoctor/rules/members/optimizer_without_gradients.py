"""``optimizer.get_gradients`` and ``optimizer.get_updates``: removed in Keras 3.

## What it does
Reports `.get_gradients`, `.get_updates` and `.updates_with_grads` on an optimizer.

## Why it breaks
Optimizers of Keras 1 and 2 computed symbolic gradients themselves. Those of Keras 3 only apply
gradients: `AttributeError: 'Adam' object has no attribute 'get_gradients'`. `updates_with_grads`
never existed.

## What to write instead
To clip gradients, pass an argument to the optimizer: `Adam(clipvalue=1.0)`, `Adam(clipnorm=1.0)` or
`Adam(global_clipnorm=1.0)`. In a custom training loop, compute the gradients with the backend:

    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

## How we know
Run on Keras 3.15.1 with `Adam`. `get_gradients` last existed in TensorFlow 2.10 and in the legacy
optimizers of tf_keras.
"""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import is_in_old_optimizer
from kdoctor.analysis.triggers import member_of
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.members._error_owner import attribute_error, symbol
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_GONE = {"get_gradients", "get_updates", "updates_with_grads"}


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each use that the user's own optimizer does not define."""
    for use in module.members:
        is_it = use.owner.kind is Kind.OPTIMIZER and use.member in _GONE
        if not is_it or use.owner_defines or module.is_guarded(use.node):
            continue
        if is_in_old_optimizer(module, use.node):
            continue  # KD511 and KD512 tell of the class as a whole
        yield rule.finding(
            module.place(use.node),
            f"an optimizer has no `{use.member}`: {attribute_error(use.owner, use.member)}",
            symbol=symbol(use.owner, use.member),
            confidence=use.confidence,
            help="To clip gradients pass `clipvalue=` or `clipnorm=` to the optimizer; to compute "
            "them yourself use the backend (`tf.GradientTape`).",
            fix=NoFix("gradients are computed where the loss is, which is elsewhere"),
        )


rule = Rule(
    code="KD204",
    name="optimizer-without-gradients",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=member_of({Kind.OPTIMIZER}, *_GONE),
    since="3.0",
)

VALID = [
    "import keras\noptimizer = keras.optimizers.Adam(clipvalue=1.0)\noptimizer.apply_gradients",
    (
        "import keras\n\n\nclass Mine(keras.optimizers.Optimizer):\n"
        "    def get_gradients(self, loss, params):\n        return []\n\n\n"
        "Mine(0.1).get_gradients(None, [])"
    ),
]
INVALID = [
    Example(
        before="import keras\n\noptimizer = keras.optimizers.Adam()\n"
        "optimizer.get_gradients(None, [])",
        raises="AttributeError: 'Adam' object has no attribute 'get_gradients'",
    ),
    Example(
        before='import keras\n\nmodel = keras.Sequential()\nmodel.compile("sgd", "mse")\n'
        "model.optimizer.get_updates([], None)",
        raises="AttributeError: ",
    ),
]
