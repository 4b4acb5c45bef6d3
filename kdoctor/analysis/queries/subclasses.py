"""Queries for classes of the user's own that are made from one class alone."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import libcst as cst

from kdoctor.analysis.class_glimpses import bases_meant, method_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import only_base
from kdoctor.analysis.queries.matches import Class
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.triggers import Trigger
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts


class Subclass(Class):
    """A class with one base, ``base``: its dotted name."""

    def __init__(
        self, module: Module, facts: TargetFacts, node: cst.ClassDef, base: str
    ) -> None:  # fmt: skip
        super().__init__(module, facts, node)
        self.base = base


def subclasses(
    where: Callable[[TargetFacts, str], bool], *, defining: str = "", guarded: bool = False
) -> Query[Subclass]:
    """Classes with one base, of whose dotted name ``where`` holds, that define such a method."""

    def find(module: Module, facts: TargetFacts) -> Iterator[Subclass]:
        for node in module.nodes(cst.ClassDef):
            only = only_base(module, node)
            base = None if only is None else module.qualified(only)
            if base is None or not where(facts, base):
                continue
            found = Subclass(module, facts, node, base)
            is_one = not defining or defining in found.methods
            if is_one and (guarded or not module.is_guarded(node)):
                yield found

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        return any(
            any(where(facts, base) for base in bases_meant(quick, node))
            for node in quick.nodes.get(ast.ClassDef, ())
            if node.bases and (not defining or method_of(node, defining) is not None)
        )

    return Query(find, Trigger.needing({defining}, holds) if defining else Trigger(holds))
