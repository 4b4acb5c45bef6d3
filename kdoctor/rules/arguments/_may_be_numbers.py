"""Which expressions of a glimpse may be numbers that are no int."""

from __future__ import annotations

import ast
from typing import Final

from kdoctor.analysis.dataflow.may_values import may_values_of
from kdoctor.memoize import once
from kdoctor.syntax.quick_facts import QuickFacts

_ARITHMETIC: Final = (ast.Add, ast.Sub, ast.Mult)
# Functions of NumPy that give one of its own numbers, and those of them that give a float.
FLOATS: Final = frozenset({"ceil", "floor", "mean", "rint", "round", "sqrt"})
NUMBERS: Final = frozenset({"amax", "amin", "max", "min", "prod", "sum"}) | FLOATS


def may_be_no_int(quick: QuickFacts, node: ast.expr | None) -> bool:
    """Say of an expression of a glimpse whether the rule may know it for no int.

    Each name is followed once: of all that it may hold, some may be passed on for itself.
    """
    waiting: list[ast.expr | None] = [node]
    fine, asked = _ints(quick), set[str]()
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Name):
            if each.id in fine or each.id in asked:
                continue
            asked.add(each.id)
        for value in may_values_of(quick, each):
            match value:
                case ast.Name() if value is not each:  # what is passed
                    waiting.append(value)
                case ast.List() | ast.Tuple():  # what a loop runs over
                    waiting += value.elts
                case ast.Constant(value=float()) | ast.BinOp(op=ast.Div()):
                    return True
                case ast.BinOp(op=operator, left=left, right=right):
                    if isinstance(operator, _ARITHMETIC):
                        waiting += [left, right]
                case ast.Call(func=function, args=[_], keywords=[]):
                    names = quick.meant_by(function)
                    if any(name.rpartition(".")[2] in NUMBERS for name in names):
                        return True
    fine |= asked
    return False


@once
def _ints(_: QuickFacts) -> set[str]:
    """Return the names of which it is known by now that they are not known for anything else."""
    return set()
