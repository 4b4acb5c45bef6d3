"""Queries for classes of the user's own, by what they derive from and define."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import chain

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import kind_of_class
from kdoctor.analysis.queries.forms import form_of
from kdoctor.analysis.queries.matches import Class, Method, Where
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.queries.signatures import FormalSignature, signature_of
from kdoctor.analysis.triggers import Trigger, may_derive_from, method_of
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import nodes_in
from kdoctor.syntax.libcst_walk import descendants
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
    holding: Where | None = None,
    guarded: bool = False,
) -> Query[Method]:
    """Methods that such classes define.

    ``where`` is asked of their signature, ``holding`` of the form of each expression in their body,
    of which one must fit.
    """
    of_kind = classes(of, guarded=guarded)

    def fits(method: ast.FunctionDef | ast.AsyncFunctionDef | cst.FunctionDef | None) -> bool:
        if method is None or (where is not None and not where(signature_of(method))):
            return False
        return holding is None or any(map(holding, _forms_in(method)))

    def find(module: Module, facts: TargetFacts) -> Iterator[Method]:
        for each in of_kind.find(module, facts):
            for name in names:
                method = each.methods.get(name)
                if method is not None and fits(method):
                    yield Method(each, method)

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        return any(
            may_derive_from(quick, facts, node, of)
            for node in _classes_with_bases(quick)
            if any(fits(method_of(node, name)) for name in names)
        )

    return Query(find, Trigger.needing(names, holds))


def _forms_in(
    function: ast.FunctionDef | ast.AsyncFunctionDef | cst.FunctionDef,
) -> Iterator[object]:
    """Yield the forms of the expressions in a function's body, whatever is inside them apart."""
    if isinstance(function, cst.FunctionDef):
        found = descendants(function.body)
        yield from (form_of(each, 0) for each in found if isinstance(each, cst.BaseExpression))
    else:
        inside = chain.from_iterable(map(nodes_in, function.body))
        yield from (form_of(each, 0) for each in inside if isinstance(each, ast.expr))


def _classes_with_bases(quick: QuickFacts) -> Iterator[ast.ClassDef]:
    return (node for node in quick.nodes.get(ast.ClassDef, ()) if node.bases)
