"""May-types by use: the prefilter's counterpart of ``usage_inference``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from kdoctor.syntax.scopes import HOLDERS
from kdoctor.syntax.symbol_table import BoundName, Namespace, SymbolTable
from kdoctor.syntax.type_oracle import NameFacts, TypeOracle
from kdoctor.value_types import Kind, ReceiverHint, Type


class MayTypesByUse:
    """May-types by use in one source."""

    def __init__(self, symbol_table: SymbolTable, names: NameFacts, oracle: TypeOracle) -> None:
        self.of_bindings: dict[BoundName, set[Type]] = {}
        self.of_members: dict[str, set[Type]] = {}  # by attribute
        self._symbol_table, self._names, self._oracle = symbol_table, names, oracle
        for method in oracle.methods_that_tell_types:
            for call, space in symbol_table.called_members.get(method, ()):
                for told in self._types_told(method, call, space):
                    self._note(call.func.value, space, told)
        self._note_hints()
        for member, types in self.of_members.items():
            for store in symbol_table.stores.get(member, ()):
                if isinstance(store.value, ast.Name):  # `self.model = model`
                    for bound in symbol_table.bindings(store.value.id, store.space):
                        if bound.kind in HOLDERS:
                            self.of_bindings.setdefault(bound, set()).update(types)

    def _note_hints(self) -> None:
        """Note what calls of different methods, and reads of attributes, may tell together."""
        found: list[tuple[ast.expr, Namespace, ReceiverHint]] = []
        for method in self._oracle.methods_that_hint:
            for call, space in self._symbol_table.called_members.get(method, ()):
                hint = self._oracle.receiver_hint(method, _passed_in(call).keys())
                if hint is not None:
                    found.append((call.func.value, space, hint))
        for attribute, hint in self._oracle.attributes_that_hint.items():
            for read, space in self._symbol_table.reads.get(attribute, ()):
                found.append((read.value, space, hint))
        groups: dict[str, set[str]] = {}
        for receiver, _, hint in found:
            groups.setdefault(_leaf(receiver), set()).add(hint.group)
        for receiver, space, hint in found:
            if len(groups[_leaf(receiver)]) > 1:
                self._note(receiver, space, hint.type)

    def _note(self, receiver: ast.expr, space: Namespace, told: Type) -> None:
        match receiver:
            case ast.Name(id=name):
                for bound in self._symbol_table.bindings(name, space):
                    if bound.kind in HOLDERS:
                        self.of_bindings.setdefault(bound, set()).add(told)
            case ast.Attribute(attr=member):
                self.of_members.setdefault(member, set()).add(told)

    def _types_told(self, method: str, call: ast.Call, space: Namespace) -> Iterator[Type]:
        """Yield what a call of a method may tell, one of what is passed being known at a time."""
        passed = _passed_in(call)
        unknown: dict[int | str, Type | None] = {
            key: Type(Kind.LIST) if isinstance(each, ast.List | ast.Tuple) else None
            for key, each in passed.items()
        }
        known = (
            {key: made}
            for key, each in passed.items()
            for made in self._class_call_types(each, space)
        )
        for given in ({}, *known):
            told = self._oracle.receiver_type(method, unknown | given)
            if told is not None:
                yield told

    def _class_call_types(self, node: ast.expr, space: Namespace) -> Iterator[Type]:
        """Yield what a call of a class may make, by way of a name, too."""
        match node:
            case ast.Call(func=cls):
                made = map(self._oracle.class_type, self._names.meant_by(cls))
                yield from (each for each in made if each is not None)
            case ast.Name(id=name):
                for bound in self._symbol_table.bindings(name, space):
                    if isinstance(bound.value, ast.Call):
                        yield from self._class_call_types(bound.value, space)


def _passed_in(call: ast.Call) -> dict[int | str, ast.expr]:
    """Return what is passed, by position up to where a star hides which is which."""
    first = takewhile(lambda each: not isinstance(each, ast.Starred), call.args)
    passed: dict[int | str, ast.expr] = dict(enumerate(first))
    return passed | {each.arg: each.value for each in call.keywords if each.arg}


def _leaf(receiver: ast.expr) -> str:
    """Return by what name an object is used, be it a variable or an attribute."""
    match receiver:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
