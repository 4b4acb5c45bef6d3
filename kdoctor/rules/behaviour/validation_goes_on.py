"""`validation_data=batches()`: each epoch is validated with other batches of a generator.

## What it does
Reports a generator function of the file that never ends, and draws nothing at random, as
`validation_data` of a training of several epochs.

## Why it breaks
Keras 3 looks at the first two batches of a generator, and puts them back. It does so before each
validation: that begins with the very first two batches, and goes on with those that are due, so
that others are left out. With five batches in turn and `validation_steps=5` Keras 2 had the
same loss in each epoch of a model that does not change; on Keras 3 it is 2.0, 1.4, 0.8, 1.2. What
goes by `val_loss`, `EarlyStopping` and `ModelCheckpoint` among them, compares different data. With
`validation_steps=1` it is the same batch again and again.

## What to write instead
What begins anew by itself: a `keras.utils.PyDataset`, arrays, or

    tf.data.Dataset.from_generator(batches, output_signature=(…, …))

## How we know
Run on tf_keras 2.21 and on Keras 3.3, 3.6, 3.7, 3.8, 3.9, 3.12 and 3.15.1: it is so since 3.7.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

import libcst as cst

from kdoctor.model import Finding, Severity
from kdoctor.rules.calls import argument, value_of
from kdoctor.rules.facts import Facts
from kdoctor.rules.fed import fed_calls, has_several_epochs
from kdoctor.rules.roots import uses_another_keras
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.triggers import Trigger, keyword
from kdoctor.syntax import Module
from kdoctor.syntax.glimpse import Glimpse
from kdoctor.syntax.walk import own_nodes

_FITS: Final = ("fit", "fit_generator")
_GIVEN: Final = "validation_data"
_AT_RANDOM: Final = re.compile(r"rand|shuffle|sample|choice|permut", re.IGNORECASE)


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report each such generator."""
    if uses_another_keras(module, facts):
        return
    for use, made, function in fed_calls(module):
        if use.member not in _FITS or use.called is None:
            continue
        given = argument(use.called, _GIVEN)
        if given is None or value_of(module, given.value) is not made:
            continue
        if not has_several_epochs(module, use.called, use.member) or not _goes_on(function):
            continue
        if _AT_RANDOM.search(module.source(function)) is not None:
            continue  # one batch is as good as the other
        yield rule.finding(
            module.place(given.value),
            "each validation begins with the first two batches of the generator, and goes on where "
            "it stands: the epochs are measured with different batches",
            symbol=f"Model.{use.member}({_GIVEN})",
            confidence=use.confidence,
            help="Give a `keras.utils.PyDataset`, or "
            f"`tf.data.Dataset.from_generator({module.source(made.func)}, …)`: they begin anew.",
            no_fix_because="the signature of a dataset is not written in the generator",
        )


def _goes_on(function: cst.FunctionDef) -> bool:
    """Say whether a generator function may give batches without an end."""
    nodes = [*own_nodes(function.body)]
    return any(isinstance(each, cst.While) for each in nodes) and any(
        isinstance(each, cst.Yield) for each in nodes
    )


def _may_be_given(glimpse: Glimpse, _: Facts) -> bool:
    """Say whether a call is given to validate by, and a loop may go on without an end."""
    called = chain.from_iterable(glimpse.calls_by_leaf.get(each, ()) for each in _FITS)
    given = (value for each in called for value in glimpse.values_of(each.argument(_GIVEN)))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    defined = {each.name for kind in kinds for each in glimpse.nodes.get(kind, ())}
    leaves = (
        getattr(each.func, "id", None) or getattr(each.func, "attr", None)
        for each in given
        if isinstance(each, ast.Call)
    )
    return any(each in defined for each in leaves)


rule = Rule(
    code="KD462",
    name="validation-goes-on",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=keyword(_GIVEN) & Trigger(_may_be_given),
    since="3.7",
)

_HEAD = (
    "import keras\nimport numpy as np\n\n\ndef batches():\n    number = 0\n    while True:\n"
    "        yield np.full((2, 1), float(number % 5)), np.zeros((2, 1))\n        number += 1\n\n\n"
    "model = keras.Sequential([\n"
    "    keras.layers.Dense(1, kernel_initializer='ones', trainable=False)])\n"
    "model.compile('sgd', 'mae')\nx, y = np.ones((4, 1)), np.ones((4, 1))\n"
)
_FIT = (
    "history = model.fit(x, y, epochs={}, verbose=0,\n"
    "                    validation_data={}, validation_steps=5)\n"
)
_ALIKE = "assert len({round(each, 4) for each in history.history['val_loss']}) == 1"

VALID = [
    _HEAD + _FIT.format(1, "batches()"),
    _HEAD + _FIT.format(4, "(x, y)"),
    _HEAD + "model.fit(batches(), steps_per_epoch=2, epochs=4)\n",
    # It is drawn at random anyway, or comes to an end.
    _HEAD.replace("np.full((2, 1), float(number % 5))", "np.random.rand(2, 1)")
    + _FIT.format(4, "batches()"),
    _HEAD.replace("while True", "for number in range(9)") + _FIT.format(4, "batches()"),
    # A sequence, and what this file does not show.
    _HEAD + "class Data(keras.utils.Sequence):\n    def __getitem__(self, index):\n"
    "        return x, y\n\n\n" + _FIT.format(4, "Data()"),
    _HEAD + _FIT.format(4, "made()"),
    (_HEAD + _FIT.format(4, "batches()")).replace("import keras", "import tf_keras as keras"),
]
INVALID = [
    Example(
        before=_HEAD + _FIT.format(4, "batches()"),
        check=_ALIKE,
        on_keras_2=True,
    ),
    Example(
        before=_HEAD + "held_out = batches()\nmany = 6\n" + _FIT.format("many", "held_out"),
        check=_ALIKE,
        on_keras_2=True,
    ),
]
