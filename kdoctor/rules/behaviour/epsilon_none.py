"""`Adam(epsilon=None)` fails at the first training step."""

from __future__ import annotations

from kdoctor.analysis.calls import replace_expression
from kdoctor.analysis.queries import Argument, constructs
from kdoctor.analysis.queries.forms import form_of, is_none
from kdoctor.model import Finding, Severity
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_EPSILON = "1e-07"
_SET = "set_epsilon"


@rule(
    "KD407",
    severity=Severity.ERROR,
    since="3.0",
    look_for=constructs(Kind.OPTIMIZER).even(hidden=True).arguments(where=is_none),
)
def check(given: Argument) -> Finding | None:
    """Report each ``epsilon`` that is None."""
    if given.arg is not given.given("epsilon") or form_of(given.node) is not None:
        return None
    return given.finding(
        "the first training step fails: ValueError: None values not supported.",
        at=given.arg,
        symbol=f"{given.name}(epsilon)",
        help=f"Remove it, or write `epsilon={_EPSILON}`.",
        fix=given.fix(
            f"Write `{_EPSILON}` instead of None",
            replace_expression(given.module, given.node, _EPSILON),
            unsafe_because="this file sets a different epsilon"
            if _SET in given.module.text
            else "",
        ),
    )
