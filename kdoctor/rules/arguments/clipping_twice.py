"""An optimizer with two kinds of gradient clipping: Keras 3 accepts one."""

from __future__ import annotations

from kdoctor.analysis.queries import Argument, constructs
from kdoctor.analysis.queries.forms import is_number
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_NORMS = ("clipnorm", "global_clipnorm")
_ERROR = "ValueError: Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set."


@rule(
    "KD314",
    severity=Severity.ERROR,
    since="3.2.1",
    look_for=constructs(Kind.OPTIMIZER)
    .even(hidden=True)
    .passing(*_NORMS, where=is_number)
    .argument("clipvalue", where=is_number),
)
def check(value: Argument) -> Finding | None:
    """Report each value that stands beside a norm."""
    norm = next(each for each in _NORMS if value.passes(each, where=is_number))
    if not value.takes(norm):
        return None
    return value.finding(
        f"`{value.cls}` accepts only one kind of clipping: {_ERROR}",
        at=value.arg,
        help=f"Keep one: Keras 2.11 to 2.15 clipped by `{norm}` alone, earlier releases by value, "
        "then by norm.",
        fix=NoFix("kdoctor cannot tell which one is meant"),
    )
