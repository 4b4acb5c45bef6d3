"""`ReduceLROnPlateau(epsilon=…)` is ignored: the argument is now `min_delta`."""

from __future__ import annotations

from kdoctor.analysis.queries import Argument, Instance, constructs
from kdoctor.model import Edit, Finding, Severity
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind


@rule(
    "KD417",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=constructs(Instance(Kind.CALLBACK, "ReduceLROnPlateau"))
    .even(hidden=True, guarded=True)
    .without("min_delta")
    .argument("epsilon"),
)
def check(given: Argument) -> Finding:
    """Report each ``epsilon=``."""
    assert given.arg.keyword is not None
    edit = Edit(given.module.span(given.arg.keyword), ("min_delta",))
    return given.finding(
        "`epsilon=` is ignored: the threshold stays at 0.0001",
        at=given.arg,
        help="Write `min_delta=`.",
        fix=given.fix("Write `min_delta=`", edit),
    )
