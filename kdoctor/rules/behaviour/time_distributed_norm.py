"""`TimeDistributed(BatchNormalization())` normalizes each time step separately."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden
from kdoctor.analysis.models.wrappers import applications_of
from kdoctor.analysis.queries import Argument, Instance, constructs
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind


@rule(
    "KD445",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=constructs(Instance(Kind.LAYER, "TimeDistributed"))
    .even(hidden=True)
    .argument("layer", 0)
    .beside(constructs(Instance(Kind.LAYER, "BatchNormalization"))),
)
def check(wrapped: Argument) -> Finding | None:
    """Report each such layer that is trained."""
    module, inner = wrapped.module, wrapped.value_node
    name = module.qualified(inner.func) if isinstance(inner, cst.Call) else None
    found = module.oracle.class_type(name) if name else None
    if not isinstance(inner, cst.Call) or found is None or found.cls != "BatchNormalization":
        return None
    if is_hidden(inner) or _is_fixed(inner, "trainable"):
        return None
    if any(_is_fixed(each, "training") for each in applications_of(module, wrapped.call)):
        return None
    return wrapped.finding(
        "each time step is normalized separately: Keras 2 normalized all steps together",
        at=wrapped.call,
        symbol=wrapped.name,
        help="Use `BatchNormalization` without `TimeDistributed`.",
        fix=NoFix("saved weights depend on the present layers"),
    )


def _is_fixed(call: cst.Call, keyword: str) -> bool:
    given = argument(call, keyword)
    return given is not None and literal(given.value) is not True
