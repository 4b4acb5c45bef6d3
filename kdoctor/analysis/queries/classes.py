"""Queries for classes of the user's own, by what they derive from and define."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from itertools import chain

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import kind_of_class
from kdoctor.analysis.queries.forms import form_of
from kdoctor.analysis.queries.matches import Class, Method, Where
from kdoctor.analysis.queries.parts import form_with_parts, may_have_parts
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.queries.signatures import FormalSignature, signature_of
from kdoctor.analysis.triggers import Trigger, bases_meant, may_derive_from, method_of
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import inner_nodes, nodes_in
from kdoctor.syntax.libcst_walk import descendants, own_nodes
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

Base = Kind | Collection[str]
"""What a class derives from: a class of Keras of this kind, or directly from one of these names,
given without their root: ``utils.Sequence``."""


def classes(of: Base, *, guarded: bool = False) -> Query[Class]:
    """Classes of the user's own that derive from such a class.

    Not in code that is guarded, unless ``guarded``.
    """

    def find(module: Module, facts: TargetFacts) -> Iterator[Class]:
        for node in module.nodes(cst.ClassDef):
            if _derives(module, node, of) and (guarded or not module.is_guarded(node)):
                yield Class(module, facts, node)

    return Query(
        find,
        Trigger(
            lambda quick, facts: any(
                _may_derive(quick, facts, node, of) for node in _classes_with_bases(quick)
            )
        ),
    )


def _derives(module: Module, node: cst.ClassDef, of: Base) -> bool:
    if isinstance(of, Kind):
        return kind_of_class(module, node) is of
    return any(_is_named(module.qualified(each.value), of) for each in node.bases)


def _may_derive(quick: QuickFacts, facts: TargetFacts, node: ast.ClassDef, of: Base) -> bool:
    if isinstance(of, Kind):
        return may_derive_from(quick, facts, node, of)
    return any(_is_named(each, of) for each in bases_meant(quick, node))


def _is_named(base: str | None, names: Collection[str]) -> bool:
    split = split_root(base) if base else None
    return split is not None and split[1] in names


def methods(
    *names: str,
    of: Base,
    where: Callable[[FormalSignature], bool] | None = None,
    holding: Where | None = None,
    returning: Where | None = None,
    guarded: bool = False,
) -> Query[Method]:
    """Methods that such classes define.

    ``where`` is asked of their signature; ``holding`` of the form of each expression in their body,
    ``returning`` of that of what they return, with its parts (see ``parts``): one must fit.
    """
    of_kind = classes(of, guarded=guarded)

    def fits(
        method: ast.FunctionDef | ast.AsyncFunctionDef | cst.FunctionDef, quick: QuickFacts | None
    ) -> bool:
        if where is not None and not where(signature_of(method)):
            return False
        if holding is not None and not any(map(holding, _forms_in(method))):
            return False
        return returning is None or any(map(returning, _forms_returned(method, quick)))

    def find(module: Module, facts: TargetFacts) -> Iterator[Method]:
        for each in of_kind.find(module, facts):
            for name in names:
                method = each.methods.get(name)
                if method is not None and fits(method, None):
                    yield Method(each, method)

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        return any(
            _may_derive(quick, facts, node, of)
            for node in _classes_with_bases(quick)
            if any(
                (method := method_of(node, name)) is not None and fits(method, quick)
                for name in names
            )
        )

    return Query(find, Trigger.needing(names, holds))


def _forms_in(
    function: ast.FunctionDef | ast.AsyncFunctionDef | cst.FunctionDef,
) -> Iterator[object]:
    """Yield the forms of the expressions in a function's body, of those inside them, too."""
    if isinstance(function, cst.FunctionDef):
        found = descendants(function.body)
        yield from (form_of(each) for each in found if isinstance(each, cst.BaseExpression))
    else:
        inside = chain.from_iterable(map(nodes_in, function.body))
        yield from (form_of(each) for each in inside if isinstance(each, ast.expr))


def _forms_returned(
    function: ast.FunctionDef | ast.AsyncFunctionDef | cst.FunctionDef, quick: QuickFacts | None
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
