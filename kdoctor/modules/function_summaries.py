"""Summaries of project functions: what they call with their parameters, and return.

Read only when a rule asks for one: an outline tells no more of a function than that it is there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kdoctor.modules.ast_cache import AstCache, Lines
from kdoctor.modules.dependencies import Dependencies
from kdoctor.modules.parameter_flow import Callees, parameter_callees
from kdoctor.syntax.ast_walk import ast_dotted_name
from kdoctor.syntax.package import KEEP_THE_TYPE, is_registry

_CACHE_SIZE = 256  # modules; memory must not grow with the tree


class FunctionSummaries:
    """Summaries of the top-level functions of modules.

    Where a module's tree was there once, it knows their lines: to ask about one costs no second
    parse of all that stands around it.
    """

    def __init__(self, trace: Dependencies, trees: AstCache) -> None:
        self._trace = trace
        self._trees = trees
        self._lines: dict[str, dict[str, Lines]] = {}

    def note(self, path: str, tree: ast.Module) -> None:
        """Record where a module's functions stand."""
        if len(self._lines) >= _CACHE_SIZE:
            del self._lines[next(iter(self._lines))]
        self._lines[path] = _lines_of_functions(tree)

    def forget(self) -> None:
        """Drop all recorded positions."""
        self._lines.clear()

    def parameter_callees(self, path: str, name: str) -> tuple[Callees, ...] | None:
        """Return what a module's function calls with its parameters.

        ``name`` may be that of a method, ``Class.method``. None where that is no function, has an
        unknown decorator, or is bound more than once.
        """
        cls, _, method = name.rpartition(".")
        found = self._method(path, cls, method) if cls else self._function(path, name)
        return None if found is None else parameter_callees(found, bound=1 if cls else 0)

    def returned_call(self, path: str, name: str) -> str | None:
        """Return the callee, as written, whose result a function surely returns.

        Through NumPy's functions that give back an array of the same type: of ``a = np.ones(3)``
        and ``return np.insert(a, 0, 0)`` it is ``np.ones``. A call with ``dtype=`` is none.
        """
        function = self._function(path, name)
        return None if function is None else _returned_call(function)

    def _method(self, path: str, cls: str, name: str) -> ast.FunctionDef | None:
        """Return the one method of that name of the one class of that name, if undecorated."""
        data = self._trace.read(path)
        tree = None if data is None else self._trees.of_bytes(data)
        classes = [
            each
            for each in (tree.body if tree else ())
            if isinstance(each, ast.ClassDef) and each.name == cls
        ]
        found = [
            each
            for each in (classes[0].body if len(classes) == 1 else ())
            if isinstance(each, ast.FunctionDef) and each.name == name
        ]
        return found[0] if len(found) == 1 and not found[0].decorator_list else None

    def _function(self, path: str, name: str) -> ast.FunctionDef | None:
        """Return the one function of that name, if it is without unknown decorators."""
        data = self._trace.read(path)
        if data is None:
            return None
        tree = self._trees.of_bytes(data, self._lines.get(path, {}).get(name))
        found = [each for each in _functions(tree) if each.name == name] if tree else []
        if len(found) != 1 or not all(map(_is_registry, found[0].decorator_list)):
            return None
        return found[0]


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (each for each in tree.body if isinstance(each, ast.FunctionDef))


def _lines_of_functions(tree: ast.Module) -> dict[str, Lines]:
    """Return where functions begin and end, but for those with decorators or a name of several."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for each in _functions(tree):
        found.setdefault(each.name, []).append(each)
    return {
        name: (only.lineno, only.end_lineno or only.lineno)
        for name, (only, *others) in found.items()
        if not others and not only.decorator_list
    }


def _returned_call(function: ast.FunctionDef) -> str | None:
    last = function.body[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    if any(isinstance(each, ast.Return) and each is not last for each in ast.walk(function)):
        return None
    value: ast.expr | None = last.value
    for statement in reversed(function.body[:-1]):
        match statement:
            case ast.Assign(targets=[ast.Name(id=stored)], value=made):
                value = _with(value, stored, made)
            case ast.Expr():
                continue
            case _:
                return None
    return _made_by(value)


def _with(value: ast.expr | None, name: str, made: ast.expr) -> ast.expr | None:
    """Return what makes ``value``, where ``name`` was last bound to ``made``."""
    while isinstance(value, ast.Call) and _leaf(value) in KEEP_THE_TYPE and value.args:
        value = value.args[0]
    return made if isinstance(value, ast.Name) and value.id == name else value


def _made_by(value: ast.expr | None) -> str | None:
    while isinstance(value, ast.Call) and _leaf(value) in KEEP_THE_TYPE and value.args:
        value = value.args[0]
    if not isinstance(value, ast.Call) or any(each.arg == "dtype" for each in value.keywords):
        return None
    return ast_dotted_name(value.func)


def _leaf(call: ast.Call) -> str:
    return (ast_dotted_name(call.func) or "").rpartition(".")[2]


def _is_registry(decorator: ast.expr) -> bool:
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    match name:
        case ast.Name(id=leaf) | ast.Attribute(attr=leaf):
            return is_registry(leaf)
    return False
