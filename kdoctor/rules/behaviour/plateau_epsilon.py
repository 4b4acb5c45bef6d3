"""`ReduceLROnPlateau(epsilon=…)` is ignored: the argument is now `min_delta`.

## What it does
Reports `epsilon=` of `ReduceLROnPlateau`.

## Why it breaks
Keras 2.1.6 renamed it to `min_delta`, and Keras 2 kept accepting the old name. Keras 3 accepts any
keyword there and ignores it: the threshold stays at 0.0001.

## What to write instead
`min_delta=`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21, with the threshold read from the callback.
"""

from __future__ import annotations

from kdoctor.analysis.queries import Argument, Instance, constructs
from kdoctor.model import Edit, Finding, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.value_types import Kind


@rule(
    "KD417",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=constructs(Instance(Kind.CALLBACK, "ReduceLROnPlateau"))
    .even(hidden=True, guarded=True)
    .without("min_delta")
    .argument("epsilon"),
)
def check(given: Argument) -> Finding:
    """Report each ``epsilon=``."""
    assert given.arg.keyword is not None
    edit = Edit(given.module.span(given.arg.keyword), ("min_delta",))
    return given.finding(
        "`epsilon=` is ignored: the threshold stays at 0.0001",
        at=given.arg,
        help="Write `min_delta=`.",
        fix=given.fix("Write `min_delta=`", edit),
    )


VALID = [
    "import keras\nkeras.callbacks.ReduceLROnPlateau(min_delta=0.1)",
    "import tf_keras\ntf_keras.callbacks.ReduceLROnPlateau(epsilon=0.1)",
]
INVALID = [
    Example(
        before="import keras\n\n"
        "slower = keras.callbacks.ReduceLROnPlateau(patience=3, epsilon=0.1)",
        after="import keras\n\n"
        "slower = keras.callbacks.ReduceLROnPlateau(patience=3, min_delta=0.1)",
        on_keras_2=True,
        same="slower.min_delta",
    ),
]
