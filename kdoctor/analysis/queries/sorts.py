"""Sorts of values: the question what an expression is, for both trees.

A sort says of an expression of the exact tree whether it surely is such a value, and of one of
Python's own whether it may be. Queries ask it of operands, of owners of attributes, of conditions.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.queries.forms import form_of
from kdoctor.analysis.queries.matches import Where
from kdoctor.analysis.triggers import may_have_kind
from kdoctor.syntax import Module
from kdoctor.value_types import Kind, Type

if TYPE_CHECKING:
    from kdoctor.syntax.may_types import MayTypes
    from kdoctor.syntax.quick_facts import QuickFacts
    from kdoctor.syntax.symbol_table import Namespace


class Site(Struct, frozen=True):
    """Where an expression of Python's own tree stands, with what is known of its file."""

    quick: QuickFacts
    possible: MayTypes
    space: Namespace


class Sort(Struct, frozen=True):
    """A sort of value: ``is_one`` is what is sure, ``may_be_one`` what is possible."""

    is_one: Callable[[Module, cst.BaseExpression], bool]
    may_be_one: Callable[[Site, ast.expr], bool]


def of_kind(*kinds: Kind, where: Callable[[Type], bool] | None = None) -> Sort:
    """Objects of one of these kinds; ``where`` is asked of their type, once that is sure."""

    def is_one(module: Module, node: cst.BaseExpression) -> bool:
        found = module.type_of(node)
        return found is not None and found.kind in kinds and (where is None or where(found))

    def may_be_one(site: Site, node: ast.expr) -> bool:
        return may_have_kind(site.possible, node, site.space, kinds)

    return Sort(is_one, may_be_one)


def of_form(where: Where, *, named: bool = False) -> Sort:
    """What is written in a form of which ``where`` holds.

    With ``named`` names, too, but for those that the file gives values of other forms only.
    """

    def is_one(_: Module, node: cst.BaseExpression) -> bool:
        return (named and isinstance(node, cst.Name)) or where(form_of(node))

    def may_be_one(site: Site, node: ast.expr) -> bool:
        if not named or not isinstance(node, ast.Name):
            return where(form_of(node))
        values = site.quick.values_of(node)
        # What no assignment gives a value, a loop or a call does.
        return not values or any(
            isinstance(each, ast.Name) or where(form_of(each)) for each in values
        )

    return Sort(is_one, may_be_one)
