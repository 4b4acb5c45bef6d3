"""Backward slice: the lines of a file that given lines depend on, by names.

A program is taken as its simple statements and the heads of its compound ones. From the statement
that failed it goes back to whatever binds a name in it, calls a method of that name, or is written
in the function or class that it names; order and branches do not count. So it is more than what
ran, and all that it leaves out has no part in the line.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kdoctor import parse_ast

_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_HEADED = (*_DEFINES, ast.If, ast.While, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.Try)


@dataclass(slots=True)
class _Scope:
    """A module, class or function, with the statements that bind its names."""

    parent: _Scope | None = None
    node: ast.AST | None = None
    bound: dict[str, list[_Statement]] = field(default_factory=lambda: defaultdict(list))
    within: list[_Statement] = field(default_factory=list)
    unbound: list[_Statement] = field(default_factory=list)  # stays empty

    def binders(self, name: str) -> list[_Statement]:
        """Return the statements that bind a name visible in this scope."""
        scope: _Scope | None = self
        while scope is not None:
            is_seen = scope is self or not isinstance(scope.node, ast.ClassDef)
            if is_seen and name in scope.bound:
                return scope.bound[name]
            scope = scope.parent
        return self.unbound


@dataclass(eq=False, slots=True)
class _Statement:
    first: int
    last: int
    scope: _Scope
    loads: set[str] = field(default_factory=set)
    stores: set[str] = field(default_factory=set)
    body: _Scope | None = None  # of a function or class


def lines_behind(data: bytes, lines: Iterable[int]) -> frozenset[int]:
    r"""Return the lines of the given statements and of all that they depend on.

    >>> sorted(lines_behind(b"a = 1\nb = 2\nprint(b)\n", [3]))
    [2, 3]
    """
    try:
        tree = parse_ast.parse(data)
        program = _Program(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(lines)
    return program.behind([*lines])


class _Program:
    """The statements of a file, indexed by the names they bind and use."""

    def __init__(self, tree: ast.Module) -> None:
        self.all: list[_Statement] = []
        self.using: dict[str, list[_Statement]] = defaultdict(list)
        self.setting: dict[str, list[_Statement]] = defaultdict(list)  # of attributes of `self`
        self._read(tree.body, _Scope())
        for each in self.all:
            for name in each.loads:
                self.using[name].append(each)

    def behind(self, lines: list[int]) -> frozenset[int]:
        """Return the lines that the statements at some lines depend on."""
        failed = [each for each in map(self._at, lines) if each is not None]
        waiting = [*failed, *(user for each in failed for user in self._users(each))]
        seen = {*waiting}
        gone_through: set[int] = set()
        while waiting:
            for group in self._needed(waiting.pop()):
                if id(group) in gone_through:  # else n bindings of a name were n² steps
                    continue
                gone_through.add(id(group))
                waiting += [each for each in group if each not in seen]
                seen.update(group)
        return frozenset(line for each in seen for line in range(each.first, each.last + 1))

    def _needed(self, statement: _Statement) -> Iterator[list[_Statement]]:
        for name in statement.loads:
            is_attribute = name.startswith(".")
            yield self.setting[name] if is_attribute else statement.scope.binders(name)
        if statement.body is not None:
            yield statement.body.within

    def _users(self, failed: _Statement) -> Iterator[_Statement]:
        """Yield the callers of the function or class around a statement."""
        scope: _Scope | None = failed.scope
        while scope is not None and isinstance(scope.node, _DEFINES):
            for user in self.using[scope.node.name]:
                yield user
                for name in user.stores:
                    yield from user.scope.binders(name)
            scope = scope.parent

    def _at(self, line: int) -> _Statement | None:
        covering = [each for each in self.all if each.first <= line <= each.last]
        return min(covering, key=lambda each: each.last - each.first, default=None)

    def _read(self, body: list[ast.stmt], scope: _Scope) -> None:
        waiting = [(node, scope) for node in reversed(body)]
        while waiting:
            node, scope = waiting.pop()
            statement = self._statement(node, scope)
            inner = scope
            if isinstance(node, _DEFINES):
                inner = statement.body = _Scope(scope, node)
            waiting += [(child, inner) for child in reversed([*_children(node)])]

    def _statement(self, node: ast.stmt, scope: _Scope) -> _Statement:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        statement = _Statement(first, _last(node), scope)
        for part in _parts(node):
            _note(part, statement)
        if isinstance(node, _DEFINES):
            statement.stores.add(node.name)
        if isinstance(node, ast.Expr) and (root := _root(node.value)):
            statement.stores.add(root)  # `model.compile(…)` changes what `model` is
        self.all.append(statement)
        outer: _Scope | None = scope
        while outer is not None:
            outer.within.append(statement)
            outer = outer.parent
        for name in statement.stores:
            into = self.setting if name.startswith(".") else scope.bound
            into[name].append(statement)
        return statement


def _last(node: ast.stmt) -> int:
    if not isinstance(node, _HEADED):
        return node.end_lineno or node.lineno
    body = [each.lineno for each in _children(node)]
    ends = [part.end_lineno or part.lineno for part in _parts(node) if isinstance(part, ast.expr)]
    return max([node.lineno, *(end for end in ends if not body or end <= min(body))])


def _children(node: ast.stmt) -> Iterator[ast.stmt]:
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        for child in getattr(node, name, []):
            if isinstance(child, ast.stmt):
                yield child
            else:
                yield from getattr(child, "body", [])


def _parts(node: ast.stmt) -> Iterator[ast.AST]:
    """Yield the expressions of a statement without the statements in it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child


def _note(part: ast.AST, statement: _Statement) -> None:
    for node in ast.walk(part):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                statement.loads.add(name)
            case ast.Name(id=name):
                statement.stores.add(name)
            case ast.alias(name=name, asname=as_name):
                statement.stores.add(as_name or name.partition(".")[0])
            case ast.arg(arg=name):
                statement.stores.discard(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=attr, ctx=ast.Load()):
                statement.loads.add(f".{attr}")
            case ast.Attribute(value=ast.Name(id="self"), attr=attr):
                statement.stores.add(f".{attr}")
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                if root := _root(node):
                    statement.stores.add(root)


def _root(node: ast.AST) -> str:
    """Return the name at the start of a chain of calls, attributes and items.

    >>> _root(parse_ast.parse("model.layers[0].build(3)", "eval").body)
    'model'
    """
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
