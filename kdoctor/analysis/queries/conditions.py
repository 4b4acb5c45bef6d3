"""What a file must have for a query to find anything: ``files(…)``, ``query.beside(…)``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.forms import form_of, possible_forms
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
    "assigns",
    "attribute",
    "defines",
    "display",
    "identifier",
    "keyword",
    "member",
    "mentions",
    "mixes",
    "named",
    "only",
    "package",
    "star_import",
    "string",
    "suffix",
    "tested",
    "text",
    "word",
]


def display(where: Where, *, at: slice | None = None) -> Trigger:
    """A list, tuple or dict is written of whose form ``where`` holds.

    With ``at``: of the form of what is there in a list or tuple, for a name of any of its values.
    """

    def fits(quick: QuickFacts, node: ast.List | ast.Tuple | ast.Dict) -> bool:
        if at is None:
            return where(form_of(node))
        parts = [] if isinstance(node, ast.Dict) else node.elts[at]
        return any(where(form) for each in parts for form in possible_forms(quick, each))

    def holds(quick: QuickFacts, _: TargetFacts) -> bool:
        return any(
            fits(quick, each)
            for nodes in quick.scopes.values()
            for each in nodes
            if isinstance(each, ast.List | ast.Tuple | ast.Dict)
        )

    return Trigger(holds)


def only(where: Callable[[str], bool]) -> Trigger:
    """All that is imported, or read through imports, has dotted names of which ``where`` holds."""
    return Trigger(lambda quick, _: all(map(where, quick.names)))


def tested(*last_names: str, where: Callable[[TargetFacts, str], bool]) -> Trigger:
    """A condition or a loop asks for what a call gives of whose dotted name ``where`` holds.

    ``last_names`` are the last parts that such names can have.
    """
    wanted = frozenset(last_names)

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        asked: set[ast.AST] = {
            each.node
            for name, calls in quick.calls_by_meaning.items()
            if name.rpartition(".")[2] in wanted and where(facts, name)
            for each in calls
        }
        kinds = (ast.If, ast.While, ast.IfExp)
        tests = [each.test for kind in kinds for each in quick.nodes.get(kind, ())]
        tests += [each.iter for each in quick.nodes.get(ast.For, ())]
        return bool(asked) and any(each in asked for each in quick.reached(tests))

    return Trigger.needing(wanted, holds)


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


def identifier(where: Callable[[str], bool]) -> Trigger:
    """An identifier is written of which ``where`` holds."""
    return Trigger(lambda quick, _: any(map(where, quick.written)))


def mixes(sort: Callable[[TargetFacts, str], str | None]) -> Trigger:
    """Dotted names of more than one sort are mentioned; ``sort`` tells that of a name, if any."""
    return Trigger(
        lambda quick, facts: len({sort(facts, each) for each in quick.mentioned} - {None}) > 1
    )


def star_import(brings: Callable[[TargetFacts, str], Collection[str]]) -> Trigger:
    """A word is written that ``brings`` says of the module of a star import."""
    return Trigger(
        lambda quick, facts: any(
            not quick.words.isdisjoint(brings(facts, each)) for each in quick.star_modules
        )
    )
