"""What a file must have for a query to find anything: ``files(…)``, ``query.beside(…)``."""

from __future__ import annotations

import ast

from kdoctor.analysis.facts import TargetFacts
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
from kdoctor.syntax.quick_facts import QuickFacts

__all__ = [
    "assigned",
    "attribute",
    "defines",
    "display",
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


def display(where: Where) -> Trigger:
    """A list, tuple or dict is written of whose form ``where`` holds."""

    def holds(quick: QuickFacts, _: TargetFacts) -> bool:
        return any(
            where(form_of(each))
            for nodes in quick.scopes.values()
            for each in nodes
            if isinstance(each, ast.List | ast.Tuple | ast.Dict)
        )

    return Trigger(holds)
