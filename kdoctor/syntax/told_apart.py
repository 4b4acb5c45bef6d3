"""Which names of a glimpse are those of one function: ``x`` here is not ``x`` there.

A glimpse takes a name for the same in the whole file, which costs nothing. This costs a walk
through all functions, and is for the few files in which that is not enough.
"""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Iterator

from kdoctor.syntax.glimpse import Glimpse
from kdoctor.syntax.nodes import children_of, parameters_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class ToldApart:
    """Gives a name of its own to each local name of each function of a source.

    Names in the bodies of classes and in comprehensions are taken for those around them.
    """

    def __init__(self, glimpse: Glimpse) -> None:
        self._names: dict[ast.Name, str] = {}
        self._locals: dict[Function, dict[str, str]] = {}
        functions: list[Function] = glimpse.nodes.get(ast.FunctionDef, [])
        for function in sorted(functions, key=lambda each: each.lineno):  # outer ones first
            waiting = [] if function in self._locals else [(function, ChainMap[str, str]())]
            while waiting:
                each, around = waiting.pop()
                waiting += self._look(each, around)

    def name(self, node: ast.Name) -> str:
        """Return what the name is called where it stands."""
        return self._names.get(node, node.id)

    def parameter(self, function: Function, name: str) -> str:
        """Return what a parameter of a function is called in it."""
        return self._locals[function].get(name, name)

    def _look(
        self, function: Function, around: ChainMap[str, str]
    ) -> list[tuple[Function, ChainMap[str, str]]]:
        """Name what stands in a function; return those that it defines, with what they see."""
        body = _Body(function)
        own = {each: f"{each} {len(self._locals)}" for each in body.bound - body.nonlocals}
        self._locals[function] = own | {each: each for each in body.globals}
        seen = around.new_child(self._locals[function])
        self._names |= {node: seen.get(node.id, node.id) for node in body.names}
        return [(each, seen) for each in body.functions]


class _Body:
    """What stands in a function itself: its names, and the functions that it defines."""

    def __init__(self, function: Function) -> None:
        self.names: list[ast.Name] = []
        self.functions: list[Function] = []
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.bound = {each.arg for each in parameters_of(function.args)}
        waiting: list[tuple[ast.AST, bool]] = [(each, True) for each in function.body]
        while waiting:
            node, binds = waiting.pop()
            if isinstance(node, ast.Name):
                self.names.append(node)
                if binds and not isinstance(node.ctx, ast.Load):
                    self.bound.add(node.id)
            elif isinstance(node, ast.Global):
                self.globals.update(node.names)
            elif isinstance(node, ast.Nonlocal):
                self.nonlocals.update(node.names)
            else:
                if isinstance(node, _FUNCTIONS):
                    self.functions.append(node)
                waiting += _parts(node, binds=binds)


def _parts(node: ast.AST, *, binds: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Yield what belongs to the same function, and whether it binds names of that."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            around = [*node.decorator_list, node.args]
            yield from ((each, binds) for each in around)
        case ast.ClassDef():
            yield from ((each, False) for each in node.body)
            yield from ((each, binds) for each in (*node.decorator_list, *node.bases))
            yield from ((each, binds) for each in node.keywords)
        case ast.comprehension():
            yield node.target, False
            yield from ((each, binds) for each in (node.iter, *node.ifs))
        case _:
            bound = binds and not isinstance(node, ast.Lambda)
            yield from ((each, bound) for each in children_of(node))
