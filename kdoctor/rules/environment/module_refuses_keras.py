"""A module refuses to run on this release of Keras, or on this version of Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import evaluated
from kdoctor.syntax.quick_facts import QuickFacts

_VERSION = "version"


def check(module: Module, _: TargetFacts) -> Iterator[Finding]:
    """Report each statement that certainly ends the import of the module."""
    asserted = (each for each in module.nodes(cst.Assert) if _speaks_of_versions(each.test))
    statements: list[cst.If | cst.Assert] = [*module.nodes(cst.If), *asserted]
    for statement in statements:
        stop = module.refusal(statement)
        if stop is None:
            continue
        yield rule.finding(
            module.place(stop),
            f"importing this module fails here: {_error(module, stop)}",
            symbol="raise",
            confidence=Confidence.CERTAIN,
            help="kdoctor also checks the code behind this check: fix that, then delete the check.",
            fix=NoFix("the check can go once the rest of the module is fixed"),
        )


def _speaks_of_versions(test: cst.BaseExpression) -> bool:
    """Say whether it is of a version: what else a script asserts is about its data."""
    return any(
        isinstance(each, cst.Name) and _VERSION in each.value.lower() for each in descendants(test)
    )


def _error(module: Module, stop: cst.BaseSmallStatement) -> str:
    """Return the last line of the traceback, as far as the module says it."""
    match stop:
        case cst.Assert(msg=message):
            return "AssertionError" if message is None else f"AssertionError{_said(message)}"
        case cst.Raise(exc=cst.Call(func=raised, args=[cst.Arg(value=text, star="")])):
            return f"{module.source(raised)}{_said(text)}"
        case cst.Raise(exc=cst.Call(func=raised)):
            return module.source(raised)
        case cst.Raise(exc=cst.BaseExpression() as raised):
            return module.source(raised)
        case cst.Raise():
            return "RuntimeError: No active exception to reraise"
    return "SystemExit"


def _said(text: cst.BaseExpression) -> str:
    return f": {evaluated(text)}" if isinstance(text, cst.SimpleString) else ""


def _may_stop(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        any(_may_stop_in(each) for each in scope.body)
        for scope in quick.scopes
        if isinstance(scope, ast.Module)
    )


def _may_stop_in(statement: ast.stmt) -> bool:
    """Say whether a statement of the module, or one inside of it, is or ends with a stop."""
    match statement:
        case ast.Assert():
            names = (each for each in ast.walk(statement.test))
            return any(
                _VERSION in (getattr(each, "id", "") + getattr(each, "attr", "")).lower()
                for each in names
            )
        case ast.If():
            return any(map(_may_stop_in, (*statement.body, *statement.orelse))) or any(
                map(_may_be_a_stop, (statement.body[-1], *statement.orelse[-1:]))
            )
    return False


def _may_be_a_stop(last: ast.stmt) -> bool:
    match last:
        case ast.Raise():
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))):
            return name in {"_exit", "exit", "quit"}
    return False


rule = Rule(
    code="KD711",
    name="module-refuses-keras",
    family="environment",
    severity=Severity.ERROR,
    check=check,
    triggers=Trigger(_may_stop),
)
