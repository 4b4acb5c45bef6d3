"""May-values of names in an ``ast`` tree: assigned, iterated or passed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator

from kdoctor.analysis.class_glimpses import lineages, method_of
from kdoctor.memoize import once
from kdoctor.syntax.ast_walk import leaf_of, nodes_in
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import BindingKind
from kdoctor.syntax.symbol_table import SymbolTable


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
    for function in _takers(quick).get(name, ()):
        yield from _passed(quick, function, name)


def may_arguments_in(
    quick: QuickFacts, name: str, functions: Collection[ast.AST]
) -> Iterator[ast.expr]:
    """Yield the defaults and arguments for parameters of this name of some functions."""
    for function in _takers(quick).get(name, ()):
        if function in functions:
            yield from _passed(quick, function, name)


def may_be_made_of(
    quick: QuickFacts,
    table: SymbolTable,
    nodes: Iterable[ast.expr],
    wanted: Callable[[ast.AST], bool],
) -> bool:
    """Say whether one of the expressions may come from something of which ``wanted`` holds.

    It has a part of that sort, or a name or an attribute that some code binds to it, passes it for,
    or that is a function which gives it: so called, wherever it stands.
    """
    waiting, seen = [*nodes], set[str]()
    for each in waiting:  # it grows meanwhile
        for part in nodes_in(each):
            if wanted(part):
                return True
            name = leaf_of(part)
            if name and name not in seen:
                seen.add(name)
                waiting += _bound_to(quick, table, name)
    return False


def _bound_to(quick: QuickFacts, table: SymbolTable, name: str) -> Iterator[ast.expr]:
    for bound in (*table.by_name.get(name, ()), *table.stores.get(name, ())):
        if bound.value is not None:
            yield bound.value
        if bound.kind is BindingKind.FUNCTION and bound.node is not None:
            inner = table.spaces[bound.node]
            yield from (*inner.returns, *inner.yields)
    yield from may_arguments_of(quick, name)


@once  # many calls ask it
def _loops(quick: QuickFacts) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for each in (*quick.nodes.get(ast.For, ()), *quick.nodes.get(ast.comprehension, ())):
        if isinstance(each.target, ast.Name):
            found.setdefault(each.target.id, []).append(each.iter)
    return found


@once  # many calls ask it
def _passed(quick: QuickFacts, function: ast.FunctionDef, parameter: str) -> list[ast.expr]:
    place, default = _takers(quick)[parameter][function]
    names = _makers(quick).get(function, ()) if function.name == "__init__" else (function.name,)
    values = (
        each.argument(parameter, at)
        for name in names
        for each in quick.calls_by_leaf.get(name, ())
        for at in ((place, place - 1) if place else (place,))  # without `self`
    )
    return [each for each in (default, *values) if each is not None]


@once
def _takers(
    quick: QuickFacts,
) -> dict[str, dict[ast.FunctionDef, tuple[int | None, ast.expr | None]]]:
    """Return the functions with a parameter of each name: its place, and its default."""
    found: dict[str, dict[ast.FunctionDef, tuple[int | None, ast.expr | None]]] = {}
    for node in quick.nodes.get(ast.FunctionDef, ()):
        for parameter, place, default in _parameters(node.args):
            found.setdefault(parameter, {})[node] = place, default
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
