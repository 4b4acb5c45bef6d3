"""Scopes, bindings, and Python's name lookup rules.

https://docs.python.org/3/reference/executionmodel.html#resolution-of-names
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec import Struct, field


class ScopeKind(enum.Enum):
    """The kinds of scopes."""

    MODULE = enum.auto()
    CLASS = enum.auto()
    FUNCTION = enum.auto()  # a def or a lambda; type parameters have such a scope of their own
    COMPREHENSION = enum.auto()  # also a generator expression


class BindingKind(enum.Enum):
    """The kinds of bindings."""

    IMPORT = enum.auto()
    ASSIGN = enum.auto()  # `value` is assigned, also by a walrus
    ANNOTATE = enum.auto()  # `x: int` without a value, which binds nothing when it runs
    AUGMENT = enum.auto()
    LOOP = enum.auto()  # `value` is what the loop or the comprehension runs over
    WITH = enum.auto()  # `value` is what is entered
    EXCEPT = enum.auto()
    FUNCTION = enum.auto()
    CLASS = enum.auto()
    PARAMETER = enum.auto()
    DELETE = enum.auto()
    CAPTURE = enum.auto()  # of a match statement
    TYPE = enum.auto()  # a type alias or a type parameter


HOLDERS: Final = frozenset(
    {BindingKind.ASSIGN, BindingKind.PARAMETER, BindingKind.LOOP, BindingKind.WITH}
)
"""By what a name gets an object that is used by that name."""


class Scope(Struct, eq=False):
    """One namespace. ``node`` creates it."""

    kind: ScopeKind
    node: cst.CSTNode
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[Binding] = field(default_factory=list)  # `from … import *`; name is "*"
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)

    def enclosing(self) -> Iterator[Scope]:
        """Yield this scope and the enclosing ones, the module last."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def module(self) -> Scope:
        """Return the outermost scope."""
        *_, module = self.enclosing()
        return module

    def owner(self, name: str) -> Scope | None:
        """Return the scope whose binding a read of ``name`` in this scope finds, if any."""
        if name in self.global_names:
            module = self.module()
            return module if name in module.bindings else None
        if name in self.bindings:
            return self
        scope = self.parent
        while scope is not None:
            # What a class body binds is seen in the body itself, not in the functions inside it.
            if name in scope.bindings and scope.kind is not ScopeKind.CLASS:
                return scope
            scope = scope.parent
        return None

    def bindings_of(self, name: str) -> list[Binding]:
        """Return all bindings of ``name`` in the scope that owns it for a read in this one."""
        owner = self.owner(name)
        return [] if owner is None else owner.bindings.get(name, [])

    def parameter(self, name: str) -> Binding | None:
        """Return the binding of the parameter of such a name, if the function has one."""
        found = self.bindings.get(name, ())
        return next((each for each in found if each.kind is BindingKind.PARAMETER), None)

    def runs_with(self, other: Scope) -> bool:
        """Say whether this scope's code runs inline in ``other``, which encloses it."""
        for scope in self.enclosing():
            if scope is other:
                return True
            if scope.kind is ScopeKind.FUNCTION:
                return False
        return False


class Binding(Struct, eq=False):
    """One node that binds or deletes a name.

    ``node`` is what carries the name: a Name, an ImportAlias, a FunctionDef, a ClassDef, a Param.
    ``path`` says which part of ``value`` is bound: for ``c`` in ``a, (b, c) = value`` it is
    ``(1, 1)``; a starred target has None as its last step.
    ``remote``: bound through ``global`` or ``nonlocal``, so at any time.
    """

    name: str
    kind: BindingKind
    node: cst.CSTNode
    scope: Scope
    value: cst.BaseExpression | None = None
    path: tuple[int | None, ...] = ()
    annotation: cst.BaseExpression | None = None
    remote: bool = False
    order: int = 0  # among all bindings and uses of the module, by source
