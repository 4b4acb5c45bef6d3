"""Imports that a file tries: where they fail, it goes on without them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Final

# What a handler catches if it is to catch a failed import.
_CAUGHT: Final = frozenset({"BaseException", "Exception", "ImportError", "ModuleNotFoundError"})


def is_tried(
    own: str,
    leaf_of: Callable[[str], str],
    importers_of: Callable[[str], Iterator[str]],
    read: Callable[[str], bytes],
) -> bool:
    """Say whether a file tries to import a module, or one that imports it."""
    waiting, known = [own], {own}
    for module in waiting:  # it grows meanwhile
        importers = dict.fromkeys(importers_of(module))
        if any(leaf_of(module) in tried_imports(read(each)) for each in importers):
            return True
        waiting += (each for each in importers if each not in known)
        known |= importers.keys()
    return False


def tried_imports(data: bytes) -> frozenset[str]:
    r"""Return the last parts of all module names, and the names, that a file tries to import.

    None of a file that is no Python of today.

    >>> sorted(tried_imports(b"try:\n    from .a.b import c\nexcept ImportError:\n    c = 0\n"))
    ['b', 'c']
    """
    if b"except" not in data:
        return frozenset()
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(
        name.rpartition(".")[2]
        for node in ast.walk(tree)
        if isinstance(node, ast.Try) and any(map(_catches, node.handlers))
        for statement in node.body
        for each in ast.walk(statement)
        for name in _imported(each)
    )


def _catches(handler: ast.ExceptHandler) -> bool:
    match handler.type:
        case None:
            return True
        case ast.Tuple(elts=types):
            pass
        case single:
            types = [single]
    return any(isinstance(each, ast.Name) and each.id in _CAUGHT for each in types)


def _imported(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (each.name for each in names)
        case ast.ImportFrom(module=module, names=names):
            yield from (each.name for each in names)
            if module:
                yield module
