"""What is passed, followed through names: to what is assigned, looped over or passed for them.

For queries of the gate alone. A rule follows a value by itself, and as far as it has to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from kdoctor.analysis.dataflow.may_values import may_values_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.call_query import CallQuery
from kdoctor.analysis.queries.forms import may_form_in
from kdoctor.analysis.queries.matches import Where
from kdoctor.analysis.triggers import Trigger, keyword
from kdoctor.syntax.quick_facts import QuickFacts


def made_of(calls: CallQuery, *parameters: tuple[str, int | None], where: Where) -> Trigger:
    """Such a call passes, as one of these arguments, what is made of something that fits.

    ``where`` is asked of the form of each part: of what stands for a name, in a list or a tuple, on
    either side of an operation, or in a text that is put together.
    """

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        found = calls.may_find(quick, facts)
        given = (each.argument(*one) for each in found for one in parameters)
        return any(map(where, _forms_of_parts(quick, given)))

    return Trigger(holds) & calls.trigger  # it looks through the file for types


def keyword_made_of(name: str, where: Where) -> Trigger:
    """Whatever call passes such a keyword, what it passes is made of something that fits."""

    def holds(quick: QuickFacts, _: TargetFacts) -> bool:
        given = (each.argument(name) for each in quick.calls_with(name))
        return any(map(where, _forms_of_parts(quick, given)))

    return keyword(name) & Trigger(holds)


def _forms_of_parts(quick: QuickFacts, given: Iterable[ast.expr | None]) -> Iterator[object]:
    """Yield the forms of expressions and of all that they are made of, each name once."""
    waiting, seen = [each for each in given if each is not None], set[str]()
    for each in waiting:  # it grows meanwhile
        yield may_form_in(quick, each)
        if not isinstance(each, ast.Name):
            waiting += _parts(each)
        elif each.id not in seen:
            seen.add(each.id)
            waiting += may_values_of(quick, each)


def _parts(node: ast.expr) -> Sequence[ast.expr]:
    match node:
        case ast.List() | ast.Tuple():
            return node.elts
        case ast.BinOp():
            return (node.left, node.right)
        case ast.IfExp():
            return (node.body, node.orelse)
        case ast.BoolOp() | ast.JoinedStr():
            return node.values
        case ast.FormattedValue() | ast.Starred():
            return (node.value,)
        case ast.Call(func=ast.Attribute(attr="format", value=template)):
            return (template, *node.args, *(each.value for each in node.keywords))
    return ()
