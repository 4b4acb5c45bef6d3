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

from kdoctor.analysis.models.user_classes import is_in_old_optimizer
from kdoctor.analysis.queries import Read, reads
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.members._error_owner import attribute_error, symbol
from kdoctor.rules.rule import Example, rule
from kdoctor.value_types import Kind

_GONE = ("get_gradients", "get_updates", "updates_with_grads")


@rule("KD204", severity=Severity.ERROR, since="3.0", look_for=reads(*_GONE, on=Kind.OPTIMIZER))
def check(read: Read) -> Finding | None:
    """Report each use that the user's own optimizer does not define."""
    if is_in_old_optimizer(read.module, read.node):
        return None  # KD511 and KD512 tell of the class as a whole
    return read.finding(
        f"an optimizer has no `{read.member}`: {attribute_error(read.owner, read.member)}",
        symbol=symbol(read.owner, read.member),
        help="To clip gradients pass `clipvalue=` or `clipnorm=` to the optimizer; to compute "
        "them yourself use the backend (`tf.GradientTape`).",
        fix=NoFix("gradients are computed where the loss is, which is elsewhere"),
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
