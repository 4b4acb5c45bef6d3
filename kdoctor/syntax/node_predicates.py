"""Syntactic predicates on libcst nodes, without name resolution."""

from __future__ import annotations

import libcst as cst

from kdoctor.syntax.libcst_walk import own_nodes


def has_unknown_decorators(function: cst.FunctionDef) -> bool:
    """Say whether a decorator may have replaced the function."""
    known = {"staticmethod", "classmethod", "property"}
    return any(
        not isinstance(each.decorator, cst.Name) or each.decorator.value not in known
        for each in function.decorators
    )


def returns_of(function: cst.FunctionDef) -> tuple[cst.Return, ...] | None:
    """Return a function's return statements, None if its calls give anything else."""
    if function.asynchronous is not None or has_unknown_decorators(function):
        return None
    found = []
    for node in own_nodes(function.body):
        if node.__class__ is cst.Yield:
            return None
        if type(node) is cst.Return:
            found.append(node)
    return tuple(found)


def is_property(function: cst.FunctionDef) -> bool:
    """Say whether it is read as an attribute."""
    return any(
        isinstance(each.decorator, cst.Name) and each.decorator.value == "property"
        for each in function.decorators
    )


def is_starred(node: cst.CSTNode) -> bool:
    """Say whether it is the parameter ``*args`` or ``**kwargs``."""
    return isinstance(node, cst.Param) and node.star not in {"", cst.MaybeSentinel.DEFAULT}


def first_name(node: cst.CSTNode | None) -> cst.Name | None:
    """Return ``tf`` of ``tf.compat.v1``, the name itself where it is one; None of all else."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return node if isinstance(node, cst.Name) else None


def is_number(node: cst.BaseExpression) -> bool:
    """Say whether it is a number as it stands, with a sign or without."""
    if isinstance(node, cst.UnaryOperation):
        node = node.expression
    return isinstance(node, cst.BaseNumber)
