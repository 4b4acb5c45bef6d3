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

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, instances, is_keras_3, literal, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import calls, word
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickCall
from kdoctor.value_types import Kind

_VALUE = "clipvalue"
_NORMS = ("clipnorm", "global_clipnorm")
_ERROR = "ValueError: Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set."


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each value that stands beside a norm."""
    for reference, call, made in instances(module, Kind.OPTIMIZER, facts):
        value = _number(module, call, _VALUE)
        norm = next((each for each in _NORMS if _number(module, call, each)), None)
        if value is None or norm is None or module.is_guarded(call):
            continue
        signature = facts.signature(reference.name)
        if signature is None or norm not in {each.name for each in signature.parameters}:
            continue
        yield rule.finding(
            module.place(value),
            f"`{made.cls}` accepts only one kind of clipping: {_ERROR}",
            symbol=f"{reference.name}({_VALUE})",
            confidence=reference.confidence,
            help=f"Keep one: Keras 2.11 to 2.15 clipped by `{norm}` alone, earlier releases by "
            "value, then by norm.",
            fix=NoFix("kdoctor cannot tell which one is meant"),
        )


def _number(module: Module, call: cst.Call, name: str) -> cst.Arg | None:
    """Return what is passed by a keyword, where it surely is a number."""
    given = argument(call, name)
    if given is None or not isinstance(literal(value_of(module, given.value)), int | float):
        return None
    return given


def _may_clip_twice(facts: TargetFacts, called: QuickCall) -> bool:
    return (
        _VALUE in called.keywords
        and not called.keywords.isdisjoint(_NORMS)
        and any(is_keras_3(facts, each) for each in called.names)
    )


rule = Rule(
    code="KD314",
    name="clipping-twice",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=word(_VALUE) & calls(_may_clip_twice),
    since="3.2.1",
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
