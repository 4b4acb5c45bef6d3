"""`fit(batches(), class_weight=…)`: generators do not support `class_weight`.

## What it does
Reports `class_weight` passed together with a generator function of this file, in `fit` and
`fit_generator`.

## Why it breaks
Keras 2 looked up the weight of each sample in the batches. Keras 3 does this for arrays, a
`Sequence` and a `tf.data.Dataset`, but not for a generator: `ValueError: Argument `class_weight` is
not supported for Python generator inputs.`

## What to write instead
Yield the weight of each sample as a third item:

    yield x, y, np.where(y[:, 0] == 1, 5.0, 1.0)

Or replace the generator with a `keras.utils.PyDataset`, which supports `class_weight`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21; the sources of 3.3 and 3.9 do the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import passed, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.generators import FITS, generator_feeds, may_feed_generators
from kdoctor.analysis.triggers import Trigger, keyword
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import BindingKind

_WEIGHT: Final = "class_weight"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such argument."""
    for each in generator_feeds(module):
        given = passed(each.call, _WEIGHT)
        if given is None or not _is_there(module, given):
            continue
        yield rule.finding(
            module.place(given),
            "`class_weight` does not work with a generator: ValueError: Argument `class_weight` "
            "is not supported for Python generator inputs.",
            symbol=f"Model.{each.use.member}({_WEIGHT})",
            confidence=each.use.confidence,
            help="Yield the weight of each sample as a third item, "
            "or use a `keras.utils.PyDataset`.",
            fix=NoFix("the weights of a batch are only known where the batch is created"),
        )


def _is_there(module: Module, given: cst.BaseExpression) -> bool:
    """Say whether weights are surely passed: not a parameter, which may be None."""
    value = value_of(module, given)
    if not isinstance(value, cst.Name):
        return literal(value) is not None
    bound = module.bindings_at(value)
    return bool(bound) and all(
        each.kind is BindingKind.ASSIGN
        and each.value is not None
        and not each.path
        and not isinstance(each.value, cst.Name)
        for each in bound
    )


def _may_be_given(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether a generator function may be fed where weights are passed."""
    called = chain.from_iterable(quick.calls_by_leaf.get(each, ()) for each in FITS)
    is_given = any(each.argument(_WEIGHT) is not None for each in called)
    return is_given and may_feed_generators(quick, FITS)


rule = Rule(
    code="KD322",
    name="class-weight-of-a-generator",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=keyword(_WEIGHT) & Trigger(_may_be_given),
    since="3.0",
)

_HEAD = "import keras\nimport numpy as np\n\n"
_BATCHES = (
    "def batches():\n    while True:\n        yield np.ones((4, 2)), np.array([[0], [1], [1], [0]])"
    "\n\n\n"
)
_MODEL = "model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile('sgd', 'mse')\n"
_FIT = "model.fit({}, steps_per_epoch=2, verbose=0, class_weight={})\n"
_ARRAYS = "model.fit(np.ones((4, 2)), np.ones((4, 1), int), class_weight={0: 1.0, 1: 2.0})\n"

VALID = [
    _HEAD + _BATCHES + _MODEL + _ARRAYS,
    _HEAD + _BATCHES + _MODEL + "model.fit(batches(), steps_per_epoch=2)\n",
    _HEAD + _BATCHES + _MODEL + _FIT.format("batches()", "None"),
    # It may be None.
    _HEAD + _BATCHES + "def train(model, weights=None):\n    model = keras.Sequential()\n"
    "    model.fit(batches(), class_weight=weights)\n",
    # It gives something else: a Sequence, perhaps.
    _HEAD
    + "def batches():\n    return load()\n\n\n"
    + _MODEL
    + _FIT.format("batches()", "{0: 1.0}"),
    # It is only for the validation.
    _HEAD + _BATCHES + _MODEL + "model.fit(np.ones((4, 2)), np.ones((4, 1), int),\n"
    "          validation_data=batches(), validation_steps=1, class_weight={0: 1.0, 1: 2.0})\n",
    (_HEAD + _BATCHES + _MODEL + _FIT.format("batches()", "{0: 1.0, 1: 2.0}")).replace(
        "import keras", "import tf_keras as keras"
    ),
]
_ERROR = "ValueError: Argument `class_weight` is not supported for Python generator inputs."
INVALID = [
    Example(
        before=_HEAD + _BATCHES + _MODEL + _FIT.format("batches()", "{0: 1.0, 1: 2.0}"),
        raises=_ERROR,
    ),
    Example(
        before=_HEAD + _BATCHES + _MODEL + "weights = dict(enumerate([1.0, 2.0]))\n"
        "train = batches()\n" + _FIT.format("x=train", "weights"),
        raises=_ERROR,
    ),
    Example(
        before=_HEAD + "class Images:\n    def batches(self):\n        for _ in range(4):\n"
        "            yield np.ones((4, 2)), np.ones((4, 1), int)\n\n\n" + _MODEL
        + _FIT.format("Images().batches()", "{0: 1.0, 1: 2.0}"),
        raises=_ERROR,
    ),
]  # fmt: skip
