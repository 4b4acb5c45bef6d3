"""Record which changed lines run; a line that did not run was not compared."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any

_PROBE = "__kdoctor_reached__"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Reached:
    """Changed lines of a module, and those of them that ran."""

    def __init__(self, lines: Collection[int]) -> None:
        self._lines = frozenset(lines)
        self.wanted = set[int]()
        self.ran = set[int]()

    def compiled(self, text: str, file: str, names: dict[str, Any]) -> Any:
        """Compile a module with probes at the changed lines inside functions.

        ``names`` is the namespace that it will run in. Code outside functions runs in any case.
        """
        tree = ast.parse(text, file)
        self._watch(tree, inside=False)
        names[_PROBE] = self.ran.add
        return compile(tree, file, "exec", dont_inherit=True)

    @property
    def missed(self) -> list[int]:
        """The lines that did not run."""
        return sorted(self.wanted - self.ran)

    def _watch(self, node: ast.AST, *, inside: bool) -> None:
        for name, value in ast.iter_fields(node):
            if not isinstance(value, list):
                if isinstance(value, ast.AST):
                    self._watch(value, inside=inside)
                continue
            found = []
            for each in value:
                if inside and isinstance(each, ast.stmt) and not _is_text(each):
                    changed = self._lines.intersection(_own_lines(each))
                    if changed:
                        self.wanted.add(min(changed))
                        found.append(_probe(min(changed), each))
                found.append(each)
                if isinstance(each, ast.AST):
                    self._watch(each, inside=inside or isinstance(each, _FUNCTIONS))
            setattr(node, name, found)


def _own_lines(node: ast.stmt) -> range:
    """Return the lines of a statement, without those of nested statements."""
    inner = getattr(node, "body", None) or getattr(node, "cases", None)
    first = inner[0] if isinstance(inner, list) else None
    if isinstance(first, ast.match_case if hasattr(ast, "match_case") else ()):
        first = first.pattern
    end = first.lineno if first is not None else (node.end_lineno or node.lineno) + 1
    return range(node.lineno, max(end, node.lineno + 1))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _probe(line: int, before: ast.stmt) -> ast.stmt:
    (found,) = ast.parse(f"{_PROBE}({line})").body
    for each in ast.walk(found):
        ast.copy_location(each, before)
    return found
