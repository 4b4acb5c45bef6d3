"""``reduction=Reduction.AUTO`` of losses, which Keras 3 does not know."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.dataflow.possible_values import default_in_use
from kdoctor.model import Edit
from kdoctor.rewrite import remove_arguments
from kdoctor.rules.arguments._refused_value import Refused
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal


def reduction(module: Module, call: cst.Call) -> Iterator[Refused]:
    """Refuse `reduction="auto"` of a loss, passed or handed on."""
    given = argument(call, "reduction")
    if given is None:
        return
    default = default_in_use(module, given.value)
    if default is not None and _is_auto(module, default):
        yield _reduction_by_default(module, default)
    value = value_of(module, given.value)
    if not _is_auto(module, value):
        return
    edits = remove_arguments(module, call, [given])
    yield Refused(
        given,
        "ValueError: Invalid value for argument `reduction`.",
        "Leave it out: the default, 'sum_over_batch_size', is what 'auto' meant.",
        tuple(edits or ()),
        f"Leave out `reduction={module.source(given.value)}`",
        no_fix_because="there is a comment or an assignment inside it",
        proofs=("reduction=",),
    )


def _is_auto(module: Module, value: cst.BaseExpression) -> bool:
    name = module.qualified(value) or ""
    return literal(value) == "auto" or name.endswith("Reduction.AUTO")


def _reduction_by_default(module: Module, default: cst.BaseExpression) -> Refused:
    """Refuse what `super().__init__(reduction=reduction)` hands on where nobody gives another."""
    return Refused(
        default,
        "ValueError: Invalid value for argument `reduction`.",
        "Write 'sum_over_batch_size', which is what 'auto' meant.",
        (Edit(module.span(default), ('"sum_over_batch_size"',)),),
        'Write `"sum_over_batch_size"`',
        proofs=("reduction=reduction",),
    )
