"""What a name of a glimpse may hold: all that is assigned, looped over, or passed for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from msgspec import Struct

from kdoctor.once import once
from kdoctor.syntax.glimpse import Glimpse
from kdoctor.syntax.nodes import parameters_of


def values_given(glimpse: Glimpse, node: ast.expr | None) -> Iterator[ast.expr]:
    """Yield what an expression may hold: itself, or where it is a name all that may be its value.

    What is passed are all arguments of calls of functions, or classes, with such a parameter.
    """
    yield from glimpse.values_of(node)
    if isinstance(node, ast.Name):
        given = _given(glimpse)
        yield from given.by_name.get(node.id, ())
        if node.id in given.of_classes:
            yield from given.to_classes


class _Given(Struct, frozen=True):
    """What stands for names. ``of_classes`` are parameters of ``__init__``: of any class."""

    by_name: dict[str, list[ast.expr]]
    of_classes: frozenset[str]
    to_classes: list[ast.expr]


@once  # many calls ask it
def _given(glimpse: Glimpse) -> _Given:
    by_name: dict[str, list[ast.expr]] = {}
    for each in (*glimpse.nodes.get(ast.For, ()), *glimpse.nodes.get(ast.comprehension, ())):
        if isinstance(each.target, ast.Name):
            by_name.setdefault(each.target.id, []).append(each.iter)
    of_classes: set[str] = set()
    for node in glimpse.nodes.get(ast.FunctionDef, ()):
        names = [each.arg for each in parameters_of(node.args)]
        if node.name == "__init__":
            of_classes.update(names)
        calls = glimpse.calls_by_leaf.get(node.name, ())
        passed = [value for called in calls for value in called.values]
        passed += [*node.args.defaults, *(each for each in node.args.kw_defaults if each)]
        for name in names if passed else ():
            by_name.setdefault(name, []).extend(passed)
    classes = {each.name for each in glimpse.nodes.get(ast.ClassDef, ())}
    made = chain.from_iterable(glimpse.calls_by_leaf.get(each, ()) for each in sorted(classes))
    to_classes = [value for called in made for value in called.values] if of_classes else []
    return _Given(by_name, frozenset(of_classes), to_classes)
