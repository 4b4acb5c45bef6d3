"""What a file must have for a query to find anything: ``files(…)``, ``query.beside(…)``."""

from __future__ import annotations

import ast

from kdoctor.analysis.queries.forms import form_of
from kdoctor.analysis.queries.matches import Where
from kdoctor.analysis.triggers import (
    Trigger,
    assigned,
    attribute,
    defines,
    keyword,
    member,
    mentions,
    named,
    package,
    string,
    suffix,
    text,
    word,
)

__all__ = [
    "assigned",
    "assigns",
    "attribute",
    "defines",
    "keyword",
    "member",
    "mentions",
    "named",
    "package",
    "string",
    "suffix",
    "text",
    "word",
]


def assigns(*members: str, where: Where) -> Trigger:
    """An attribute of one of these names is assigned a value of whose form ``where`` holds.

    What a name stands for is not asked: its form is that of a name.
    """
    return assigned(*members) & Trigger(
        lambda quick, _: any(
            isinstance(target, ast.Attribute) and target.attr in members
            for each in quick.nodes.get(ast.Assign, ())
            if where(form_of(each.value))
            for target in each.targets
        )
    )
