"""Queries for classes of the user's own, by what they derive from and define."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import reduce
from itertools import chain
from operator import and_

import libcst as cst

from kdoctor import keras_api
from kdoctor.analysis.class_glimpses import bases_meant, lineages, may_derive_from, methods_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import decorated_by as decorators_of
from kdoctor.analysis.models.user_classes import kind_of_class, methods_in
from kdoctor.analysis.queries.bodies import Asks, Body, body_of, may_be_body_of
from kdoctor.analysis.queries.call_query import Instance
from kdoctor.analysis.queries.forms import form_of
from kdoctor.analysis.queries.matches import Class, Method, Where
from kdoctor.analysis.queries.parts import form_with_parts, may_have_parts
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.queries.signatures import AstFunction, FormalSignature, signature_of
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.keras_api import split_root
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import inner_nodes, nodes_in
from kdoctor.syntax.classes import unsubscripted
from kdoctor.syntax.libcst_walk import descendants, own_nodes
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

Of = Kind | Instance | Collection[str]
"""What a class derives from: a class of Keras of this kind. Or what it directly derives from: this
class, or one of these names, given without their root: ``utils.Sequence``."""


def classes(
    of: Of,
    *,
    defining: Collection[str] = (),
    decorated_by: Collection[str] = (),
    bodies: Callable[[Mapping[str, Body]], bool] | None = None,
    guarded: bool = False,
) -> Query[Class]:
    """Classes that derive from such a class of Keras, and define these methods.

    ``decorated_by``: and have a method with a decorator of one of these dotted names. ``bodies`` is
    asked of what stands in the methods, by their names. Not in code that is guarded, unless
    ``guarded``.
    """
    wanted = frozenset(defining)

    def find(module: Module, facts: TargetFacts) -> Iterator[Class]:
        for node in module.nodes(cst.ClassDef):
            methods = methods_in(node)
            if not methods.keys() >= wanted or not _derives(module, node, of):
                continue
            decorators = {name for each in methods.values() for name in decorators_of(module, each)}
            if decorated_by and decorators.isdisjoint(decorated_by):
                continue
            if bodies and not bodies({name: body_of(module, methods[name]) for name in methods}):
                continue
            if guarded or not module.is_guarded(node):
                yield Class(module, facts, node)

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        return any(
            (bodies is None or bodies(_may_be_bodies(quick, node)))
            for node in _classes_with_bases(quick)
            if methods_of(quick, node).keys() >= wanted
            and _may_derive(quick, facts, node, of)
            and (not decorated_by or not _may_be_decorators(quick, node).isdisjoint(decorated_by))
        )

    return Query(find, _named(of, Trigger.needing(defining, holds) if defining else Trigger(holds)))


def methods(  # noqa: PLR0913 - what methods are asked for, by keyword
    *names: str,
    of: Of,
    where: Callable[[FormalSignature], bool] | None = None,
    body: Asks | None = None,
    holding: Where | None = None,
    returning: Where | None = None,
    defining: Collection[str] = (),
    lacking: Collection[str] = (),
    made: bool = False,
    guarded: bool = False,
) -> Query[Method]:
    """Methods that such classes define.

    ``where`` is asked of their signature, ``body`` of what stands in them; ``holding`` of the form
    of each expression in their body, ``returning`` of that of what they return, with its parts (see
    ``parts``): one must fit. The class also defines those of ``defining``, and none of ``lacking``;
    if ``made``, the file calls something of its name.
    """
    owners = classes(of, defining=defining, guarded=guarded)
    wanted, defined, left_out = frozenset(names), frozenset(defining), frozenset(lacking)

    def fits(method: AstFunction | cst.FunctionDef, quick: QuickFacts | None) -> bool:
        if where is not None and not where(signature_of(method)):
            return False
        if holding is not None and not any(map(holding, _forms_in(method))):
            return False
        return returning is None or any(map(returning, _forms_returned(method, quick)))

    def find(module: Module, facts: TargetFacts) -> Iterator[Method]:
        for each in owners.find(module, facts):
            if not left_out.isdisjoint(each.methods):
                continue
            if made and not is_made(module, each.node):
                continue
            for method in (each.methods[name] for name in names if name in each.methods):
                if fits(method, None) and (body is None or body(body_of(module, method))):
                    yield Method(each, method)

    def may_be_one(quick: QuickFacts, method: AstFunction | None) -> bool:
        return (
            method is not None
            and fits(method, quick)
            and (body is None or body(may_be_body_of(quick, method)))
        )

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        return any(
            any(may_be_one(quick, own.get(name)) for name in names)
            for node in _classes_with_bases(quick)
            for own in (methods_of(quick, node),)
            if not wanted.isdisjoint(own)
            and defined <= own.keys()
            and left_out.isdisjoint(own)
            and (not made or quick.calls_of(node.name))
            and _may_derive(quick, facts, node, of)
        )

    return Query(find, _named(of, Trigger.needing(names, holds)))


def lineage(*, made: bool = False, **methods: Asks) -> Trigger:
    """A class has, or has from its own bases in the file, methods with such bodies.

    If ``made``, the file calls something of its name or of a base's (``is_made``).
    """

    def fits(quick: QuickFacts, line: Collection[ast.ClassDef]) -> bool:
        return (not made or any(quick.calls_of(each.name) for each in line)) and all(
            any(
                asks(may_be_body_of(quick, own[name]))
                for own in (methods_of(quick, each) for each in line)
                if name in own
            )
            for name, asks in methods.items()
        )

    return reduce(and_, map(word, methods)) & Trigger(
        lambda quick, _: any(fits(quick, each) for each in lineages(quick))
    )


def is_made(module: Module, cls: cst.ClassDef) -> bool:
    """Say whether the file calls something of the name of a class."""
    return cls.name.value in _names_called(module)


@once
def _names_called(module: Module) -> frozenset[str]:
    calls = (each.func for each in module.nodes(cst.Call))
    names = (each.attr if isinstance(each, cst.Attribute) else each for each in calls)
    return frozenset(each.value for each in names if isinstance(each, cst.Name))


def _may_be_bodies(quick: QuickFacts, node: ast.ClassDef) -> dict[str, Body]:
    return {name: may_be_body_of(quick, each) for name, each in methods_of(quick, node).items()}


def _may_be_decorators(quick: QuickFacts, node: ast.ClassDef) -> set[str]:
    return {
        name
        for method in methods_of(quick, node).values()
        for each in method.decorator_list
        for name in quick.meant_by(each.func if isinstance(each, ast.Call) else each)
    }


def _derives(module: Module, node: cst.ClassDef, of: Of) -> bool:
    if isinstance(of, Kind):
        return kind_of_class(module, node) is of
    if isinstance(of, Instance):
        bases = (module.qualified(unsubscripted(each.value)) for each in node.bases)
        made = (module.oracle.class_type(each) for each in bases if each)
        return any(each is not None and of.fits(each) for each in made)
    return any(_is_named(module.qualified(each.value), of) for each in node.bases)


def _may_derive(quick: QuickFacts, facts: TargetFacts, node: ast.ClassDef, of: Of) -> bool:
    if isinstance(of, Kind):
        return may_derive_from(quick, facts, node, of)
    if isinstance(of, Instance):
        made = map(keras_api.oracle(facts.target).class_type, bases_meant(quick, node))
        return any(each is not None and of.fits(each) for each in made)
    return any(_is_named(each, of) for each in bases_meant(quick, node))


def _named(of: Of, trigger: Trigger) -> Trigger:
    """Return a trigger for files that also have the last name of a base, if ``of`` tells bases."""
    if isinstance(of, Kind | Instance):
        return trigger
    return Trigger.among("words", [each.rpartition(".")[2] for each in of]) & trigger


def _is_named(base: str | None, names: Collection[str]) -> bool:
    split = split_root(base) if base else None
    return split is not None and split[1] in names


def _forms_in(
    function: AstFunction | cst.FunctionDef,
) -> Iterator[object]:
    """Yield the forms of the expressions in a function's body, of those inside them, too."""
    if isinstance(function, cst.FunctionDef):
        found = descendants(function.body)
        yield from (form_of(each) for each in found if isinstance(each, cst.BaseExpression))
    else:
        inside = chain.from_iterable(map(nodes_in, function.body))
        yield from (form_of(each) for each in inside if isinstance(each, ast.expr))


def _forms_returned(
    function: AstFunction | cst.FunctionDef, quick: QuickFacts | None
) -> Iterator[object]:
    if isinstance(function, cst.FunctionDef):
        given = (each.value for each in own_nodes(function.body) if isinstance(each, cst.Return))
        yield from (form_with_parts(each) for each in given if each is not None)
    elif quick is not None:
        for each in inner_nodes(function):
            if isinstance(each, ast.Return) and each.value is not None:
                yield may_have_parts(quick, each.value)


def _classes_with_bases(quick: QuickFacts) -> Iterator[ast.ClassDef]:
    return (node for node in quick.nodes.get(ast.ClassDef, ()) if node.bases)
