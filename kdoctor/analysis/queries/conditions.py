"""What a file must have for a query to find anything: ``files(…)``, ``query.beside(…)``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable
from itertools import chain
from typing import Any, Final

from kdoctor.analysis.class_glimpses import bases_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.call_query import CallQuery
from kdoctor.analysis.queries.forms import Given, form_of, given_by, possible_forms
from kdoctor.analysis.queries.matches import Where
from kdoctor.analysis.queries.sorts import Site
from kdoctor.analysis.triggers import (
    Trigger,
    assigned,
    attribute,
    defines,
    keyword,
    may_hold,
    member,
    mentions,
    named,
    package,
    said_of_names,
    string,
    suffix,
    text,
    word,
)
from kdoctor.memoize import once
from kdoctor.syntax.ast_walk import ast_dotted_name, leaf_of, parameters_of
from kdoctor.syntax.quick_facts import QuickFacts

__all__ = [
    "ASKS_OTHER_BACKENDS",
    "assigned",
    "assigns",
    "attribute",
    "defines",
    "derives_from",
    "display",
    "given_own",
    "given_result",
    "given_to",
    "identifier",
    "item",
    "keyword",
    "member",
    "mentions",
    "mixes",
    "named",
    "only",
    "package",
    "read_of",
    "repeated",
    "several",
    "star_import",
    "string",
    "suffix",
    "tested",
    "text",
    "texts",
    "together",
    "word",
]

ASKS_OTHER_BACKENDS: Final = Trigger(lambda _, facts: bool(facts.backends))
"""A backend beside TensorFlow is asked for."""


_DISPLAYS: Final[frozenset[object]] = frozenset({ast.List, ast.Tuple, ast.Dict})


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
        return any(fits(quick, each) for each in _displays(quick))

    return Trigger(holds)


def item(*places: int, where: Where) -> Trigger:
    """A list or tuple has at one of these places, from 0, a value of whose form ``where`` holds.

    For a name, one of its values has.
    """

    def holds(quick: QuickFacts, _: TargetFacts) -> bool:
        return any(
            where(form_of(value))
            for each in _displays(quick)
            if isinstance(each, ast.List | ast.Tuple)
            for place in places
            for value in quick.values_of(each.elts[place] if place < len(each.elts) else None)
        )

    return Trigger(holds)


@once
def _displays(quick: QuickFacts) -> list[Any]:
    scopes = quick.scopes.values()
    return [each for nodes in scopes for each in nodes if type(each) in _DISPLAYS]


def derives_from(*last_names: str) -> Trigger:
    """A class is defined with a base whose dotted name ends with one of these names."""

    def holds(quick: QuickFacts, _: TargetFacts) -> bool:
        classes = quick.nodes.get(ast.ClassDef, ())
        return any(leaf_of(base) in last_names for each in classes for base in bases_of(each))

    return Trigger.needing(last_names, holds)


def given_to(calls: CallQuery, where: Callable[[TargetFacts, str], bool]) -> Trigger:
    """Such a call passes something imported of whose dotted name ``where`` holds."""
    return calls.trigger & Trigger(
        lambda quick, facts: any(
            where(facts, name)
            for called in calls.may_find(quick, facts)
            for given in called.values
            for name in quick.meant_by(given)
        )
    )


def given_own(
    calls: CallQuery, *parameters: tuple[str, int | None], by_parameter: bool = False
) -> Trigger:
    """Such a call may pass a function or class of the file, or hold one, as one of these arguments.

    ``by_parameter``: it may come through parameters and attributes, too.
    """

    def may_be_own(quick: QuickFacts, given: ast.AST, names: Collection[str]) -> bool:
        match given:
            case ast.Attribute() if quick.meant_by(given):
                return False  # `keras.metrics`, though a class may have `metrics`, too
            case ast.Lambda():
                return by_parameter
            case ast.Attribute(attr=name):
                return by_parameter or name in names
            case ast.Name(id=name):
                return name in names
        return False

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        names = _names_defined(quick) | (_parameters(quick) if by_parameter else frozenset())
        called = calls.may_find(quick, facts)
        given = (each.argument(*one) for each in called for one in parameters)
        reached = quick.reached(each for each in given if each is not None)
        return any(may_be_own(quick, each, names) for each in reached)

    return calls.trigger & Trigger(holds)


@once
def _names_defined(quick: QuickFacts) -> frozenset[str]:
    kinds = (ast.FunctionDef, ast.ClassDef)
    return frozenset(each.name for kind in kinds for each in quick.nodes.get(kind, ()))


@once
def _parameters(quick: QuickFacts) -> frozenset[str]:
    functions = chain.from_iterable(quick.nodes.get(e, ()) for e in (ast.FunctionDef, ast.Lambda))
    return frozenset(one.arg for each in functions for one in parameters_of(each.args))


def given_result(
    calls: CallQuery, *keywords: str, where: Callable[[TargetFacts, str], bool]
) -> Trigger:
    """Such a call passes what a call gives of whose dotted name ``where`` holds.

    It passes it by one of these keywords if any, directly or by a name.
    """

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        makers: set[ast.AST] = {
            each.node
            for name, found in quick.calls_by_meaning.items()
            if where(facts, name)
            for each in found
        }
        given = chain.from_iterable(
            filter(None, map(called.argument, keywords)) if keywords else called.values
            for called in (asked.may_find(quick, facts) if makers else ())
        )
        return any(each in makers for each in quick.reached(given))

    asked = calls.passing(*keywords) if keywords else calls
    return asked.trigger & Trigger(holds)


def several(calls: CallQuery) -> Trigger:
    """There is more than one such call."""
    return calls.trigger & Trigger(lambda quick, facts: len(calls.may_find(quick, facts)) > 1)


def together(one: CallQuery, other: CallQuery, where: Callable[[Given, Given], bool]) -> Trigger:
    """There are two calls, one of each, and ``where`` holds of what they pass."""

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        others = [given_by(each.node) for each in other.may_find(quick, facts)]
        passed = [given_by(each.node) for each in one.may_find(quick, facts)] if others else ()
        return any(where(each, beside) for each in passed for beside in others)

    return one.trigger & other.trigger & Trigger(holds)


def repeated(calls: CallQuery, name: str, place: int | None = None) -> Trigger:
    """Two such calls pass the same name as this argument, or one does again and again.

    That is in a loop, or in a function that may be called twice: if nothing there assigns the name.
    """

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        given = [
            (written, called.node)
            for called in calls.may_find(quick, facts)
            if (value := called.argument(name, place)) is not None
            if (written := ast_dotted_name(value))
        ]
        if len({written for written, _ in given}) < len(given):
            return True
        return any(
            _is_around(around, call) and not _assigns(quick, around, written)
            for written, call in given
            for around in _run_again(quick, is_local="." not in written)
        )

    return calls.trigger & Trigger(holds)


def _run_again(quick: QuickFacts, *, is_local: bool) -> Iterable[ast.stmt]:
    kinds = (ast.For, ast.While, *((ast.FunctionDef,) if is_local else ()))
    return chain.from_iterable(quick.nodes.get(kind, ()) for kind in kinds)


def _is_around(place: ast.stmt, node: ast.stmt | ast.expr) -> bool:
    """Say whether a node stands in the lines of a statement."""
    return place.lineno <= node.lineno <= (place.end_lineno or place.lineno)


def _assigns(quick: QuickFacts, place: ast.stmt, written: str) -> bool:
    return any(
        ast_dotted_name(target) == written and _is_around(place, assign)
        for assign in quick.nodes.get(ast.Assign, ())
        for target in assign.targets
    )


def texts(where: Callable[[str], bool]) -> Trigger:
    """``where`` holds of all strings that are no docstrings, joined by lines."""
    return Trigger(lambda quick, _: where("\n".join(quick.strings)))


def read_of(may_be: Callable[[Site, ast.expr], bool], *members: str) -> Trigger:
    """An attribute of one of these names is read, or assigned, of what ``may_be`` holds of."""

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        return may_hold(
            quick,
            facts,
            lambda possible: any(
                may_be(Site(quick, possible, space), node.value)
                for places in (possible.reads, possible.writes)
                for node, space in places(members)
            ),
        )

    return member(*members) & Trigger(holds)


def read_of_attribute(*members: str) -> Trigger:
    """An attribute of one of these names is read of another: ``self.layer.add_weight``."""
    return read_of(lambda _, owner: isinstance(owner, ast.Attribute), *members)


def only(where: Callable[[str], bool]) -> Trigger:
    """All that is imported, or read through imports, has dotted names of which ``where`` holds."""
    return Trigger(lambda quick, _: all(map(where, quick.names)))


def tested(*last_names: str, where: Callable[[TargetFacts, str], bool]) -> Trigger:
    """A condition or a loop asks for what a call gives of whose dotted name ``where`` holds.

    ``last_names`` are the last parts that such names can have.
    """
    wanted = frozenset(last_names)
    said = said_of_names(
        lambda facts, name: name.rpartition(".")[2] in wanted and where(facts, name)
    )

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        names = said(facts).among(quick.calls_by_meaning.keys())
        asked = {each.node for name in names for each in quick.calls_by_meaning[name]}
        if not asked:
            return False
        kinds = (ast.If, ast.While, ast.IfExp)
        tests = [each.test for kind in kinds for each in quick.nodes.get(kind, ())]
        tests += [each.iter for each in quick.nodes.get(ast.For, ())]
        return any(each in asked for each in quick.reached(tests))

    return Trigger.needing(wanted, holds)


def assigns(*members: str, where: Where) -> Trigger:
    """An attribute of one of these names is assigned a value of whose form ``where`` holds.

    What a name stands for is not asked: its form is that of a name.
    """
    return assigned(*members) & Trigger(
        lambda quick, _: any(
            where(form_of(each.value))
            for each in quick.nodes.get(ast.Assign, ())
            for target in each.targets
            if isinstance(target, ast.Attribute) and target.attr in members
        )
    )


def identifier(where: Callable[[str], bool]) -> Trigger:
    """An identifier is written of which ``where`` holds."""
    return Trigger(lambda quick, _: any(map(where, quick.written)))


def mixes(sort: Callable[[TargetFacts, str], str | None]) -> Trigger:
    """Dotted names of more than one sort are imported or mentioned.

    ``sort`` tells that of a name, if any.
    """

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        names = quick.names | quick.mentioned
        return len({sort(facts, each) for each in names} - {None}) > 1

    return Trigger(holds)


def star_import(brings: Callable[[TargetFacts, str], Collection[str]]) -> Trigger:
    """A word is written that ``brings`` says of the module of a star import."""
    return Trigger(
        lambda quick, facts: any(
            not quick.words.isdisjoint(brings(facts, each)) for each in quick.star_modules
        )
    )
