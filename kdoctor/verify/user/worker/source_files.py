"""Take classes and functions out of source files of the user's: the rest of a file is not run."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

_IMPORTS = (ast.Import, ast.ImportFrom)


def taken(sources: list[str], wanted: dict[str, str]) -> dict[str, Any]:
    """Return what stands in some files under the names that are ``wanted``, by its key.

    A file may import another one of them. Of the statements at the top of a file only those run
    that the wanted names need: a training in the same file does not begin.

    Raises:
        ImportError: none of the files has such a name.
    """
    sys.meta_path.insert(0, _Finder(sources))
    found = {}
    for source in sources:
        here = {key: name for key, name in wanted.items() if key not in found}
        values = _values(Path(source), set(here.values())) if here else {}
        found.update({key: values[name] for key, name in here.items() if name in values})
    for key, name in wanted.items():
        if key not in found:
            places = f" in {', '.join(Path(each).name for each in sources)}" if sources else ""
            raise ImportError(f"the model needs `{name}`, and it is not found{places}: --source")
    return found


def put_into_modules(sources: list[str], wanted: dict[str, list[str]]) -> None:
    """Put what stands in some files into modules: those where Keras looks for it, and the names.

    What is in no file is left out: it may be a name that Keras itself gives to a Lambda.
    """
    sys.meta_path.insert(0, _Finder(sources))
    for module, names in wanted.items():
        found: dict[str, Any] = {}
        for source in sources:
            found = {**_values(Path(source), set(names) - set(found)), **found}
        there = sys.modules.setdefault(module, types.ModuleType(module))
        vars(there).update(found)


def _values(path: Path, names: set[str]) -> dict[str, Any]:
    tree = ast.parse(path.read_bytes(), str(path))
    kept = _needed(tree.body, names)
    if not any(names & _bound(each) for each in kept):
        return {}
    tree.body = kept
    values = {"__name__": path.stem, "__file__": str(path)}
    exec(compile(tree, str(path), "exec"), values)  # noqa: S102 - the user trusts it
    return {name: values[name] for name in names if name in values}


def _needed(body: list[ast.stmt], names: set[str]) -> list[ast.stmt]:
    """Return the statements that make some names, and all that these need, in their order."""
    bound = [(each, _bound(each)) for each in body]
    waiting, seen, kept = list(names), set(names), set()
    while waiting:
        name = waiting.pop()
        for each, binds in bound:
            if name not in binds or id(each) in kept:
                continue
            kept.add(id(each))
            used = {node.id for node in ast.walk(each) if isinstance(node, ast.Name)}
            waiting += sorted(used - seen)
            seen |= used
    future = [each for each in body if getattr(each, "module", None) == "__future__"]
    return [each for each in body if id(each) in kept or each in future]


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds, in its branches, too."""
    if isinstance(statement, _IMPORTS):
        return {(each.asname or each.name).partition(".")[0] for each in statement.names}
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    found = set()
    for node in ast.iter_child_nodes(statement):
        if isinstance(node, ast.stmt):
            found |= _bound(node)
        elif isinstance(node, ast.ExceptHandler):
            found |= {name for each in node.body for name in _bound(each)}
        else:
            found |= {
                each.id
                for each in ast.walk(node)
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
            }
    return found


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the source files as modules: they may lie in folders that cannot be listed."""

    def __init__(self, sources: list[str]) -> None:
        self._by_name = {Path(each).stem: each for each in sources}

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> Any:
        """Return the spec of a source file."""
        del path, target
        source = self._by_name.get(fullname.rpartition(".")[2])
        return source and importlib.util.spec_from_file_location(fullname, source)
