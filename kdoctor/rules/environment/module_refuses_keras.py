"""A module refuses to run on this release of Keras, or on this version of Python."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.queries.refusals import Refusal, refusals
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.literals import literal


@rule("KD711", severity=Severity.ERROR, look_for=refusals())
def check(stop: Refusal) -> Finding:
    """Report each statement that certainly ends the import of the module."""
    return stop.finding(
        f"importing this module fails here: {_error(stop)}",
        help="kdoctor also checks the code behind this check: fix that, then delete the check.",
        fix=NoFix("the check can go once the rest of the module is fixed"),
    )


def _error(stop: Refusal) -> str:
    """Return the last line of the traceback, as far as the module says it."""
    match stop.node:
        case cst.Assert(msg=message):
            return "AssertionError" if message is None else f"AssertionError{_said(message)}"
        case cst.Raise(exc=cst.Call(func=raised, args=[cst.Arg(value=text, star="")])):
            return f"{stop.source(raised)}{_said(text)}"
        case cst.Raise(exc=cst.Call(func=raised)):
            return stop.source(raised)
        case cst.Raise(exc=cst.BaseExpression() as raised):
            return stop.source(raised)
        case cst.Raise():
            return "RuntimeError: No active exception to reraise"
    return "SystemExit"


def _said(text: cst.BaseExpression) -> str:
    return f": {literal(text)}" if isinstance(text, cst.SimpleString) else ""
