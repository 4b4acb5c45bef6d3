"""Modules that are imported for one backend of Keras alone.

``if keras.backend.backend() == "jax": from mine.jax_layers import Layer``: what that module holds
never runs on another one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final

from kdoctor.lazy_regex import pattern
from kdoctor.modules.file_stamp import Signature, signature_of
from kdoctor.modules.test_files import is_test_file

_NAMES: Final = frozenset({"tensorflow", "jax", "torch", "numpy", "openvino", "mlx"})
_WORD: Final = "backend"
_QUOTED: Final = pattern(rb"['\"](?:" + "|".join(sorted(_NAMES)).encode() + rb")['\"]")
_MAX_FILES: Final = 5_000


def is_for_a_backend(
    own: str,
    leaf_of: Callable[[str], str],
    importers_of: Callable[[str], Iterator[str]],
    read: Callable[[str], bytes],
) -> bool:
    """Say whether all that import a module, but for tests, ask for the backend before.

    Or are imported in this way themselves. ``leaf_of`` returns the name of a module by its path.
    """
    waiting, known = [own], {own}
    for module in waiting:  # it grows meanwhile
        importers = [each for each in dict.fromkeys(importers_of(module)) if not is_test_file(each)]
        if not importers:
            return False
        for each in importers:
            if leaf_of(module) not in _asked_in(each, read) and each not in known:
                waiting.append(each)
                known.add(each)
    return True


def _asked_in(path: str, read: Callable[[str], bytes]) -> frozenset[str]:
    signature = signature_of(path)
    return backend_imports(read(path)) if signature is None else _known(path, signature, read)


@lru_cache(maxsize=_MAX_FILES)
def _known(path: str, _signature: Signature, read: Callable[[str], bytes]) -> frozenset[str]:
    """Return what a file imports for a backend alone: it is asked for each module of a project."""
    return backend_imports(read(path))


def backend_imports(data: bytes) -> frozenset[str]:
    r"""Return the last parts of modules, and the names, that a file imports for a backend alone.

    >>> sorted(backend_imports(b"if backend() == 'jax':\n    from .a import c\n"))
    ['a', 'c']
    """
    if _WORD.encode() not in data or _QUOTED.search(data) is None:
        return frozenset()
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    asked: set[str] = set()
    others: set[str] = set()
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    for node, is_asked in waiting:  # it grows meanwhile
        (asked if is_asked else others).update(_imported(node))
        inner = is_asked or _asks(node)
        waiting += [(each, inner) for each in ast.iter_child_nodes(node)]
    return frozenset(asked - others)


def _asks(node: ast.AST) -> bool:
    """Say whether a statement depends on which backend Keras has."""
    match node:
        case ast.If(test=test):
            parts = list(ast.walk(test))
        case ast.Match(subject=subject, cases=cases):
            parts = [*ast.walk(subject), *(e for case in cases for e in ast.walk(case.pattern))]
        case _:
            return False
    names = {each.id for each in parts if isinstance(each, ast.Name)}
    names |= {each.attr for each in parts if isinstance(each, ast.Attribute)}
    texts = {each.value for each in parts if isinstance(each, ast.Constant)}
    return any(_WORD in each.lower() for each in names) and not _NAMES.isdisjoint(texts)


def _imported(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (each.name.rpartition(".")[2] for each in names)
        case ast.ImportFrom(module=module, names=names):
            yield from (each.name for each in names)
            if module:
                yield module.rpartition(".")[2]
