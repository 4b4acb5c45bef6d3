"""What the names of a source stand for: modules that it imports, and constants."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

_NUMBERS: Final = (int, float)


class ModuleNames:
    """The names of one module that are bound once: anything else may be something else."""

    def __init__(self, tree: ast.Module) -> None:
        self._bound = Counter(_bound_in(tree))
        self._imported: Counter[str] = Counter()
        self.imports: dict[str, tuple[ast.Import | ast.ImportFrom, str]] = {}
        self.assigned: dict[str, ast.Assign] = {}
        self.defined: dict[str, ast.FunctionDef | ast.ClassDef] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._add_import(node)
        for node in tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(name)]):
                    self.assigned[name] = node
                case ast.FunctionDef() | ast.ClassDef():
                    self.defined[node.name] = node
                case _:
                    pass

    def is_one(self, name: str) -> bool:
        """Say whether a name is bound once in the module."""
        return self._bound[name] == 1

    def dotted(self, node: ast.expr) -> str | None:
        """Return what an expression names, from the module that it is imported from."""
        match node:
            case ast.Attribute(value, attribute):
                root = self.dotted(value)
                return None if root is None else f"{root}.{attribute}"
            case ast.Name(name) if name in self.imports and self._are_same(name):
                return self.imports[name][1]
            case _:
                return None

    def constant(self, node: ast.expr, error: type[Exception]) -> Any:
        """Return the number that a name of the module is.

        Raises:
            Exception: of the class that is given, where it is none.
        """
        if isinstance(node, ast.Name) and node.id in self.assigned and self.is_one(node.id):
            try:
                value = ast.literal_eval(self.assigned[node.id].value)
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                value = None
            if isinstance(value, _NUMBERS) and not isinstance(value, bool):
                return value
        raise error(f"it needs `{ast.unparse(node)[:60]}`, which is no number of the module")

    def _are_same(self, name: str) -> bool:
        """Say whether a name is nothing but an import, if it is imported more than once."""
        return self._bound[name] == self._imported[name]

    def _add_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for each in node.names:
            if isinstance(node, ast.Import):
                name = each.asname or each.name.partition(".")[0]
                dotted = each.name if each.asname else name
            else:
                if node.level or node.module is None:
                    continue
                name, dotted = each.asname or each.name, f"{node.module}.{each.name}"
            known = self.imports.get(name)
            if known is None or known[1] == dotted:
                self.imports[name] = (node, dotted)
                self._imported[name] += 1


def _bound_in(tree: ast.Module) -> Iterator[str]:
    """Yield each name once for each place that binds it, in whichever scope."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(name, ast.Store() | ast.Del()):
                yield name
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.arg():
                yield node.arg
            case ast.Import() | ast.ImportFrom():
                for each in node.names:
                    yield each.asname or each.name.partition(".")[0]
            case ast.ExceptHandler(name=str(name)):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case _:
                pass
