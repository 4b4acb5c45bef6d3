"""Queries for what ties code to TensorFlow where it must run on other backends, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeVar

import libcst as cst

from kdoctor.analysis.backends.checks import asks_for_the_backend
from kdoctor.analysis.backends.reach import is_run_by_keras
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.conditions import ASKS_OTHER_BACKENDS
from kdoctor.analysis.queries.matches import Match
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.triggers import Trigger
from kdoctor.syntax import Module, Reference

M = TypeVar("M", bound=Match)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def run_by_keras(query: Query[M]) -> Query[M]:
    """Of what a query finds, that in code that Keras surely runs: see ``is_run_by_keras``.

    Nothing where no backend beside TensorFlow is asked for: see ``only_with_backends``.
    """

    def find(module: Module, facts: TargetFacts) -> Iterator[M]:
        found = query.find(module, facts)
        return (each for each in found if is_run_by_keras(module, each.node))

    has_functions = Trigger(lambda quick, _: any(kind in quick.nodes for kind in _FUNCTIONS))
    return only_with_backends(Query(find, has_functions & query.trigger))


def only_with_backends(query: Query[M]) -> Query[M]:
    """Of what a query finds, that which is not made for TensorFlow alone.

    Nothing where no backend beside TensorFlow is asked for. Nothing that stands in code which asks
    for the backend, or whose import is allowed to fail: such code knows that TensorFlow may be
    missing.
    """

    def find(module: Module, facts: TargetFacts) -> Iterator[M]:
        found = query.find(module, facts) if facts.backends else ()
        return (each for each in found if not _knows_backends(module, each))

    return Query(find, ASKS_OTHER_BACKENDS & query.trigger)


def _knows_backends(module: Module, match: Match) -> bool:
    reference = getattr(match, "reference", None)
    if isinstance(reference, Reference) and any(
        isinstance(each, cst.Try | cst.TryStar)
        for each in module.ancestors(reference.binding.statement)
    ):
        return True
    return asks_for_the_backend(module, match.node)
