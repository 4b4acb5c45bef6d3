"""Queries for what stands in code that Keras runs, on whatever backend it has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeVar

from kdoctor.analysis.backends.reach import is_run_by_keras
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.matches import Match
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.triggers import Trigger
from kdoctor.syntax import Module

M = TypeVar("M", bound=Match)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def run_by_keras(query: Query[M]) -> Query[M]:
    """Of what a query finds, that in code that Keras surely runs: see ``is_run_by_keras``.

    Nothing where no backend beside TensorFlow is asked for.
    """

    def find(module: Module, facts: TargetFacts) -> Iterator[M]:
        found = query.find(module, facts) if facts.backends else ()
        return (each for each in found if is_run_by_keras(module, each.node))

    has_functions = Trigger(
        lambda quick, facts: (
            bool(facts.backends) and any(kind in quick.nodes for kind in _FUNCTIONS)
        )
    )
    return Query(find, has_functions & query.trigger)
