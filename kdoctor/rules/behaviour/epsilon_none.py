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

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, instances, literal, replace_expression
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, calls_that_make
from kdoctor.model import Finding, Fix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_EPSILON = "1e-07"
_SET = "set_epsilon"


def _may_give_none(quick: QuickFacts, facts: TargetFacts) -> bool:
    return any(
        isinstance(each, ast.Constant) and each.value is None
        for _, called in calls_that_make(quick, facts, Kind.OPTIMIZER)
        for each in called.values
    )


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each ``epsilon`` that is None."""
    for reference, call, _ in instances(module, Kind.OPTIMIZER, facts):
        signature = facts.signature(reference.name)
        names = [each.name for each in signature.parameters] if signature else []
        if "epsilon" not in names or module.is_guarded(call):
            continue
        given = argument(call, "epsilon", names.index("epsilon"))
        if given is None or literal(given.value) is not None:
            continue
        yield rule.finding(
            module.place(given),
            "the first training step fails: ValueError: None values not supported.",
            symbol=f"{reference.name}(epsilon)",
            confidence=reference.confidence,
            help=f"Remove it, or write `epsilon={_EPSILON}`.",
            fix=_fix(module, given),
        )


def _fix(module: Module, given: cst.Arg) -> Fix:
    is_set = _SET in module.text
    return rule.fix(
        f"Write `{_EPSILON}` instead of None",
        replace_expression(module, given.value, _EPSILON),
        unsafe_because="this file sets a different epsilon" if is_set else "",
    )


rule = Rule(
    code="KD407",
    name="epsilon-none",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=Trigger(_may_give_none),
    since="3.0",
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
