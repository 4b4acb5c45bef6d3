"""What a module's top level binds, read from its syntax alone."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from tools.api_data.protobuf import messages

_BUILTINS = frozenset(dir(builtins))


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
    # Modules of this package that it does not show, because it had bound their names before.
    hidden: set[str] = field(default_factory=set)
    # Modules whose classes this one binds, under their own names and in snake case.
    mirrored: list[str] = field(default_factory=list)


def read_scope(source: str, module: str, *, is_package: bool) -> Scope:
    """Return what the module's top level binds on a TensorFlow backend.

    Branches of ``if backend() == "theano"`` and the like are decided for TensorFlow. Of other
    branches all are read, and the first to bind a name wins (``try`` before ``except``).
    """
    scope = Scope(module, is_package)
    tree = ast.parse(source)
    _read_body(tree.body, scope, scope.names)
    for statement in tree.body:
        match statement:
            case ast.Expr(value=ast.Call(func=function, args=[table])) if (
                ast.unparse(function) == "globals().update"
            ):
                _read_computed(tree, ast.unparse(table), scope)
            case _:
                pass
    if module.endswith("_pb2"):
        scope.names |= messages(tree)
    return scope


def _read_computed(tree: ast.Module, table: str, scope: Scope) -> None:
    """Add what ``globals().update(table)`` binds, by what some function puts into ``table``.

    So ``keras.initializers`` of 2.6 to 2.12 gets all its classes.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Assign(
                targets=[ast.Subscript(value=owner, slice=ast.Constant(value=str() as name))],
                value=value,
            ) if ast.unparse(owner) == table:
                match value:
                    case ast.Subscript(slice=ast.Constant(value=str() as other)):
                        scope.names.setdefault(name, ast.Name(other))
                    case _:
                        scope.names.setdefault(name, value)
            case ast.Call(
                func=ast.Attribute(attr="populate_dict_with_module_objects"),
                args=[_, ast.List(elts=modules), *_],
            ):
                scope.mirrored += map(ast.unparse, modules)
            case _:
                pass


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
            case ast.With(items=items):
                targets = (item.optional_vars for item in items)
                names.update(dict.fromkeys(_names_in(targets)))
                _read_body(statement.body, scope, names)
            case ast.For(target=target):
                names.update(dict.fromkeys(_names_in([target])))
                _read_body(statement.body, scope, names)
            case ast.While():
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
    """Say how ``backend() == "…"`` comes out on TensorFlow, and a test of Python's version on 3.

    None for any other test.
    """
    match test:
        case ast.Compare(
            left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=str() as value)]
        ) if "backend" in ast.unparse(left).lower():
            return value == "tensorflow"
        case ast.Compare(
            left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=int() as value)]
        ) if ast.unparse(left) == "sys.version_info[0]":
            return value == 3
        case ast.Attribute(value=ast.Name(id="six"), attr="PY2" | "PY3" as attr):
            return attr == "PY3"
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
        elif (
            source == scope.module
            and scope.is_package
            and names.get(alias.name, own := Imported(source, alias.name)) != own
        ):
            # ``from . import x`` after ``from elsewhere import x`` finds the latter.
            scope.hidden.add(alias.name)
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
            match value:
                case ast.Name(id=other) if other == name:
                    pass  # ``x = x`` under another name keeps the first meaning
                case ast.Name(id=other) if other in _BUILTINS - {*names, *scope.names}:
                    names[name] = Imported("builtins", other)  # and then ``def sum(…)``
                case _:
                    names[name] = value
        case _:
            names.update(dict.fromkeys(_names_in([target])))


def _names_in(targets: Iterable[ast.expr | None]) -> Iterator[str]:
    for target in targets:
        for node in ast.walk(target) if target is not None else ():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
