"""`Adam(epsilon=None)` fails at the first training step.

## What it does
Reports `epsilon=None` of Keras' own optimizers.

## Why it breaks
Up to Keras 2.10 None meant `keras.backend.epsilon()`, and the documentation of Keras 2.0 to 2.3
listed it as the default, so much code spells it out. Later releases take it literally:
`ValueError: None values not supported.`, at the first step, not where the optimizer is created.

## What to write instead
Nothing, or `epsilon=1e-07`: that is what `keras.backend.epsilon()` is unless it was set.

## How we know
Run on Keras 3.15.1 with each optimizer, and on the optimizers of Keras 2.10: the weights after
training are equal.
"""

from __future__ import annotations

from kdoctor.analysis.calls import replace_expression
from kdoctor.analysis.queries import Argument, constructs
from kdoctor.analysis.queries.forms import form_of, is_none
from kdoctor.model import Finding, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.value_types import Kind

_EPSILON = "1e-07"
_SET = "set_epsilon"


@rule(
    "KD407",
    severity=Severity.ERROR,
    since="3.0",
    look_for=constructs(Kind.OPTIMIZER).even(hidden=True).arguments(where=is_none),
)
def check(given: Argument) -> Finding | None:
    """Report each ``epsilon`` that is None."""
    if given.arg is not given.given("epsilon") or form_of(given.node) is not None:
        return None
    return given.finding(
        "the first training step fails: ValueError: None values not supported.",
        at=given.arg,
        symbol=f"{given.name}(epsilon)",
        help=f"Remove it, or write `epsilon={_EPSILON}`.",
        fix=given.fix(
            f"Write `{_EPSILON}` instead of None",
            replace_expression(given.module, given.node, _EPSILON),
            unsafe_because="this file sets a different epsilon"
            if _SET in given.module.text
            else "",
        ),
    )


_TRAIN = (
    "\nmodel = keras.Sequential([keras.layers.Dense(1, kernel_initializer='ones')])\n"
    "model.compile(optimizer, 'mse')\n"
    "model.fit(np.ones((8, 2)), np.ones((8, 1)), batch_size=2, verbose=0)\n"
)
_PRELUDE = "import keras\nimport numpy as np\n"

VALID = [
    "import keras\nkeras.optimizers.Adam(0.1, epsilon=1e-3)",
    "import keras\nkeras.optimizers.SGD(0.1)",
    "import keras\nkeras.optimizers.Adam(0.1, epsilon=epsilon)",
    "import tf_keras\ntf_keras.optimizers.legacy.Adam(epsilon=None)",
]
INVALID = [
    Example(
        before="import keras\nimport numpy as np\n\noptimizer = keras.optimizers.Adam("
        f"learning_rate=0.01, beta_1=0.9, beta_2=0.999, epsilon=None)\n{_TRAIN}",
        after="import keras\nimport numpy as np\n\noptimizer = keras.optimizers.Adam("
        f"learning_rate=0.01, beta_1=0.9, beta_2=0.999, epsilon=1e-07)\n{_TRAIN}",
        raises="ValueError: None values not supported.",
        on_keras_2=True,
        same="[round(float(w), 5) for w in model.get_weights()[0].ravel()]",
    ),
    Example(
        before="from tensorflow.keras.optimizers import RMSprop\n\n"
        "optimizer = RMSprop(0.01, 0.9, 0.0, None)",
        after="from tensorflow.keras.optimizers import RMSprop\n\n"
        "optimizer = RMSprop(0.01, 0.9, 0.0, 1e-07)",
        prelude=_PRELUDE,
        check=_TRAIN,
    ),
]
