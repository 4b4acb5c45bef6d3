"""`validation_data=batches()`: each epoch is validated on different batches of the generator."""

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
from kdoctor.rules.rule import rule
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
