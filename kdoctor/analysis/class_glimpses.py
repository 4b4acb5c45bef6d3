"""Classes of a source in its quick facts: their bases, their methods, what they may derive from."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kdoctor import keras_api
from kdoctor.memoize import once

if TYPE_CHECKING:
    from kdoctor.analysis.facts import TargetFacts
    from kdoctor.syntax.quick_facts import QuickFacts
    from kdoctor.value_types import Kind

_METHODS = (ast.FunctionDef, ast.AsyncFunctionDef)


@once  # many rules ask it
def bases_meant(quick: QuickFacts, node: ast.ClassDef) -> frozenset[str]:
    """Return the dotted names that the bases of a class may be."""
    return frozenset().union(*map(quick.meant_by, bases_of(node)))


def bases_of(node: ast.ClassDef) -> Iterator[ast.expr]:
    """Yield the bases of a class, ``Base`` of ``Base[int]`` and of ``*Base``."""
    for each in node.bases:
        base = each.value if isinstance(each, ast.Starred) else each
        yield base.value if isinstance(base, ast.Subscript) else base


def _lineage(
    node: ast.ClassDef, by_name: Mapping[str, Sequence[ast.ClassDef]]
) -> list[ast.ClassDef]:
    """Return a class with all that may be its own bases: classes of the source so called."""
    found = {node}
    waiting = [node]
    for each in waiting:  # it grows meanwhile
        names = (base.id for base in bases_of(each) if isinstance(base, ast.Name))
        more = [own for name in names for own in by_name.get(name, ()) if own not in found]
        found.update(more)
        waiting += more
    return waiting


def lineages(quick: QuickFacts) -> Iterator[list[ast.ClassDef]]:
    """Yield classes with all that may be their own bases: of each lineage that has all of another.

    Of 200 classes of which each is the base of the next, that is one, and not 200.
    """
    classes = quick.nodes.get(ast.ClassDef, ())
    bases = {base.id for node in classes for base in bases_of(node) if isinstance(base, ast.Name)}
    seen: set[ast.ClassDef] = set()
    by_name = _classes_by_name(quick)
    for node in sorted(classes, key=lambda each: each.name in bases):
        if node not in seen:  # it is a base, or one of a ring
            line = _lineage(node, by_name)
            seen.update(line)
            yield line


def may_derive_from(quick: QuickFacts, facts: TargetFacts, node: ast.ClassDef, kind: Kind) -> bool:
    """Say whether a class may derive from a class of Keras of this kind."""
    return kind in _kinds_by_class(quick, facts)[node]


@once  # many rules ask it
def _kinds_by_class(quick: QuickFacts, facts: TargetFacts) -> dict[ast.ClassDef, set[Kind]]:
    """Return what each class may derive from; handed down from base to subclass, each kind once."""
    known = keras_api.oracle(facts.target)
    kinds: dict[ast.ClassDef, set[Kind]] = {}
    subclasses: dict[str, list[ast.ClassDef]] = {}
    for node in quick.nodes.get(ast.ClassDef, ()):
        bases = list(bases_of(node))
        names = frozenset().union(*map(quick.meant_by, bases))
        own = (found.base for base in bases for found in quick.classes_meant_by(base))
        made = map(known.class_type, (*names, *filter(None, own)))
        kinds[node] = {each.kind for each in made if each is not None}
        for base in bases:
            if isinstance(base, ast.Name):
                subclasses.setdefault(base.id, []).append(node)
    waiting = [node for node, found in kinds.items() if found]
    for node in waiting:  # it grows meanwhile
        for each in subclasses.get(node.name, ()):
            if not kinds[node] <= kinds[each]:
                kinds[each] |= kinds[node]
                waiting.append(each)
    return kinds


@once  # many rules ask it
def _classes_by_name(quick: QuickFacts) -> dict[str, list[ast.ClassDef]]:
    by_name: dict[str, list[ast.ClassDef]] = {}
    for node in quick.nodes.get(ast.ClassDef, ()):
        by_name.setdefault(node.name, []).append(node)
    return by_name


def method_of(node: ast.ClassDef, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the method that a class of a glimpse defines."""
    methods = (each for each in node.body if isinstance(each, _METHODS))
    found = [each for each in methods if each.name == name]
    return found[-1] if found else None


@once  # many rules ask it
def methods_of(
    quick: QuickFacts,  # noqa: ARG001 - it keeps the answers
    node: ast.ClassDef,
) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return the methods that a class of a glimpse defines, by name: the last of each."""
    return {each.name: each for each in node.body if isinstance(each, _METHODS)}
