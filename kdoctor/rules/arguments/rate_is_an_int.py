"""`SGD(learning_rate=1)`: the learning rate must be a float.

## What it does
Reports optimizers of Keras' own whose learning rate is an int.

## Why it breaks
Keras 2 took any number. Keras 3 asks for a float of Python, a schedule or a function: `ValueError:
Argument `learning_rate` should be float, or an instance of LearningRateSchedule`.

## What to write instead
`SGD(learning_rate=1.0)`.

## How we know
Each optimizer of Keras 3.15.1 and of tf_keras 2.21 was made with an int; the question stands in
`keras/src/optimizers/base_optimizer.py` since 3.0.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.kinds import Kind
from kdoctor.model import Edit, Finding, Fix, Hole, Severity
from kdoctor.rules.calls import argument, instances, is_hidden, value_of
from kdoctor.rules.facts import Facts
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.triggers import Trigger, calls_that_make
from kdoctor.syntax import Module
from kdoctor.syntax.glimpse import Glimpse

_ERROR = "ValueError: Argument `learning_rate` should be float, or an instance of "


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report each learning rate that is an int."""
    for reference, call, _ in instances(module, Kind.OPTIMIZER, facts):
        signature = facts.signature(reference.name)
        names = [each.name for each in signature.parameters] if signature else []
        place = names.index("learning_rate") if "learning_rate" in names else None
        given = argument(call, "learning_rate", place) or argument(call, "lr")
        if given is None or is_hidden(call) or module.is_guarded(call):
            continue
        if isinstance(value_of(module, given.value), cst.Integer):
            yield rule.finding(
                module.place(given),
                f"the learning rate must be a float: {_ERROR}LearningRateSchedule",
                symbol=f"{reference.name}(learning_rate)",
                confidence=reference.confidence,
                help="Write it with a point, or call `float()` where it is read.",
                fix=_fix(module, facts, given.value),
            )


def _fix(module: Module, facts: Facts, value: cst.BaseExpression) -> Fix:
    is_plain = isinstance(value, cst.Integer) and value.value.isdigit() and not value.lpar
    span = module.outer_span(value)
    point, called = (Hole(span), ".0"), ("float(", Hole(span), ")")
    return Fix(
        "Write it as a float",
        (Edit(span, point if is_plain else called),),
        facts.applicability(*(each for each in INVALID if each.after)),
    )


def _may_be_an_int(glimpse: Glimpse, facts: Facts) -> bool:
    return any(
        isinstance(value, ast.Constant) and isinstance(value.value, int)
        for _, called in calls_that_make(glimpse, facts, Kind.OPTIMIZER)
        for each in (called.argument("learning_rate", 0), called.argument("lr"))
        for value in glimpse.values_of(each)
    )


rule = Rule(
    code="KD309",
    name="rate-is-an-int",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=Trigger(_may_be_an_int),
    since="3.0",
)

VALID = [
    "import keras\nkeras.optimizers.SGD(learning_rate=1.0)\nkeras.optimizers.Adam(1e-3)",
    "import keras\n\n\ndef made(rate):\n    return keras.optimizers.SGD(rate)\n\n\nmade(1)",
    "import tf_keras\ntf_keras.optimizers.SGD(1)",
]
INVALID = [
    Example(
        before="import keras\nmade = keras.optimizers.SGD(learning_rate=1, momentum=0.9)",
        after="import keras\nmade = keras.optimizers.SGD(learning_rate=1.0, momentum=0.9)",
        raises=_ERROR,
        on_keras_2=True,
        same="float(made.learning_rate)",
    ),
    Example(
        before="import keras\nrate = 1\nmade = keras.optimizers.Adadelta(rate)",
        after="import keras\nrate = 1\nmade = keras.optimizers.Adadelta(float(rate))",
        raises=_ERROR,
        on_keras_2=True,
        same="float(made.learning_rate)",
    ),
]
