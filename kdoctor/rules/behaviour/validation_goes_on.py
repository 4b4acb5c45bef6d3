"""`validation_data=batches()`: each epoch is validated on different batches of the generator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.generators import (
    FITS,
    generator_feeds,
    has_several_epochs,
    may_feed_generators,
)
from kdoctor.analysis.triggers import Trigger, keyword
from kdoctor.lazy_regex import pattern
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import own_nodes

_GIVEN: Final = "validation_data"
_AT_RANDOM: Final = pattern(r"rand|shuffle|sample|choice|permut", re.IGNORECASE)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such generator."""
    for each in generator_feeds(module, held_out=True):
        if not has_several_epochs(module, each.call, each.use.member):
            continue
        if not _goes_on(each.function):
            continue
        if _AT_RANDOM.search(module.source(each.function)) is not None:
            continue  # one batch is as good as the other
        yield rule.finding(
            module.place(each.given),
            "each validation starts with the first two batches of the generator and continues "
            "where it stopped: epochs are evaluated on different batches",
            symbol=f"Model.{each.use.member}({_GIVEN})",
            confidence=each.use.confidence,
            help="Pass a `keras.utils.PyDataset`, or "
            f"`tf.data.Dataset.from_generator({module.source(each.made.func)}, …)`: they restart "
            "each time.",
            fix=NoFix("the generator does not tell the signature of a dataset"),
        )


def _goes_on(function: cst.FunctionDef) -> bool:
    """Say whether a generator function may give batches without an end."""
    return any(isinstance(each, cst.While) for each in own_nodes(function.body))


rule = Rule(
    code="KD462",
    name="validation-goes-on",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=keyword(_GIVEN) & Trigger(lambda quick, _: may_feed_generators(quick, FITS)),
    since="3.7",
)
