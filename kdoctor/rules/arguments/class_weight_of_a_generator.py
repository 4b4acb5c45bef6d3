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

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.queries.conditions import keyword
from kdoctor.analysis.queries.generator_feeds import FedCall, calls_fed_by_generators
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import BindingKind

_WEIGHT: Final = "class_weight"


@rule(
    "KD322",
    severity=Severity.ERROR,
    since="3.0",
    look_for=calls_fed_by_generators().beside(keyword(_WEIGHT)),
)
def check(call: FedCall) -> Finding | None:
    """Report each such argument."""
    given = call.argument(_WEIGHT)
    if given is None or not _is_there(call.module, given.value):
        return None
    return call.finding(
        "`class_weight` does not work with a generator: ValueError: Argument `class_weight` "
        "is not supported for Python generator inputs.",
        at=given.value,
        symbol=f"Model.{call.leaf}({_WEIGHT})",
        help="Yield the weight of each sample as a third item, or use a `keras.utils.PyDataset`.",
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
