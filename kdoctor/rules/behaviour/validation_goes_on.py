"""`validation_data=batches()`: each epoch is validated on different batches of the generator.

## What it does
Reports an infinite generator function of the file without randomness as `validation_data` when
training for several epochs.

## Why it breaks
Keras 3 peeks at the first two batches of a generator and puts them back. It does so before each
validation, which starts with the very first two batches and continues where the generator stopped,
so other batches are skipped. With five cycling batches and `validation_steps=5` Keras 2 had the
same loss in each epoch for a model that does not change; on Keras 3 it is 2.0, 1.4, 0.8, 1.2.
Everything based on `val_loss`, such as `EarlyStopping` and `ModelCheckpoint`, compares different
data. With `validation_steps=1` it is always the same batch.

## What to write instead
Data that restart for each validation: a `keras.utils.PyDataset`, arrays, or

    tf.data.Dataset.from_generator(batches, output_signature=(…, …))

## How we know
Run on tf_keras 2.21 and on Keras 3.3, 3.6, 3.7, 3.8, 3.9, 3.12 and 3.15.1: it happens since 3.7.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import keyword
from kdoctor.analysis.training.generators import (
    FITS,
    generator_feeds,
    has_several_epochs,
    may_feed_generators,
)
from kdoctor.analysis.triggers import Trigger
from kdoctor.lazy_regex import pattern
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax.libcst_walk import own_nodes

_GIVEN: Final = "validation_data"
_AT_RANDOM: Final = pattern(r"rand|shuffle|sample|choice|permut", re.IGNORECASE)


@rule(
    "KD462",
    severity=Severity.CHANGE,
    since="3.7",
    look_for=files(keyword(_GIVEN), Trigger(lambda quick, _: may_feed_generators(quick, FITS))),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such generator."""
    module = file.module
    for each in generator_feeds(module, held_out=True):
        if not has_several_epochs(module, each.call, each.use.member):
            continue
        if not _goes_on(each.function):
            continue
        if _AT_RANDOM.search(module.source(each.function)) is not None:
            continue  # one batch is as good as the other
        yield file.finding(
            "each validation starts with the first two batches of the generator and continues "
            "where it stopped: epochs are evaluated on different batches",
            symbol=f"Model.{each.use.member}({_GIVEN})",
            at=each.given,
            confidence=each.use.confidence,
            help="Pass a `keras.utils.PyDataset`, or "
            f"`tf.data.Dataset.from_generator({module.source(each.made.func)}, …)`: they restart "
            "each time.",
            fix=NoFix("the generator does not tell the signature of a dataset"),
        )


def _goes_on(function: cst.FunctionDef) -> bool:
    """Say whether a generator function may give batches without an end."""
    return any(isinstance(each, cst.While) for each in own_nodes(function.body))


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
