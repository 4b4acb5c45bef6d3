"""An optimizer with two kinds of gradient clipping: Keras 3 accepts one.

## What it does
Reports Keras optimizers created with `clipvalue=` and one of `clipnorm=` and `global_clipnorm=`, if
both are numbers: a variable may be None.

## Why it breaks
`ValueError: Only one of clipnorm, clipvalue and global_clipnorm can be set.`, from Keras 3.2.1 on.
Keras 2 refused the two norms together, but accepted `clipvalue=` with either of them.

## What to write instead
Keep one of them. If both were given, Keras 2.11 to 2.15 clipped by the norm only, so leaving out
`clipvalue=` changes nothing there. Up to Keras 2.10, gradients were clipped by value, then by norm:
to keep both, clip by value in a custom `train_step`.

## How we know
Run on Keras 3.15.1, and on tf_keras 2.21 with both its old and new optimizers: the step that SGD
takes for one gradient shows how it was clipped. Keras 3.2.0 has no such check.
"""

from __future__ import annotations

from kdoctor.analysis.queries import Argument, constructs
from kdoctor.analysis.queries.forms import is_number
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.value_types import Kind

_NORMS = ("clipnorm", "global_clipnorm")
_ERROR = "ValueError: Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set."


@rule(
    "KD314",
    severity=Severity.ERROR,
    since="3.2.1",
    look_for=constructs(Kind.OPTIMIZER)
    .passing(*_NORMS, where=is_number)
    .argument("clipvalue", where=is_number),
)
def check(value: Argument) -> Finding | None:
    """Report each value that stands beside a norm."""
    norm = next(each for each in _NORMS if value.passes(each, where=is_number))
    if not value.takes(norm):
        return None
    return value.finding(
        f"`{value.cls}` accepts only one kind of clipping: {_ERROR}",
        at=value.arg,
        help=f"Keep one: Keras 2.11 to 2.15 clipped by `{norm}` alone, earlier releases by value, "
        "then by norm.",
        fix=NoFix("kdoctor cannot tell which one is meant"),
    )


VALID = [
    "import keras\nkeras.optimizers.Adam(0.1, clipnorm=1.0)",
    "import keras\nkeras.optimizers.Adam(0.1, clipnorm=1.0, clipvalue=None)",
    "import keras\noptions = {}\nkeras.optimizers.Adam(0.1, clipnorm=1.0, **options)",
    "import keras\nfor norm in ways:\n    keras.optimizers.SGD(0.1, clipnorm=norm, clipvalue=1.0)",
    "import tf_keras\ntf_keras.optimizers.Adam(0.1, clipnorm=1.0, clipvalue=0.5)",
    "from mine import Adam\nAdam(0.1, clipnorm=1.0, clipvalue=0.5)",
]
INVALID = [
    Example(
        before="from keras.optimizers import SGD\n\n"
        "optimizer = SGD(learning_rate=0.1, clipnorm=1.0, clipvalue=0.5)\n",
        raises=_ERROR,
    ),
    Example(
        before="import tensorflow as tf\n\nNORM = 5\n\n"
        "optimizer = tf.keras.optimizers.Adam(1e-3, clipvalue=0.5, global_clipnorm=NORM)\n",
        raises=_ERROR,
    ),
]
