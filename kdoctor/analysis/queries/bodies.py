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
    """What is written in a function.

    ``returned`` are the forms of what it returns, ``indexed`` the names of which items are read,
    ``unpacked`` those that are assigned to several targets at once.
    """

    attributes: frozenset[str]
    strings: frozenset[str]
    returned: tuple[object, ...]
    indexed: frozenset[str]
    unpacked: frozenset[str]


def body_of(node: Function) -> Body:
    """Return the body of a function of either tree. That of functions inside may count, too."""
    if isinstance(node, cst.FunctionDef):
        inside = list(descendants(node.body))
        texts = (evaluated(each) for each in inside if isinstance(each, cst.SimpleString))
        return Body(
            frozenset(each.attr.value for each in inside if isinstance(each, cst.Attribute)),
            frozenset(each for each in texts if isinstance(each, str)),
            tuple(form_of(each) for each in returned_in(node) if each is not None),
            frozenset(
                each.value.value
                for each in inside
                if isinstance(each, cst.Subscript) and isinstance(each.value, cst.Name)
            ),
            frozenset(
                each.value.value
                for each in inside
                if isinstance(each, cst.Assign) and isinstance(each.value, cst.Name)
                if any(isinstance(one.target, cst.Tuple | cst.List) for one in each.targets)
            ),
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
        frozenset(
            each.value.id
            for each in nodes
            if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name)
        ),
        frozenset(
            each.value.id
            for each in nodes
            if isinstance(each, ast.Assign) and isinstance(each.value, ast.Name)
            if any(isinstance(one, ast.Tuple | ast.List) for one in each.targets)
        ),
    )
