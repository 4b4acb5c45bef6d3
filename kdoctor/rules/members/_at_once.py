"""What is done with the value of a variable: looked at on the spot, or kept while it may change."""

from __future__ import annotations

import builtins

import libcst as cst

from kdoctor.rewrite.guards import Answer, Guard, Question, Situation
from kdoctor.syntax import Module

_READ = (
    *(cst.BinaryOperation, cst.UnaryOperation, cst.Comparison, cst.ComparisonTarget, cst.Expr),
    *(cst.Attribute, cst.Subscript, cst.FormattedStringExpression),
)
_LIBRARIES = ("keras.", "tensorflow.", "numpy.")


def used_at_once() -> Guard:
    """Nothing keeps the result: it is an operand, or goes into a function of a library.

    The value of Keras 3's variables is the variable of TensorFlow itself, which changes with it.
    """
    return Question(
        "used_at_once()",
        "the value may be looked at after the variable has changed",
        _answer,
    )


def _answer(situation: Situation) -> Answer:
    module = situation.module
    parent = module.parent(situation.node)
    if isinstance(parent, cst.Arg):
        call = module.parent(parent)
        is_read = isinstance(call, cst.Call) and _only_reads(module, call.func)
    else:
        is_read = isinstance(parent, _READ)
    return Answer.YES if is_read else Answer.NO


def _only_reads(module: Module, function: cst.BaseExpression) -> bool:
    name = module.qualified(function)
    if name is None and isinstance(function, cst.Name):
        return hasattr(builtins, function.value) and (
            module.scope_of(function).owner(function.value) is None
        )
    return name is not None and name.startswith(_LIBRARIES)
