"""Queries for classes of the user's own, by what they derive from and define."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import decorated_by as decorators_of
from kdoctor.analysis.models.user_classes import kind_of_class, methods_in, only_base
from kdoctor.analysis.queries.bodies import Asks, Body, body_of, may_be_body_of
from kdoctor.analysis.queries.matches import Class, Method
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.queries.signatures import AstFunction, FormalSignature, signature_of
from kdoctor.analysis.triggers import Trigger, bases_meant, may_derive_from, method_of
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

Of = Kind | tuple[str, ...]
"""What a class derives from: a kind of Keras' classes, or directly and alone from one of these,
named without their root."""


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

    def find(module: Module, facts: TargetFacts) -> Iterator[Class]:
        for node in module.nodes(cst.ClassDef):
            methods = methods_in(node)
            if not methods.keys() >= set(defining) or not _derives(module, node, of):
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
            _may_derive(quick, facts, node, of)
            for node in _classes_with_bases(quick)
            if all(method_of(node, name) is not None for name in defining)
            and (not decorated_by or not _may_be_decorators(quick, node).isdisjoint(decorated_by))
            and (bodies is None or bodies(_may_be_bodies(quick, node)))
        )

    return Query(find, Trigger.needing(defining, holds) if defining else Trigger(holds))


def methods(
    *names: str,
    of: Of,
    where: Callable[[FormalSignature], bool] | None = None,
    body: Asks | None = None,
    defining: Collection[str] = (),
    guarded: bool = False,
) -> Query[Method]:
    """Methods that such classes define.

    ``where`` is asked of their signature, ``body`` of what stands in them; the class also defines
    those of ``defining``.
    """
    owners = classes(of, defining=defining, guarded=guarded)

    def find(module: Module, facts: TargetFacts) -> Iterator[Method]:
        for each in owners.find(module, facts):
            for method in (each.methods[name] for name in names if name in each.methods):
                if where is not None and not where(signature_of(method)):
                    continue
                if body is None or body(body_of(module, method)):
                    yield Method(each, method)

    def may_be_one(quick: QuickFacts, method: AstFunction | None) -> bool:
        return (
            method is not None
            and (where is None or where(signature_of(method)))
            and (body is None or body(may_be_body_of(quick, method)))
        )

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        return any(
            _may_derive(quick, facts, node, of)
            for node in _classes_with_bases(quick)
            if any(may_be_one(quick, method_of(node, name)) for name in names)
            and all(method_of(node, name) is not None for name in defining)
        )

    return Query(find, Trigger.needing(names, holds))


def _may_be_bodies(quick: QuickFacts, node: ast.ClassDef) -> dict[str, Body]:
    methods = (each for each in node.body if isinstance(each, AstFunction))
    return {each.name: may_be_body_of(quick, each) for each in methods}


def _may_be_decorators(quick: QuickFacts, node: ast.ClassDef) -> set[str]:
    return {
        name
        for method in node.body
        if isinstance(method, AstFunction)
        for each in method.decorator_list
        for name in quick.meant_by(each.func if isinstance(each, ast.Call) else each)
    }


def _derives(module: Module, node: cst.ClassDef, of: Of) -> bool:
    if isinstance(of, Kind):
        return kind_of_class(module, node) is of
    base = only_base(module, node)
    split = None if base is None else split_root(module.qualified(base) or "")
    return split is not None and split[1] in of


def _may_derive(quick: QuickFacts, facts: TargetFacts, node: ast.ClassDef, of: Of) -> bool:
    if isinstance(of, Kind):
        return may_derive_from(quick, facts, node, of)
    split = map(split_root, bases_meant(quick, node))
    return any(each is not None and each[1] in of for each in split)


def _classes_with_bases(quick: QuickFacts) -> Iterator[ast.ClassDef]:
    return (node for node in quick.nodes.get(ast.ClassDef, ()) if node.bases)
