"""A module refuses to run on this release of Keras, or on this version of Python.

## What it does
Reports a top-level `if` whose test has a known result on the target and which then ends with
`raise` or `sys.exit`: `if keras.__version__ >= "3": raise ImportError`. The same goes for `assert
keras.__version__ < "3"`. The code after it, or in the other branch, is checked as well: it is the
code to fix.

A check that skips tests (`pytest.skip`, `raise unittest.SkipTest`) does not count: the code that it
guards does not run and is not reported. Checks inside functions are not reported either.

## Why it breaks
The module cannot be imported: it raises that exception.

## What to write instead
Fix the rest of the module, then delete the check.

## How we know
The exception is the one that the module itself raises. A test compares the known results of
conditions with Python: `tests/syntax/test_condition_values.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal
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
    return f": {literal(text)}" if isinstance(text, cst.SimpleString) else ""


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

_OLD = 'import keras\n\nif keras.__version__ < "3":\n    raise ImportError("Keras 3 is needed")\n'

_IN_A_FUNCTION = """\
import keras


def save(model):
    if keras.__version__ >= "3":
        raise RuntimeError("not here")
    return model
"""
_CAUGHT = """\
import keras

try:
    if keras.__version__ >= "3":
        raise ImportError("too new")
    OLD = True
except ImportError:
    OLD = False
"""
_SKIPPED = """\
import unittest

import keras

if keras.__version__ >= "3":
    raise unittest.SkipTest("of Keras 2")
"""

VALID = [
    f"{_OLD}\nlayer = keras.layers.Dense(1)",
    # A function that is for another Keras does no harm.
    _IN_A_FUNCTION,
    # Nothing fails where tests are skipped, or where the exception is caught.
    _SKIPPED,
    _CAUGHT,
    # Nobody knows how that turns out.
    'import keras\nimport sys\n\nif "--old" in sys.argv:\n    raise SystemExit(keras.__version__)',
]
INVALID = [
    Example(
        before='import keras\n\nassert keras.__version__ < "3", "Keras 2 is needed"\n',
        raises="AssertionError: Keras 2 is needed",
    ),
    Example(
        before='import keras\n\nif keras.__version__ >= "3":\n'
        '    raise ImportError("Keras 2 is needed")\n\nlayer = keras.layers.Dense(1)',
        raises="ImportError: Keras 2 is needed",
    ),
    Example(
        before='import keras\n\nif keras.__version__.startswith("2."):\n'
        "    layer = keras.layers.Dense(1)\nelse:\n"
        '    raise RuntimeError("an unknown Keras")',
        raises="RuntimeError: an unknown Keras",
    ),
]
