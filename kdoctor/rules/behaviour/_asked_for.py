"""Code that is skipped where ``hasattr(owner, "member")`` is false, and its alternative."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst
from msgspec import Struct

from kdoctor.syntax import Module
from kdoctor.syntax.blocks import always_exits
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import UNKNOWN, literal

_TELLS = frozenset({"critical", "debug", "error", "exception", "info", "print", "warn", "warning"})


class Outcome(Struct, frozen=True):
    """What an answer decides: the code that is passed over, and what runs instead of it."""

    passed_over: Sequence[cst.CSTNode] = ()
    instead: Sequence[cst.CSTNode] = ()


def outcomes(module: Module, asked: cst.BaseExpression, answer: object) -> Iterator[Outcome]:
    """Yield what follows from the answer to a question, also where a name keeps the answer."""
    for place in (asked, *_kept_in(module, asked)):
        yield from _outcomes(module, place, answer)


def _outcomes(module: Module, place: cst.CSTNode, answer: object) -> Iterator[Outcome]:
    """Go up from an expression of which the value is known, as long as it settles what is above."""
    child, value = place, answer
    for parent in module.ancestors(place):
        match parent:
            case cst.UnaryOperation(operator=cst.Not()):
                value = not value
            case cst.Comparison(
                left=left,
                comparisons=[
                    cst.ComparisonTarget(
                        operator=cst.Is() | cst.IsNot() as operator,
                        comparator=cst.Name(value="None"),
                    )
                ],
            ) if left is child:
                value = (value is None) is isinstance(operator, cst.Is)
            case cst.BooleanOperation():
                if bool(value) is isinstance(parent.operator, cst.And):
                    if child is parent.left:  # the value is that of the other side
                        yield Outcome((), (parent.right,))
                    return
                if child is parent.left:
                    yield Outcome((parent.right,), ())
            case cst.If() if child is parent.test:
                yield _of_a_branch(module, parent, is_taken=bool(value))
                return
            case cst.IfExp() if child is parent.test:
                branches = (parent.body, parent.orelse)
                yield Outcome((branches[bool(value)],), (branches[not value],))
                return
            case cst.While() if child is parent.test and not value:
                yield Outcome((parent.body,), ())
                return
            case cst.CompIf():
                above = next(e for e in module.ancestors(parent) if isinstance(e, cst.BaseComp))
                if not value:
                    yield Outcome((above,), ())
                return
            case _:
                return
        child = parent


def _of_a_branch(module: Module, statement: cst.If, *, is_taken: bool) -> Outcome:
    """Return what ``if`` decides, with what stands below it where the branch leaves the block."""
    otherwise = () if statement.orelse is None else (statement.orelse,)
    below = _below(module, statement)
    if is_taken:
        passed_over = below if not otherwise and always_exits(statement.body) else otherwise
        return Outcome(passed_over, (statement.body,))
    if not otherwise and always_exits(statement.body):
        return Outcome((statement.body,), below)
    return Outcome((statement.body,), otherwise)


def _below(module: Module, statement: cst.If) -> Sequence[cst.CSTNode]:
    block = module.parent(statement)
    if not isinstance(block, cst.IndentedBlock | cst.Module):
        return ()
    place = next(i for i, each in enumerate(block.body) if each is statement)
    return tuple(block.body[place + 1 :])


def _kept_in(module: Module, asked: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the reads of a name that keeps the answer, be it that it may keep another later."""
    match module.parent(asked):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as name)]):
            scope = module.scope_of(name)
            for each in descendants(scope.node):
                if isinstance(each, cst.Name) and each.value == name.value and each is not name:
                    yield each


def does_something(node: cst.CSTNode) -> bool:
    """Say whether code does more than tell of what is lacking, give up, or take a fixed value."""
    match node:
        case cst.Else() | cst.IndentedBlock() | cst.SimpleStatementLine():
            block = node.body
            return any(map(does_something, block if isinstance(block, Sequence) else (block,)))
        case cst.SimpleStatementSuite():
            return any(map(does_something, node.body))
        case cst.Pass() | cst.Raise() | cst.Continue() | cst.Break() | cst.Return(value=None):
            return False
        case cst.Return(value=value) if value is not None:
            return not is_fixed(value)
        case cst.Assign():
            names = all(isinstance(each.target, cst.Name) for each in node.targets)
            return not names or not is_fixed(node.value)
        case cst.Expr(value=cst.Call(func=function)):
            return (dotted_name(function) or "").rpartition(".")[2] not in _TELLS
        case cst.Expr(value=value):
            return not is_fixed(value)
        case cst.BaseExpression():
            return not is_fixed(node)
        case _:
            return True


def is_fixed(value: cst.BaseExpression) -> bool:
    """Say whether an expression is a literal: a number, a text, `None`, an empty list."""
    return literal(value) is not UNKNOWN
