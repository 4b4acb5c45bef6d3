"""Record bindings, uses and parents during the scope walk."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import libcst as cst

from kdoctor.syntax.libcst_walk import FIELDS, children
from kdoctor.syntax.scope_analysis import BindingWay, Mode, ScopeAnalysis, Store, Use
from kdoctor.syntax.scopes import Binding, BindingKind, Scope, ScopeKind

Item = tuple[cst.CSTNode, Scope, Mode]
"""A node to visit."""


class ScopeBuilder:
    """The scope data collected so far, and a stack of nodes to visit."""

    def __init__(self, tree: cst.Module) -> None:
        self.found = ScopeAnalysis(tree, Scope(ScopeKind.MODULE, tree, None))
        self.found.scopes[tree] = self.found.module
        self.parents = self.found.parents
        self.next_order = count(1).__next__
        self.remote: list[Binding] = []
        self.waiting: list[Item] = []

    def push(self, parent: cst.CSTNode, items: Sequence[Item]) -> None:
        """Push children of ``parent`` so that they are visited in this order."""
        parents = self.parents
        for child, _, _ in items:
            parents[child] = parent
        self.waiting += reversed(items)

    def adopt(self, node: cst.CSTNode) -> None:
        """Note the parents below a node that holds no expressions."""
        waiting = [node]
        while waiting:
            parent = waiting.pop()
            for child in children(parent):
                self.parents[child] = parent
                if FIELDS[child.__class__]:
                    waiting.append(child)

    def bind(self, name: str, node: cst.CSTNode, how: BindingWay) -> None:
        """Record that ``node`` binds a name."""
        scope = how.scope
        binding = Binding(name, how.kind, node, scope, how.value, how.path, how.annotation)
        binding.order = self.next_order()
        if how.kind is BindingKind.IMPORT:
            self.found.import_bindings.append(binding)
        if name in scope.nonlocal_names:
            binding.remote = True
            self.remote.append(binding)
            return
        if name in scope.global_names and scope.kind is not ScopeKind.MODULE:
            binding.remote = True
            binding.scope = scope = self.found.module
        scope.bindings.setdefault(name, []).append(binding)

    def target(self, parent: cst.CSTNode, node: cst.BaseExpression, how: BindingWay) -> None:
        """Bind the names of a target; have the expressions in it visited next."""
        self.waiting += reversed(self.targets(parent, node, how))

    def targets(self, parent: cst.CSTNode, node: cst.BaseExpression, how: BindingWay) -> list[Item]:
        """Bind the names of a target; return the parts of it that are expressions."""
        self.parents[node] = parent
        if type(node) is cst.Name:
            if how.kind is BindingKind.DELETE:
                self.read(node, node, how.scope, Mode.DELETE)
            self.bind(node.value, node, how)
            return []
        if isinstance(node, cst.Tuple | cst.List):
            items: list[Item] = []
            for index, element in enumerate(node.elements):
                self.parents[element] = node
                step = None if isinstance(element, cst.StarredElement) else index
                items += self.targets(element, element.value, how.step(step))
            return items
        if isinstance(node, cst.Attribute):
            self.found.stores.append(
                Store(node, how.kind, how.scope, how.value, how.path, how.annotation)
            )
        mode = Mode.DELETE if how.kind is BindingKind.DELETE else Mode.STORE
        return [(node, how.scope, mode)]

    def bind_nonlocals(self) -> None:
        """Bind what ``nonlocal`` binds where it belongs."""
        for binding in self.remote:
            for scope in binding.scope.enclosing():
                if scope.kind is ScopeKind.FUNCTION and binding.name in scope.bindings:
                    binding.scope = scope
                    scope.bindings[binding.name].append(binding)
                    break

    def read(self, name: cst.Name, chain: cst.CSTNode, scope: Scope, mode: Mode) -> None:
        """Record a read of a name and of ``chain`` from it."""
        self.found.uses.append(Use(name.value, name, chain, scope, mode, self.next_order()))
