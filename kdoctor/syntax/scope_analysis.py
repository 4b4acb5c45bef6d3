"""The result of scope analysis: parents, scopes, bindings and uses."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import libcst as cst
from msgspec import Struct, field

from kdoctor.syntax.scopes import Binding, BindingKind, Scope

Block = cst.BaseSuite | cst.SimpleStatementLine | cst.Module
"""What holds statements one after the other."""


class Mode(enum.Enum):
    """How an expression is used: load, store, delete, or as an annotation."""

    LOAD = enum.auto()
    STORE = enum.auto()
    DELETE = enum.auto()
    ANNOTATION = enum.auto()  # a type, in which strings are code


class Use(Struct, eq=False):
    """A read of a name, with the attributes taken from it.

    ``chain`` is the outermost node of ``name.a.b``. For a name in a string annotation both nodes
    are the string, and ``text`` is the dotted name that it holds.
    """

    name: str
    node: cst.CSTNode
    chain: cst.CSTNode
    scope: Scope
    mode: Mode
    order: int
    text: str | None = None


class BindingWay(Struct, frozen=True):
    """How a target is bound: the fields of ``Binding`` without the name."""

    kind: BindingKind
    scope: Scope
    value: cst.BaseExpression | None = None
    path: tuple[int | None, ...] = ()
    annotation: cst.BaseExpression | None = None

    def step(self, step: int | None) -> BindingWay:
        """Return how an element of the target is bound."""
        return BindingWay(self.kind, self.scope, self.value, (*self.path, step))


class Store(Struct, eq=False):
    """A binding of an attribute: `self.x = value`. The fields are those of ``Binding``."""

    node: cst.Attribute
    kind: BindingKind
    scope: Scope
    value: cst.BaseExpression | None
    path: tuple[int | None, ...]
    annotation: cst.BaseExpression | None


class ScopeAnalysis(Struct, eq=False, dict=True):
    """Everything that one walk over a tree collects."""

    tree: cst.Module
    module: Scope
    parents: dict[cst.CSTNode, cst.CSTNode] = field(default_factory=dict)
    scopes: dict[cst.CSTNode, Scope] = field(default_factory=dict)  # by the node that makes them
    uses: list[Use] = field(default_factory=list)
    strings: list[tuple[cst.SimpleString | cst.ConcatenatedString, Scope, int]] = field(
        default_factory=list
    )  # annotations
    import_bindings: list[Binding] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)
    attributes: list[cst.Attribute] = field(default_factory=list)  # not those of import statements
    calls: list[cst.Call] = field(default_factory=list)
    subscripts: list[cst.Subscript] = field(default_factory=list)
    classes: list[cst.ClassDef] = field(default_factory=list)
    functions: list[cst.FunctionDef] = field(default_factory=list)
    assigns: list[cst.Assign] = field(default_factory=list)
    conditions: list[cst.If] = field(default_factory=list)
    comparisons: list[cst.Comparison] = field(default_factory=list)

    def all_scopes(self) -> Iterable[Scope]:
        """Return every scope of the module."""
        return self.scopes.values()

    @cached_property
    def gathered(self) -> Mapping[type[cst.CSTNode], Sequence[cst.CSTNode]]:
        """All nodes of the classes of which rules ask most, in source order."""
        return {
            cst.Call: self.calls,
            cst.Subscript: self.subscripts,
            cst.ClassDef: self.classes,
            cst.FunctionDef: self.functions,
            cst.Assign: self.assigns,
            cst.If: self.conditions,
            cst.Comparison: self.comparisons,
        }

    @cached_property
    def uses_by_name(self) -> Mapping[str, Sequence[Use]]:
        """The uses of each name, in source order."""
        found: dict[str, list[Use]] = {}
        for use in self.uses:
            found.setdefault(use.name, []).append(use)
        return found

    @cached_property
    def attributes_by_name(self) -> Mapping[str, Sequence[cst.Attribute]]:
        """The attributes of each name, whatever they are of, in source order."""
        found: dict[str, list[cst.Attribute]] = {}
        for each in self.attributes:
            found.setdefault(each.attr.value, []).append(each)
        return found

    def place_in(self, block: Block, statement: cst.CSTNode) -> int:
        """Return which statement of a block it is."""
        places = self._places.get(block)
        if places is None:
            places = {each: place for place, each in enumerate(block.body)}
            self._places[block] = places
        return places[statement]

    @cached_property
    def _places(self) -> dict[Block, dict[cst.CSTNode, int]]:
        return {}

    def __del__(self) -> None:
        """Part the scopes from what they bind: the ring would keep the tree alive with them."""
        for scope in self.scopes.values():
            scope.bindings.clear()
            scope.stars.clear()
