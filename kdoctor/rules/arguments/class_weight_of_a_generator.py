"""`fit(batches(), class_weight=…)`: generators do not support `class_weight`."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.queries.conditions import keyword
from kdoctor.analysis.queries.generator_feeds import FedCall, calls_fed_by_generators
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
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
