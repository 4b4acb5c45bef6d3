"""Expressions that are tested: compared with None, or what a condition asks."""

from __future__ import annotations

import ast
from itertools import chain
from typing import Final

import libcst as cst

from kdoctor.analysis.triggers import Trigger
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import nodes_in

_CONDITIONS: Final = (ast.If, ast.While, ast.IfExp, ast.Assert)


def is_tested(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it is compared with None, or (a part of) a condition itself."""
    match module.parent(node):
        case cst.Comparison(
            left=left,
            comparisons=[
                cst.ComparisonTarget(
                    operator=cst.Is() | cst.IsNot() | cst.Equal() | cst.NotEqual(),
                    comparator=cst.Name(value="None"),
                )
            ],
        ):
            return left is node
    inner: cst.CSTNode = node
    for each in module.ancestors(node):
        match each:
            case cst.UnaryOperation(operator=cst.Not()) | cst.BooleanOperation():
                inner = each
            case cst.If(test=test) | cst.While(test=test) | cst.IfExp(test=test):
                return test is inner
            case cst.Assert(test=test):
                return test is inner
            case _:
                return False
    return False


def tests(*members: str) -> Trigger:
    """An attribute of one of these names stands in a condition, or is compared."""
    return Trigger(
        lambda quick, _: any(
            isinstance(each, ast.Attribute) and each.attr in members
            for each in chain(
                (compared.left for compared in quick.nodes.get(ast.Compare, ())),
                chain.from_iterable(
                    nodes_in(condition.test)
                    for kind in _CONDITIONS
                    for condition in quick.nodes.get(kind, ())
                ),
            )
        )
    )
