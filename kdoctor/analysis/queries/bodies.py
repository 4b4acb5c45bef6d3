"""What stands in a function, as one value for both trees: for ``body=`` of a query."""

from __future__ import annotations

import ast

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.queries.forms import form_of
from kdoctor.analysis.queries.signatures import Function
from kdoctor.syntax.ast_walk import nodes_in
from kdoctor.syntax.libcst_walk import descendants, returned_in
from kdoctor.syntax.literals import evaluated


class Body(Struct, frozen=True):
    """The attributes and strings in a function, and the forms of what it returns."""

    attributes: frozenset[str]
    strings: frozenset[str]
    returned: tuple[object, ...]


def body_of(node: Function) -> Body:
    """Return the body of a function of either tree. That of functions inside may count, too."""
    if isinstance(node, cst.FunctionDef):
        inside = list(descendants(node.body))
        texts = (evaluated(each) for each in inside if isinstance(each, cst.SimpleString))
        return Body(
            frozenset(each.attr.value for each in inside if isinstance(each, cst.Attribute)),
            frozenset(each for each in texts if isinstance(each, str)),
            tuple(form_of(each) for each in returned_in(node) if each is not None),
        )
    nodes = [each for line in node.body for each in nodes_in(line)]
    return Body(
        frozenset(each.attr for each in nodes if isinstance(each, ast.Attribute)),
        frozenset(
            each.value
            for each in nodes
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        ),
        tuple(form_of(e.value) for e in nodes if isinstance(e, ast.Return) and e.value is not None),
    )
