"""`fit(batches(), class_weight=…)`: generators do not support `class_weight`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, plain_literal, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.generators import FITS, generator_feeds, may_feed_generators
from kdoctor.analysis.triggers import Trigger, keyword
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import BindingKind

_WEIGHT: Final = "class_weight"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such argument."""
    for each in generator_feeds(module):
        given = argument(each.call, _WEIGHT)
        if given is None or not _is_there(module, given.value):
            continue
        yield rule.finding(
            module.place(given.value),
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
        return plain_literal(value) is not None
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
