"""The loss of a `Sequential` is given as a dict keyed by its output's name."""

from __future__ import annotations

from kdoctor.analysis.queries import Argument, Instance, calls
from kdoctor.analysis.queries.forms import is_dict_of_one
from kdoctor.model import Finding, Severity
from kdoctor.rules.behaviour._output_dicts import take_out
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_REFUSED = "TypeError: 'NoneType' object is not iterable"


@rule(
    "KD452",
    severity=Severity.ERROR,
    since="3.1",
    look_for=calls("compile", on=Instance(Kind.MODEL, cls="Sequential")).argument(
        "loss", 1, where=is_dict_of_one
    ),
)
def check(loss: Argument) -> Finding:
    """Report each such dict."""
    return loss.finding(
        f"a `Sequential` has no output names: {_REFUSED}",
        symbol="keras.Sequential.compile",
        help="Pass the loss without a dict.",
        fix=loss.fix("Take the loss out of the dict", take_out(loss)),
    )
