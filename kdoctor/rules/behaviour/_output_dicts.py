"""Dicts keyed by the name of a single output: ``{"out": y}``."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import replace_expression
from kdoctor.analysis.queries import Argument
from kdoctor.model import Edit, Hole, NoFix, Precedence
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal


def single(by_name: cst.BaseExpression) -> cst.DictElement | None:
    """Return what a dict of one holds. Keras 2 refused others: it knew no such output."""
    match by_name:
        case cst.Dict(elements=[cst.DictElement() as element]):
            return element
    return None


def taken_out(module: Module, node: cst.BaseExpression, element: cst.DictElement) -> Edit | NoFix:
    """Return the edit that writes what a dict of one holds in its place, or why there is none.

    ``node`` is the dict itself, or a name of it.
    """
    if not isinstance(node, cst.Dict):
        name = literal(element.key)
        if not isinstance(name, str):
            return NoFix("the name of the output is not a literal")
        return replace_expression(module, node, f"{module.source(node)}[{name!r}]")
    if module.source(node).count("#") > module.source(element.value).count("#"):
        return NoFix("there is a comment in the dict")
    inner = Hole(module.outer_span(element.value), Precedence.LAMBDA, precedence_of(element.value))
    return Edit(module.span(node), (inner,))


def take_out(by_name: Argument) -> Edit | NoFix:
    """Return the edit that writes what a dict of one holds in its place."""
    element = single(by_name.value_node)
    assert element is not None
    return taken_out(by_name.module, by_name.node, element)
