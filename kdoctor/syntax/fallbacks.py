"""The parts of conditions and handlers that decide what stands in for what fails."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.syntax.imports import dotted


def condition(parent: cst.CSTNode, child: cst.CSTNode) -> tuple[cst.BaseExpression | None, bool]:
    """Return the test on which ``child`` of ``parent`` depends, and how it must turn out."""
    match parent:
        case cst.If() | cst.IfExp() if child is parent.body:
            return parent.test, True
        case cst.If() | cst.IfExp() if child is parent.orelse:
            return parent.test, False
        case cst.BooleanOperation() if child is parent.right:
            return parent.left, isinstance(parent.operator, cst.And)
        case _:
            return None, True


def is_within(path: str, longer: str) -> bool:
    """Say whether ``longer`` is ``path`` with more parts somewhere in it."""
    parts = iter(longer.split("."))
    return all(each in parts for each in path.split("."))


def checks_types(test: cst.BaseExpression) -> bool:
    """Say whether a test is `TYPE_CHECKING`."""
    return (dotted(test) or "").rpartition(".")[2] == "TYPE_CHECKING"


def caught_by(
    handler: cst.ExceptHandler | cst.ExceptStarHandler,
) -> Iterator[cst.BaseExpression]:
    """Yield the exceptions that a handler names."""
    if isinstance(handler.type, cst.Tuple):
        yield from (element.value for element in handler.type.elements)
    elif handler.type is not None:
        yield handler.type


def is_another_member(callee: cst.CSTNode, member: cst.CSTNode) -> bool:
    """Say whether another member of the same object is called: ``fit`` for ``fit_generator``."""
    return (
        isinstance(callee, cst.Attribute)
        and isinstance(member, cst.Attribute)
        and written(callee.value) == written(member.value)
        and callee.attr.value != member.attr.value
    )


def targets(statement: cst.Assign) -> list[str]:
    """Return what an assignment assigns to, as it is written."""
    return [written(each.target) for each in statement.targets]


def written(node: cst.CSTNode) -> str:
    """Return the source of a node."""
    return cst.Module(body=()).code_for_node(node)


def is_empty(value: cst.BaseExpression | None) -> bool:
    """Say whether a value stands for what is not there: `None`, `False`."""
    return isinstance(value, cst.Name) and value.value in {"None", "False"}
