"""Top-level statements of a module: the names that each binds and needs."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from kdoctor import parse_ast

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
# Methods of Python's containers and of models that modify the object in place.
_MUTATING = frozenset(
    {"add", "append", "clear", "discard", "extend", "insert", "pop", "remove", "reverse"}
    | {"setdefault", "sort", "update"}
)


@dataclass(frozen=True)
class Statement:
    """One top-level statement of a text. ``number`` counts from 0."""

    number: int
    node: ast.stmt
    lines: tuple[str, ...]  # of the whole text

    @property
    def first_line(self) -> int:
        """The first line, including decorators."""
        decorators = getattr(self.node, "decorator_list", [])
        return int(min([self.node.lineno, *(each.lineno for each in decorators)]))

    @cached_property
    def binds(self) -> frozenset[str]:
        """The names that it binds at module level."""
        return frozenset(_bound(self.node))

    @cached_property
    def changes(self) -> frozenset[str]:
        """The names whose values it changes in place, by an item, an attribute or a method."""
        return frozenset(_changed(self.node))

    @cached_property
    def needs(self) -> frozenset[str]:
        """The module-level names that running or calling it may look up."""
        alone = ast.Module([self.node], [])
        # Unparsed, because a statement may not start at the beginning of its line.
        return frozenset(_global_names(symtable.symtable(ast.unparse(alone), "<slice>", "exec")))

    @property
    def is_star_import(self) -> bool:
        """Whether it is a star import."""
        return isinstance(self.node, ast.ImportFrom) and self.node.names[0].name == "*"

    @cached_property
    def star_imports(self) -> tuple[ast.ImportFrom, ...]:
        """Its star imports: itself, or those in the branches of an ``if`` or ``try``."""
        return tuple(_star_imports(self.node))

    @property
    def is_future(self) -> bool:
        """Whether it is a ``from __future__`` import."""
        return isinstance(self.node, ast.ImportFrom) and self.node.module == "__future__"


def statements_of(text: str) -> list[Statement]:
    """Return the top-level statements of a text.

    Raises:
        SyntaxError: the text is not valid Python.
    """
    lines = tuple(text.split("\n"))
    return [Statement(n, node, lines) for n, node in enumerate(parse_ast.parse(text).body)]


def imports_in(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports in a statement, including nested ones."""
    for each in ast.walk(node):
        if isinstance(each, _IMPORTS):
            yield each


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement binds in its own scope."""
    if isinstance(node, DEFINITIONS):
        yield node.name
        return
    if isinstance(node, _IMPORTS):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]
        return
    if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    if isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    for child in ast.iter_child_nodes(node):
        yield from _bound(child)


def _star_imports(node: ast.AST) -> Iterator[ast.ImportFrom]:
    if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
        yield node
    elif isinstance(node, ast.If | ast.Try | ast.ExceptHandler):
        for child in ast.iter_child_nodes(node):
            yield from _star_imports(child)


def _changed(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement changes in place in its own scope."""
    if isinstance(node, (*DEFINITIONS, ast.Lambda)):
        return
    if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
        yield from _root_name(node)
    match node:
        case ast.Call(func=ast.Attribute(attr=method) as called) if method in _MUTATING:
            yield from _root_name(called)
    for child in ast.iter_child_nodes(node):
        yield from _changed(child)


def _root_name(node: ast.expr) -> Iterator[str]:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def _global_names(table: symtable.SymbolTable, *, top: bool = True) -> Iterator[str]:
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (top or symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _global_names(child, top=False)
