"""Queries for classes of the user's own, by what they derive from and define."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import kind_of_class
from kdoctor.analysis.queries.matches import Class, Method
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.queries.signatures import FormalSignature, signature_of
from kdoctor.analysis.triggers import Trigger, may_derive_from, method_of
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind


def classes(of: Kind, *, guarded: bool = False) -> Query[Class]:
    """Classes that derive from a class of Keras of this kind.

    Not in code that is guarded, unless ``guarded``.
    """

    def find(module: Module, facts: TargetFacts) -> Iterator[Class]:
        for node in module.nodes(cst.ClassDef):
            if kind_of_class(module, node) is of and (guarded or not module.is_guarded(node)):
                yield Class(module, facts, node)

    return Query(
        find,
        Trigger(
            lambda quick, facts: any(
                may_derive_from(quick, facts, node, of) for node in _classes_with_bases(quick)
            )
        ),
    )


def methods(
    *names: str,
    of: Kind,
    where: Callable[[FormalSignature], bool] | None = None,
    guarded: bool = False,
) -> Query[Method]:
    """Methods that such classes define; ``where`` is asked of their signature."""
    of_kind = classes(of, guarded=guarded)

    def find(module: Module, facts: TargetFacts) -> Iterator[Method]:
        for each in of_kind.find(module, facts):
            for name in names:
                method = each.methods.get(name)
                if method is not None and (where is None or where(signature_of(method))):
                    yield Method(each, method)

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        return any(
            may_derive_from(quick, facts, node, of)
            for node in _classes_with_bases(quick)
            if any(
                (method := method_of(node, name)) is not None
                and (where is None or where(signature_of(method)))
                for name in names
            )
        )

    return Query(find, Trigger.needing(names, holds))


def _classes_with_bases(quick: QuickFacts) -> Iterator[ast.ClassDef]:
    return (node for node in quick.nodes.get(ast.ClassDef, ()) if node.bases)
