"""May-types of classes and their instances, and the memo that may-types are found with."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from kdoctor.syntax.ast_walk import nodes_in
from kdoctor.syntax.bases import unsubscripted
from kdoctor.syntax.scopes import BindingKind
from kdoctor.syntax.symbol_table import BoundName, Namespace, SymbolTable
from kdoctor.syntax.type_oracle import NameFacts, TypeOracle
from kdoctor.syntax.type_sets import Types, callable_of, subtype_of
from kdoctor.value_types import Type

_NOTHING: Types = frozenset()


class MayClasses(ABC):
    """What classes may make, in one source."""

    def __init__(self, symbol_table: SymbolTable, names: NameFacts, oracle: TypeOracle) -> None:
        self.symbol_table = symbol_table
        self._names = names
        self._oracle = oracle
        self._known: dict[object, Types] = {}
        self._asked: set[object] = set()
        self._asked_last: list[object] = []
        self._open: set[object] = set()
        self._is_in_a_ring = self._has_grown = False

    @abstractmethod
    def _of(self, node: ast.expr, space: Namespace) -> Types:
        """Return what an expression may be, as far as it is known."""

    def _settled(self, node: ast.expr, space: Namespace) -> Types:
        """Return what an expression may be, once all that is in a ring is known.

        Raises:
            RecursionError: the code is nested too deeply to tell.
        """
        return self._at_rest(lambda: self._of(node, space))

    def _at_rest(self, find: Callable[[], Types]) -> Types:
        """Return what ``find`` finds, once all that is in a ring is known.

        Raises:
            RecursionError: the code is nested too deeply to tell.
        """
        while True:
            self._is_in_a_ring = self._has_grown = False
            self._asked_last.clear()
            try:
                found = find()
            except RecursionError:
                self._open.clear()
                self._asked.clear()
                raise
            if not (self._is_in_a_ring and self._has_grown):
                return found
            self._asked.difference_update(self._asked_last)

    def _recall(self, key: object, find: Callable[[], Iterable[Type]]) -> Types:
        """Return what ``find`` finds, once; what is known so far where that is being asked.

        The question is then asked again, until all that is in such a ring is known.
        """
        known = self._known.get(key, _NOTHING)
        if key in self._open:
            self._is_in_a_ring = True
            return known
        if key in self._asked:
            return known
        self._open.add(key)
        found = known.union(find())
        self._open.discard(key)
        self._asked.add(key)
        self._asked_last.append(key)
        if found != known:
            self._has_grown = True
            self._known[key] = found
        return found

    def _classes(self, node: ast.Name | ast.Attribute, space: Namespace) -> Types:
        """Return the classes that a name with a capital letter may be of."""
        return frozenset([callable_of(each) for each in self._instances(node, space)])

    def _instances(self, cls: ast.expr, space: Namespace) -> Iterator[Type]:
        """Yield what calling a class may make, nothing where ``cls`` can be no class."""
        names = self._names.meant_by(cls)
        if names:  # most are of nothing that is imported
            made = map(self._oracle.class_type, names)
            yield from (each for each in made if each is not None)
            for info in self._names.classes_meant_by(cls):
                base = None if info.base is None else self._oracle.class_type(info.base)
                if base is not None:
                    yield subtype_of(base, info.name)
        if isinstance(cls, ast.Name):
            bindings = self.symbol_table.bindings(cls.id, space)
            if bindings:
                yield from self._recall(
                    ("class", cls.id, space),
                    lambda: chain.from_iterable(map(self._instances_of, bindings)),
                )

    def _instances_of(self, bound: BoundName) -> Iterator[Type]:
        """Yield what calling the class makes that a name of the source is bound to."""
        match bound.kind, bound.node:
            case BindingKind.CLASS, ast.ClassDef() as own:
                yield from self._class(own)
            case BindingKind.ASSIGN, _ if isinstance(bound.value, ast.Name):
                yield from self._instances(bound.value, bound.space)
            case BindingKind.PARAMETER, (ast.FunctionDef() | ast.AsyncFunctionDef()) as function:
                # `@pytest.mark.parametrize("layer", [Dense, Conv1D])`
                for each in function.decorator_list:
                    if isinstance(each, ast.Call):
                        for part in nodes_in(each):
                            if isinstance(part, ast.Name | ast.Attribute):
                                yield from self._instances(part, bound.space)

    def _class(self, node: ast.ClassDef) -> Types:
        """Return what an instance of a class of the source may be, by its bases."""
        return self._recall(
            node, lambda: (subtype_of(each, node.name) for each in self._of_bases(node))
        )

    def _of_bases(self, node: ast.ClassDef) -> Iterator[Type]:
        around = self.symbol_table.spaces[node].parent or self.symbol_table.module
        for each in node.bases:
            yield from self._instances(unsubscripted(each), around)

    def _super(self, space: Namespace) -> Iterator[Type]:
        for each in space.enclosing():
            if isinstance(each.node, ast.ClassDef):
                yield from self._of_bases(each.node)
