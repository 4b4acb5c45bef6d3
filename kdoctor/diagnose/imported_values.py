"""Find the user's modules that define names used on some lines.

A traceback has no frame of a function that has returned. What it gave may still be behind the
error: `best(history) + 1` fails where `best` of another file gives None.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from kdoctor import parse_ast
from kdoctor.diagnose.by_rules import ReadSource
from kdoctor.target import FRAMEWORKS

_MAX_MODULES: Final = 8  # modules that are read


@dataclass(frozen=True, slots=True)
class Part:
    """Another file of the user, and its lines that define the imported names."""

    path: str
    data: bytes
    lines: frozenset[int]


def parts_behind(path: str, data: bytes, lines: Iterable[int], read: ReadSource) -> Iterator[Part]:
    """Yield the local modules whose names are read on some lines of a file.

    Only modules that Python finds from this file are considered: next to it, or below.
    """
    try:
        tree = parse_ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    chosen = set(lines)
    used = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.lineno in chosen
    }
    folder = PurePath(path).parent
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        for module, name, bound in _imports(node):
            if bound in used and module.partition(".")[0] not in FRAMEWORKS:
                found.setdefault(module, set()).add(name)
    for module, names in list(found.items())[:_MAX_MODULES]:
        place = str(folder.joinpath(*module.split(".")).with_suffix(".py"))
        source = read(place)
        if source is not None and source != data:
            yield Part(place, source, _defining(source, names))


def _imports(node: ast.AST) -> Iterator[tuple[str, str, str]]:
    """Yield the module, the name in it ("" for the module itself), and what it is called here."""
    if isinstance(node, ast.ImportFrom) and node.module and node.level <= 1:
        for each in node.names:
            yield node.module, each.name, each.asname or each.name
    elif isinstance(node, ast.Import):
        for each in node.names:
            yield each.name, "", each.asname or each.name.partition(".")[0]


def _defining(data: bytes, names: set[str]) -> frozenset[int]:
    """Return the lines that define some names at the top of a module; all of them for ""."""
    try:
        tree = parse_ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    defined = [node for node in tree.body if "" in names or _bound_by(node) & names]
    spans = (range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in defined)
    return frozenset(line for span in spans for line in span)


def _bound_by(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
