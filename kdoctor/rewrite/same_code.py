"""Compare two pieces of code for equivalence, and detect empty ones."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import libcst as cst

from kdoctor import parse_ast
from kdoctor.model import ImportNeed
from kdoctor.syntax import Module


class SameCode(ast.NodeTransformer):
    """Compares code with resolved imports."""

    def __init__(self, module: Module, needs: Iterable[ImportNeed]) -> None:
        self._module = module
        found: dict[str, set[str]] = {}
        for binding in module.imports:
            found.setdefault(binding.local, set()).add(binding.name)
        for need in needs:
            name = need.module if need.name is None else f"{need.module}.{need.name}"
            found.setdefault(need.local, set()).add(name)
        self._whole = {each: min(names) for each, names in found.items() if len(names) == 1}
        self._scope = self._top = module.scope_of(module.tree)

    def at(self, node: cst.CSTNode) -> SameCode:
        """Return the comparison for the scope of a node."""
        self._scope = self._module.scope_of(node)
        return self

    def are_same(self, one: str | None, other: str | None) -> bool:
        """Say whether two blocks, or two expressions, do the same."""
        if one is None or other is None:
            return False
        trees = [expression(each) or _statements(each) for each in (one, other)]
        if trees[0] is None or trees[1] is None:
            return False
        return ast.dump(self.visit(trees[0])) == ast.dump(self.visit(trees[1]))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Write a name out as what is imported by it."""
        name = self._whole.get(node.id)
        owner = self._scope.owner(node.id)
        is_hidden = owner is not None and owner is not self._top
        if name is None or is_hidden or not isinstance(node.ctx, ast.Load):
            return node
        if name.startswith("."):  # `..backend`: another file than any that has a name of its own
            return ast.Name(name, node.ctx)
        return parse_ast.parse(name, mode="eval").body

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Take the Keras of TensorFlow for Keras: they are one."""
        self.generic_visit(node)
        match node:
            case ast.Attribute(value=ast.Name(id="tensorflow"), attr="keras"):
                return ast.Name("keras", node.ctx)
        return node


def is_empty(text: str | None) -> bool:
    """Say whether a block does nothing: `pass`, or not even that."""
    tree = None if text is None else _statements(text)
    return tree is not None and all(isinstance(each, ast.Pass) for each in tree.body)


def _statements(text: str) -> ast.Module | None:
    """Return the statements of a block, be it indented or behind a colon."""
    for source in (f"if 1:\n{text}", text):
        try:
            tree = parse_ast.parse(source)
        except (SyntaxError, ValueError):
            continue
        if source is text:
            return tree
        only = tree.body[0] if len(tree.body) == 1 else None
        if isinstance(only, ast.If) and not only.orelse:
            return ast.Module(only.body, [])
    return None


def expression(text: str | None) -> ast.expr | None:
    """Return the tree of an expression, be it of several lines; None for anything else."""
    if text is None:
        return None
    try:
        tree = parse_ast.parse(f"(\n{text}\n)")
    except (SyntaxError, ValueError):
        return None
    first = tree.body[0] if len(tree.body) == 1 else None
    return first.value if isinstance(first, ast.Expr) else None
