"""`add_weight(shape=3)`, `add_weight(aggregation=tf.VariableAggregation.MEAN)`: refused values.

## What it does
Reports an int as the `shape` of a weight, and a member of TensorFlow's `VariableAggregation` as its
`aggregation`.

## Why it breaks
A shape is a tuple: `ValueError: Cannot convert '3' to a shape.` Keras 3 has its own names for
aggregations, for all backends: `ValueError: Invalid value for argument `aggregation`. Expected one
of `None`, `'none'`, `'mean'`, `'sum'`, `'only_first_replica'`.`

## What to write instead
`add_weight(shape=(3,))` and `add_weight(aggregation="mean")`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: the weights are the same. A test compares the names of the
aggregations with TensorFlow's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, keyword, word
from kdoctor.model import Edit, Finding, Fix, Hole, Severity
from kdoctor.rules.arguments._keras_calls import KerasCall, keras_calls
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

AGGREGATIONS = {
    "NONE": "none",
    "SUM": "sum",
    "MEAN": "mean",
    "ONLY_FIRST_REPLICA": "only_first_replica",
}
_OWNERS = (Kind.LAYER, Kind.MODEL)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each value that `add_weight` refuses."""
    for call in keras_calls(module, facts):
        if call.leaf != "add_weight" or call.owner is None or call.owner.kind not in _OWNERS:
            continue
        if module.is_guarded(call.call):
            continue
        yield from _shape(module, call)
        yield from _aggregation(module, call)


def _shape(module: Module, call: KerasCall) -> Iterator[Finding]:
    given = argument(call.call, "shape", 0)
    value = None if given is None else value_of(module, given.value)
    if given is None or not isinstance(value, cst.Integer):
        return
    # `(3)` is an int in parentheses: the comma goes inside them.
    inside, outside = module.span(given.value), module.outer_span(given.value)
    parts = ("(", Hole(inside), ",)") if inside == outside else (Hole(inside), ",")
    yield _finding(
        module,
        call,
        given,
        f"ValueError: Cannot convert '{value.value}' to a shape.",
        "A shape is a tuple.",
        rule.fix(
            f"Write `({module.source(given.value)},)`",
            Edit(inside, parts),
            proven_by=_examples_of("shape=3"),
        ),
    )


def _aggregation(module: Module, call: KerasCall) -> Iterator[Finding]:
    given = argument(call.call, "aggregation")
    name = (module.qualified(given.value) if given is not None else None) or ""
    owner, _, member = name.rpartition(".")
    is_tensorflow = owner.startswith("tensorflow.") and owner.endswith(".VariableAggregation")
    if given is None or not is_tensorflow or member not in AGGREGATIONS:
        return
    new = f"'{AGGREGATIONS[member]}'"
    yield _finding(
        module,
        call,
        given,
        "ValueError: Invalid value for argument `aggregation`. Expected one of `None`, `'none'`, "
        "`'mean'`, `'sum'`, `'only_first_replica'`.",
        f"It is {new} now.",
        rule.fix(
            f"Write {new}",
            Edit(module.outer_span(given.value), (new,)),
            proven_by=_examples_of("aggregation="),
        ),
    )


def _finding(  # noqa: PLR0913, PLR0917 - what the finding is about
    module: Module, call: KerasCall, given: cst.Arg, error: str, advice: str, fix: Fix
) -> Finding:
    return rule.finding(
        module.place(given),
        f"`add_weight` no longer accepts this value: {error}",
        symbol=call.name,
        confidence=call.confidence,
        help=advice,
        fix=fix,
    )


def _examples_of(word: str) -> list[Example]:
    return [each for each in INVALID if word in each.before]


def _may_pass_an_int(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        isinstance(each, ast.Constant)
        for called in quick.calls_by_leaf.get("add_weight", ())
        for each in quick.values_of(called.argument("shape", 0))
    )


rule = Rule(
    code="KD306",
    name="weight-argument",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=word("add_weight") & (keyword("aggregation") | Trigger(_may_pass_an_int)),
    since="3.0",
)

_LAYER = (
    "import keras\nimport tensorflow as tf\n\n\nclass Mine(keras.layers.Layer):\n"
    "    def build(self, input_shape):\n        self.w = self.add_weight("
)
_FIXED = _LAYER.replace("import tensorflow as tf\n", "")  # nothing of it is left
_END = ")\n\n\nmine = Mine()\nmine.build((None, 4))\n"

VALID = [
    f"{_LAYER}name='w', shape=(3,), aggregation='mean'{_END}",
    f"{_LAYER}name='w', shape=[3], aggregation=None{_END}",
    f"{_LAYER}name='w', shape=input_shape, aggregation=chosen{_END}",
    (
        "import keras\nimport tensorflow as tf\n\n\nclass Mine(keras.layers.Layer):\n"
        "    def add_weight(self, shape, aggregation):\n        return shape\n\n"
        "    def build(self, input_shape):\n"
        "        self.w = self.add_weight(shape=3, aggregation=tf.VariableAggregation.SUM)"
    ),
    (
        "import tensorflow as tf\nimport tf_keras\n\n\nclass Mine(tf_keras.layers.Layer):\n"
        "    def build(self, input_shape):\n"
        "        self.w = self.add_weight(shape=3, aggregation=tf.VariableAggregation.SUM)"
    ),
    "import keras\nimport tensorflow as tf\ntf.Variable(1, aggregation=tf.VariableAggregation.SUM)",
]
INVALID = [
    Example(
        before=f"{_LAYER}name='w', shape=3, initializer='zeros'{_END}",
        after=f"{_LAYER}name='w', shape=(3,), initializer='zeros'{_END}",
        raises="ValueError: Cannot convert '3' to a shape.",
        same="tuple(mine.w.shape)",
    ),
    Example(
        before=f"{_LAYER}name='w', shape=(1,), aggregation=tf.VariableAggregation.MEAN{_END}",
        after=f"{_FIXED}name='w', shape=(1,), aggregation='mean'{_END}",
        raises="ValueError: Invalid value for argument `aggregation`.",
        same="tuple(mine.w.shape), len(mine.trainable_weights)",
    ),
    Example(
        before=f"{_LAYER}name='w', shape=(1,), trainable=False,\n"
        f"                                 # a count\n"
        f"                                 aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA"
        f"{_END}",
        after=f"{_FIXED}name='w', shape=(1,), trainable=False,\n"
        f"                                 # a count\n"
        f"                                 aggregation='only_first_replica'{_END}",
        raises="ValueError: Invalid value for argument `aggregation`.",
        same="tuple(mine.w.shape), len(mine.trainable_weights)",
    ),
]
