"""Which imports can be read where: for the names that a fix would use again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import libcst as cst

from kdoctor.rewrite.surroundings import ancestors
from kdoctor.syntax import ImportBinding, Module, Reference

Scope = cst.FunctionDef | cst.Lambda | cst.ClassDef | cst.BaseComp | cst.Module

_SCOPES = (cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.BaseComp, cst.Module)
_CONDITIONAL = (cst.If, cst.Try, cst.TryStar, cst.For, cst.While, cst.With, cst.Match)


class Visibility:
    """Answers for one file; names bound in a scope are collected once."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._bound: dict[cst.CSTNode, Counter[str]] = {}

    def binding_of(self, name: str, reference: Reference) -> ImportBinding | None:
        """Return an import of ``name`` that surely can be read where ``reference`` stands."""
        candidates = [
            binding
            for binding in self.module.imports
            if binding.name == name and binding.alias is not None
        ]
        # The import that the old name was read by comes first: it is this place's habit.
        candidates.sort(key=lambda binding: binding is not reference.binding)
        return next((each for each in candidates if self._is_readable(each, reference)), None)

    def _is_readable(self, binding: ImportBinding, reference: Reference) -> bool:
        if binding is reference.binding and _reads_it_at_the_start(reference):
            return True
        if is_conditional(self.module, binding.statement):
            return False
        home = scope_of(self.module, binding.statement)
        inner = list(_scopes_around(self.module, reference.node))
        if home not in inner:
            return False
        between = inner[: inner.index(home)]
        if isinstance(home, cst.ClassDef) and between:
            return False
        hidden = any(
            self._bound_in(scope)[binding.local]
            for scope in between
            # Names of a class body are seen in the body only.
            if not isinstance(scope, cst.ClassDef) or scope is inner[0]
        )
        if hidden or self._bound_in(home)[binding.local] != self._times_imported(binding, home):
            return False
        runs_later = any(isinstance(scope, cst.FunctionDef | cst.Lambda) for scope in between)
        before = self.module.span(binding.statement) < self.module.span(reference.node)
        return runs_later or before

    def _times_imported(self, binding: ImportBinding, home: cst.CSTNode) -> int:
        """Return how often the scope binds the name by importing the very same thing."""
        return sum(
            (other.local, other.name) == (binding.local, binding.name)
            and scope_of(self.module, other.statement) is home
            for other in self.module.imports
        )

    def _bound_in(self, scope: cst.CSTNode) -> Counter[str]:
        if scope not in self._bound:
            self._bound[scope] = Counter(_names_bound_by(scope))
        return self._bound[scope]


def scope_of(module: Module, node: cst.CSTNode) -> cst.CSTNode:
    """Return the innermost function, class, comprehension or module around ``node``."""
    return next(_scopes_around(module, node))


def is_conditional(module: Module, statement: cst.CSTNode) -> bool:
    """Say whether a statement is run in some cases only, as far as its own scope goes."""
    for each in ancestors(module, statement):
        if isinstance(each, _SCOPES):
            return False
        if isinstance(each, _CONDITIONAL):
            return True
    return False


def _scopes_around(module: Module, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    below = node
    for each in ancestors(module, node):
        # Decorators, bases and annotations are read outside, defaults too.
        inside = not isinstance(each, cst.FunctionDef | cst.ClassDef) or below is each.body
        if isinstance(each, _SCOPES) and inside:
            yield each
        below = each


def _reads_it_at_the_start(reference: Reference) -> bool:
    """Say whether the old text itself starts with the import's local name."""
    node: cst.CSTNode = reference.node
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name) and node.value == reference.binding.local


def _names_bound_by(scope: cst.CSTNode) -> Iterator[str]:
    """Yield each name as often as the scope binds it; a `global` counts as another binding."""
    waiting: list[cst.CSTNode] = list(scope.children)
    while waiting:
        node = waiting.pop()
        yield from _names_bound_at(node)
        if not isinstance(node, _SCOPES):
            waiting += node.children


def _names_bound_at(node: cst.CSTNode) -> Iterator[str]:
    match node:
        case cst.FunctionDef() | cst.ClassDef():
            yield node.name.value
        case cst.Param() | cst.NameItem():
            yield node.name.value
        case cst.ImportAlias():
            name = node.asname.name if node.asname else node.name
            while isinstance(name, cst.Attribute):
                name = name.value
            if isinstance(name, cst.Name):
                yield name.value
        case cst.AssignTarget() | cst.AugAssign() | cst.AnnAssign() | cst.For() | cst.CompFor():
            yield from _targets(node.target)
        case cst.NamedExpr():
            yield from _targets(node.target)
        case cst.Del():
            yield from _targets(node.target)
        case cst.AsName():
            yield from _targets(node.name)
        case cst.MatchAs() | cst.MatchStar() if node.name is not None:
            yield node.name.value
        case cst.MatchMapping() if node.rest is not None:
            yield node.rest.value


def _targets(node: cst.CSTNode) -> Iterator[str]:
    match node:
        case cst.Name():
            yield node.value
        case cst.Tuple() | cst.List():
            for element in node.elements:
                yield from _targets(element.value)
        case cst.StarredElement():
            yield from _targets(node.value)
