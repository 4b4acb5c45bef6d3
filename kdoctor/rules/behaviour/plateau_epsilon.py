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

from collections.abc import Iterator

from kdoctor.analysis.calls import argument, instances, is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import calls, word
from kdoctor.model import Edit, Finding, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickCall
from kdoctor.value_types import Kind

_CALLBACK = "ReduceLROnPlateau"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each ``epsilon=``."""
    for reference, call, made in instances(module, Kind.CALLBACK, facts):
        given = argument(call, "epsilon") if made.cls == _CALLBACK else None
        if given is None or given.keyword is None or argument(call, "min_delta"):
            continue
        yield rule.finding(
            module.place(given),
            "`epsilon=` is ignored: the threshold stays at 0.0001",
            symbol=f"{reference.name}(epsilon)",
            confidence=reference.confidence,
            help="Write `min_delta=`.",
            fix=rule.fix("Write `min_delta=`", Edit(module.span(given.keyword), ("min_delta",))),
        )


def _may_be_ignored(facts: TargetFacts, called: QuickCall) -> bool:
    return "epsilon" in called.keywords and any(
        each.endswith(_CALLBACK) and is_keras_3(facts, each) for each in called.names
    )


rule = Rule(
    code="KD417",
    name="plateau-epsilon",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word(_CALLBACK) & calls(_may_be_ignored),
    since="3.0",
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
