"""May-values of names in an ``ast`` tree: assigned, iterated or passed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kdoctor.analysis.class_glimpses import lineages, method_of
from kdoctor.memoize import once
from kdoctor.syntax.quick_facts import QuickFacts


def may_values_of(quick: QuickFacts, node: ast.expr | None) -> Iterator[ast.expr]:
    """Yield the expression itself, or all possible values of a name.

    That is what is assigned, looped over, or passed for a parameter of this name.
    """
    yield from quick.values_of(node)
    if isinstance(node, ast.Name):
        yield from may_iterables_of(quick, node.id)
        yield from may_arguments_of(quick, node.id)


def may_iterables_of(quick: QuickFacts, name: str) -> Iterator[ast.expr]:
    """Yield the iterables of loops with a variable of this name."""
    yield from _loops(quick).get(name, ())


def may_arguments_of(quick: QuickFacts, name: str) -> Iterator[ast.expr]:
    """Yield the defaults and arguments for parameters of this name."""
    yield from _passed(quick, name)


@once  # many calls ask it
def _loops(quick: QuickFacts) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for each in (*quick.nodes.get(ast.For, ()), *quick.nodes.get(ast.comprehension, ())):
        if isinstance(each.target, ast.Name):
            found.setdefault(each.target.id, []).append(each.iter)
    return found


@once
def _passed(quick: QuickFacts, parameter: str) -> list[ast.expr]:
    found: list[ast.expr | None] = []
    for node, place, default in _takers(quick).get(parameter, ()):
        names = _makers(quick).get(node, ()) if node.name == "__init__" else (node.name,)
        found.append(default)
        found += (
            each.argument(parameter, at)
            for name in names
            for each in quick.calls_by_leaf.get(name, ())
            for at in ((place, place - 1) if place else (place,))  # without `self`
        )
    return [each for each in found if each is not None]


@once
def _takers(
    quick: QuickFacts,
) -> dict[str, list[tuple[ast.FunctionDef, int | None, ast.expr | None]]]:
    """Return the functions with a parameter of each name, its place and its default."""
    found: dict[str, list[tuple[ast.FunctionDef, int | None, ast.expr | None]]] = {}
    for node in quick.nodes.get(ast.FunctionDef, ()):
        for parameter, place, default in _parameters(node.args):
            found.setdefault(parameter, []).append((node, place, default))
    return found


def _parameters(given: ast.arguments) -> Iterator[tuple[str, int | None, ast.expr | None]]:
    """Yield the name of each parameter, its place if it has one, and its default."""
    in_order = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(in_order) - len(given.defaults)), *given.defaults]
    for place, (each, default) in enumerate(zip(in_order, defaults, strict=True)):
        yield each.arg, place, default
    for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield each.arg, None, default


@once
def _makers(quick: QuickFacts) -> dict[ast.AST, set[str]]:
    """Return the classes whose objects an ``__init__`` may make: its own, and those below."""
    found: dict[ast.AST, set[str]] = {}
    for line in lineages(quick):
        for each in line:
            init = method_of(each, "__init__")
            if init is not None:
                found.setdefault(init, set()).add(line[0].name)
    return found
