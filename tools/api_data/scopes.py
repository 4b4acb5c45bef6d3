"""What a module's top level binds, read from its syntax alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Imported:
    """``from module import name`` (or, with ``name`` None, ``import module as …``)."""

    module: str
    name: str | None


Bound: TypeAlias = (
    ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr | Imported | None
)


@dataclass(slots=True)
class Scope:
    """The names that one module binds, and the modules that it imports ``*`` from."""

    module: str
    is_package: bool
    names: dict[str, Bound] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    exported: frozenset[str] | None = None  # a literal ``__all__``


def read_scope(source: str, module: str, *, is_package: bool) -> Scope:
    """Return what the module's top level binds on a TensorFlow backend.

    Branches of ``if backend() == "theano"`` and the like are decided for TensorFlow. Of other
    branches all are read, and the first to bind a name wins (``try`` before ``except``).
    """
    scope = Scope(module, is_package)
    _read_body(ast.parse(source).body, scope, scope.names)
    return scope


def _read_body(body: Iterable[ast.stmt], scope: Scope, names: dict[str, Bound]) -> None:
    for statement in body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names[statement.name] = statement
            case ast.Import():
                for alias in statement.names:
                    if alias.asname:
                        names[alias.asname] = Imported(alias.name, None)
                    else:
                        top = alias.name.partition(".")[0]
                        names[top] = Imported(top, None)
            case ast.ImportFrom():
                _read_import_from(statement, scope, names)
            case ast.Assign():
                for target in statement.targets:
                    _read_target(target, statement.value, scope, names)
            case ast.AnnAssign() if statement.value is not None:
                _read_target(statement.target, statement.value, scope, names)
            case ast.AugAssign():
                pass
            case ast.Delete():
                for target in statement.targets:
                    if isinstance(target, ast.Name):
                        names.pop(target.id, None)
            case ast.If():
                _read_if(statement, scope, names)
            case ast.Try():
                _read_body(statement.body, scope, names)
                branches = [handler.body for handler in statement.handlers]
                _read_branches([*branches, statement.orelse, statement.finalbody], scope, names)
            case ast.With() | ast.For() | ast.While():
                _read_body(statement.body, scope, names)
            case _:
                pass


def _read_branches(
    branches: Iterable[list[ast.stmt]], scope: Scope, names: dict[str, Bound]
) -> None:
    """Add what the branches bind to ``names``; what is bound already stays."""
    for branch in branches:
        bound: dict[str, Bound] = {}
        _read_body(branch, scope, bound)
        for name, value in bound.items():
            names.setdefault(name, value)


def _read_if(statement: ast.If, scope: Scope, names: dict[str, Bound]) -> None:
    match _decide(statement.test):
        case True:
            _read_body(statement.body, scope, names)
        case False:
            _read_body(statement.orelse, scope, names)
        case None:
            bound: dict[str, Bound] = {}
            _read_body(statement.body, scope, bound)
            names.update(bound)
            _read_branches([statement.orelse], scope, names)


def _decide(test: ast.expr) -> bool | None:
    """Say how ``backend() == "…"`` comes out on TensorFlow; None for any other test."""
    match test:
        case ast.Compare(
            left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=str() as value)]
        ) if "backend" in ast.unparse(left).lower():
            return value == "tensorflow"
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return False
        case ast.Call(func=ast.Attribute(value=owner, attr="enabled"), args=[]) if ast.unparse(
            owner
        ).endswith("tf2"):
            return True  # TensorFlow 2 behaves as TensorFlow 2 unless a program turns it off
        case _:
            return None


def _read_import_from(statement: ast.ImportFrom, scope: Scope, names: dict[str, Bound]) -> None:
    source = absolute(statement.module or "", statement.level, scope)
    for alias in statement.names:
        if alias.name == "*":
            scope.stars.append(source)
        else:
            names[alias.asname or alias.name] = Imported(source, alias.name)


def absolute(module: str, level: int, scope: Scope) -> str:
    """Return the absolute name of a (relative) module as seen from ``scope``."""
    if level == 0:
        return module
    parts = scope.module.split(".")
    kept = parts[: len(parts) - level + (1 if scope.is_package else 0)]
    return ".".join([*kept, module] if module else kept)


def _read_target(target: ast.expr, value: ast.expr, scope: Scope, names: dict[str, Bound]) -> None:
    match target:
        case ast.Name(id="__all__"):
            names["__all__"] = value
            if isinstance(value, ast.List | ast.Tuple):
                scope.exported = frozenset(
                    item.value
                    for item in value.elts
                    if isinstance(item, ast.Constant) and isinstance(item.value, str)
                )
        case ast.Name(id=name):
            # ``x = x`` under another name keeps the first meaning
            if not (isinstance(value, ast.Name) and value.id == name):
                names[name] = value
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for element in elements:
                if isinstance(element, ast.Name):
                    names[element.id] = None
        case _:
            pass
