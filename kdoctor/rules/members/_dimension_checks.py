"""Code that asks what a dimension is before it reads its ``value``."""

from __future__ import annotations

import libcst as cst

from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants


def is_asked(module: Module, node: cst.Attribute) -> bool:
    """Say whether the code asks of the dimension first whether it is an int."""
    return isinstance(node.value, cst.Name) and any(
        isinstance(each, cst.If) and _asks_for_the_type(each.test, node.value.value)
        for each in module.ancestors(node)
    )


def _asks_for_the_type(test: cst.BaseExpression, name: str) -> bool:
    for each in descendants(test):
        match each:
            case cst.Call(func=cst.Name(value="isinstance"), args=[cst.Arg(value=asked), _]):
                return isinstance(asked, cst.Name) and asked.value == name
    return False
