"""May-types of expressions: a superset of what ``Inference`` can infer.

Inference asks scope by scope, in a tree of libcst's that has to be made for it. Where nothing that
a rule is about is possible, there is nothing to infer. So each way by which inference comes to know
something has its counterpart here, one that asks neither for scopes and order nor whether others
agree; ``tests/syntax/test_may_types.py`` holds the two against each other.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from kdoctor.syntax import type_sets
from kdoctor.syntax.ast_walk import chain_of, nodes_in
from kdoctor.syntax.bases import unsubscripted
from kdoctor.syntax.docstrings import documented_type
from kdoctor.syntax.may_types_by_use import MayTypesByUse
from kdoctor.syntax.scopes import BindingKind
from kdoctor.syntax.symbol_table import (
    FUNCTIONS,
    BoundName,
    Condition,
    Function,
    Loop,
    Namespace,
    Place,
    Steps,
    SymbolTable,
    chain_in,
    passed_values,
    unstarred,
)
from kdoctor.syntax.type_oracle import PARTIAL, NameFacts, TypeOracle
from kdoctor.syntax.type_sets import Types, items_of, kinds_in, list_of, parts_of, subtype_of
from kdoctor.value_types import EAGER_TENSOR, EAGER_TENSORS, Kind, Type

_NOTHING: Types = frozenset()
_PASSED_THROUGH = frozenset({"list", "tuple", "reversed", "sorted", "iter"})
_LISTS = frozenset({"List", "list", "Sequence", "Iterable", "Tuple", "tuple", "Collection"})
_TENSOR = Type(Kind.TENSOR)
_TENSORS = frozenset({Kind.TENSOR, Kind.EAGER})
_MAKES_A_TENSOR = ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.NotEq


class MayTypes:
    """May-types in one source."""

    def __init__(self, symbol_table: SymbolTable, names: NameFacts, oracle: TypeOracle) -> None:
        self.symbol_table = symbol_table
        self._names = names
        self._oracle = oracle
        self._by_use = MayTypesByUse(symbol_table, names, oracle)
        self._known: dict[object, Types] = {}
        self._asked: set[object] = set()
        self._asked_last: list[object] = []
        self._open: set[object] = set()
        self._is_in_a_ring = self._has_grown = False

    def reads(self, members: Collection[str]) -> Iterator[Place]:
        """Yield the reads of such attributes."""
        for member in members:
            yield from self.symbol_table.reads.get(member, ())

    def writes(self, members: Collection[str]) -> Iterator[Place]:
        """Yield the assignments, updates and deletions of such attributes."""
        for member in members:
            yield from self.symbol_table.writes.get(member, ())

    def is_assigned(self, read: Place) -> bool:
        """Say whether the source assigns what is written in the same way, wherever that stands."""
        node, owner = read[0], chain_of(read[0].value)
        return any(chain_of(each.value) == owner for each, _ in self.writes((node.attr,)))

    def owner(self, attribute: Place) -> Types:
        """Return the may-types of an attribute's owner.

        Raises:
            RecursionError: the code is nested too deeply to tell.
        """
        node, space = attribute
        return self.types_of(node.value, space)

    def types_in(self, place: ast.Call | Condition | Loop, node: ast.expr) -> Types:
        """Return all types of an expression in a call, or what a condition or loop is about.

        Raises:
            RecursionError: the code is nested too deeply to tell.
        """
        # What stands among the parameters of types, `def f[T: g(x)]()`, is in no place.
        return self.types_of(node, self.symbol_table.places.get(place, self.symbol_table.module))

    def types_of(self, node: ast.expr, space: Namespace) -> Types:
        """Return the may-types of an expression.

        Raises:
            RecursionError: the code is nested too deeply to tell.
        """
        while True:
            self._is_in_a_ring = self._has_grown = False
            self._asked_last.clear()
            try:
                found = self._of(node, space)
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

    def _of(self, node: ast.expr, space: Namespace) -> Types:
        way = _WAYS.get(node.__class__)
        return _NOTHING if way is None else way(self, node, space)

    # -- names

    def _name(self, node: ast.Name, space: Namespace) -> Types:
        key = (node.id, space)
        if key in self._asked and key not in self._open:  # before its bindings are looked up again
            return self._known.get(key, _NOTHING)
        bindings = self.symbol_table.bindings(node.id, space)
        if not bindings:
            return _NOTHING
        return self._recall(key, lambda: chain.from_iterable(map(self._bound, bindings)))

    def _bound(self, bound: BoundName) -> Iterator[Type]:
        """Yield what a binding may hold."""
        yield from self._by_use.of_bindings.get(bound, ())
        match bound.kind:
            case BindingKind.ASSIGN | BindingKind.AUGMENT:
                if bound.annotation is not None:
                    yield from self._declared(bound.annotation, bound.space)
                if bound.value is not None:
                    yield from self._part(bound.value, bound.path, bound.space)
            case BindingKind.LOOP if bound.value is not None:
                yield from self._element(bound.value, bound.path, bound.space)
            case BindingKind.WITH if bound.value is not None:
                yield from self._members(self._of(bound.value, bound.space), "__enter__")
            case BindingKind.PARAMETER if isinstance(bound.node, FUNCTIONS):
                yield from self._parameter(bound, bound.node)

    def _part(self, value: ast.expr, path: Steps, space: Namespace) -> Iterator[Type]:
        """Yield what an unpacking assignment takes of a value."""
        if not path:
            yield from self._of(value, space)
            return
        if isinstance(value, ast.Tuple | ast.List) and path[0] is not None:
            for each in value.elts[path[0] : path[0] + 1]:
                yield from self._part(each, path[1:], space)
        types = self._of(value, space)
        yield from items_of(types)
        yield from (each for each in types if each.kind in _TENSORS)  # one, or several
        if isinstance(value, ast.Call):
            for function in self._functions(value.func, space):
                inner = self.symbol_table.spaces[function]
                for each in inner.returns:
                    if isinstance(each, ast.Tuple | ast.List):
                        yield from self._part(each, path, inner)

    def _element(self, iterable: ast.expr, path: Steps, space: Namespace) -> Iterator[Type]:
        """Yield what a loop over ``iterable`` binds."""
        if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name):
            name, given = iterable.func.id, unstarred(iterable)
            if name in _PASSED_THROUGH and given:
                yield from self._element(given[0], path, space)
            elif name == "enumerate" and given and path[:1] == (1,):
                yield from self._element(given[0], path[1:], space)
            elif name == "zip" and path and path[0] is not None:
                for each in given[path[0] : path[0] + 1]:
                    yield from self._element(each, path[1:], space)
        types = self._of(iterable, space)
        items = frozenset((*items_of(types), *self._members(types, "__iter__")))
        for _ in path:
            items = frozenset(items_of(items))
        yield from items

    def _parameter(self, bound: BoundName, function: Function) -> Iterator[Type]:
        around = bound.space.parent or bound.space
        if bound.place == 0 and isinstance(around.node, ast.ClassDef):
            yield from self._class(around.node)
        if bound.annotation is not None:
            yield from self._declared(bound.annotation, around)
        named = documented_type(ast.get_docstring(function, clean=False), bound.name)
        if named is not None:
            yield from self._instances(chain_in(named), bound.space)
        tensor = self._oracle.member_type(Type(Kind.LAYER), "__call__", called=True)
        if bound.place >= 0 and tensor is not None:
            yield from self._symbolic(bound, function, tensor)

    def _symbolic(self, bound: BoundName, function: Function, tensor: Type) -> Iterator[Type]:
        """Yield what a parameter may be, by what is passed, or by a layer that is called with it.

        It is a list only where one is written out.
        """
        given = self.symbol_table.passed_for(bound, function)
        types = {each for given_ in given for each in self._of(*given_)}
        applied = self.symbol_table.applied_to(bound)
        layers = (each for call, space in applied for each in self._of(call.func, space))
        weighted = any(map(self._oracle.has_weights, layers))
        yield from type_sets.joined_argument_types(types)
        is_symbolic = weighted or Kind.TENSOR in kinds_in(frozenset(types))
        if weighted or any(each.kind is Kind.TENSOR for each in types):
            yield tensor
        if is_symbolic and any(isinstance(each, ast.List | ast.Tuple) for each, _ in given):
            yield Type(Kind.LIST, item=tensor)

    def _declared(self, annotation: ast.expr, space: Namespace) -> Iterator[Type]:
        match annotation:
            case ast.Constant(value=str() as text):
                yield from self._instances(chain_in(text), space)
            case ast.Name() | ast.Attribute():
                yield from self._instances(annotation, space)
            case ast.BinOp():
                yield from self._declared(annotation.left, space)
                yield from self._declared(annotation.right, space)
            case ast.Subscript(value=outer, slice=inner):
                first = inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
                leaf = chain_of(outer)[-1:]
                if leaf == ("Optional",):
                    yield from self._declared(first, space)
                elif leaf and leaf[0] in _LISTS:
                    yield from map(list_of, self._declared(first, space))

    # -- classes and functions

    def _instances(self, cls: ast.expr, space: Namespace) -> Iterator[Type]:
        """Yield what calling a class may make, nothing where ``cls`` can be no class."""
        made = map(self._oracle.class_type, self._names.meant_by(cls))
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
            case BindingKind.ASSIGN, _ if isinstance(bound.value, ast.Call) and bound.value.args:
                if PARTIAL in self._names.meant_by(bound.value.func):
                    yield from self._instances(bound.value.args[0], bound.space)
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

    def _functions(self, callee: ast.expr, space: Namespace) -> list[Function]:
        """Return the functions of the source that a call may be of."""
        match callee:
            case ast.Name(id=name):
                bindings = self.symbol_table.bindings(name, space)
                made = (each for each in bindings if each.kind is BindingKind.FUNCTION)
                return [each.node for each in made if isinstance(each.node, FUNCTIONS)]
            case ast.Attribute(attr=name):
                return self.symbol_table.methods.get(name, [])
        return []

    def _returned(self, function: Function) -> Types:
        return self._recall(function, lambda: self._found_returned(function))

    def _found_returned(self, function: Function) -> Iterator[Type]:
        inner = self.symbol_table.spaces[function]
        for each in inner.returns:
            yield from self._of(each, inner)
        if function.returns is not None:
            yield from self._declared(function.returns, inner)

    # -- attributes and calls

    def _attribute(self, node: ast.Attribute, space: Namespace) -> Types:
        kept = self._recall(("kept", node.attr), lambda: self._stored_types(node.attr))
        owners = self._of(node.value, space)
        if not owners:  # as of most
            return kept
        given = {self._oracle.member_type(owner, node.attr, called=False) for owner in owners}
        return kept.union(each for each in given if each is not None)

    def _stored_types(self, member: str) -> Iterator[Type]:
        """Yield what an attribute of that name may hold in an object of one's own class."""
        yield from self._by_use.of_members.get(member, ())
        for each in self.symbol_table.stores.get(member, ()):
            yield from self._bound(each)
        for each in self.symbol_table.by_name.get(member, ()):
            if isinstance(each.space.node, ast.ClassDef):
                yield from self._bound(each)
        for method in self.symbol_table.methods.get(member, ()):
            if any(chain_of(each) == ("property",) for each in method.decorator_list):
                yield from self._returned(method)

    def _members(self, owners: Types, member: str) -> Iterator[Type]:
        """Yield what calling a member of such objects may give."""
        given = (self._oracle.member_type(each, member, called=True) for each in owners)
        yield from (each for each in given if each is not None)

    def _call(self, node: ast.Call, space: Namespace) -> Types:
        return self._recall(node, lambda: self._call_types(node, space))

    def _call_types(self, node: ast.Call, space: Namespace) -> Iterator[Type]:
        """Yield what a call may give."""
        callee = node.func
        yield from self._instances(callee, space)
        yield from self._imported_call_types(node, space)
        for function in self._functions(callee, space):
            yield from self._returned(function)
        first = next(passed_values(node), None)
        match callee:
            case ast.Name(id="super"):
                yield from self._super(space)
            case ast.Name(id=name) if name in _PASSED_THROUGH and first is not None:
                types = self._of(first, space)
                yield from (each for each in types if each.kind is Kind.LIST)
            case ast.Attribute():
                yield from self._members(self._of(callee.value, space), callee.attr)
        if first is None:
            return
        if isinstance(callee, ast.Attribute) and callee.attr == "__call__":
            callee = callee.value
        for each in self._of(callee, space):
            if each.kind in {Kind.LAYER, Kind.MODEL}:
                kinds = set(kinds_in(self._of(first, space)))
                if Kind.TENSOR in kinds:
                    yield from self._members(frozenset({each}), "__call__")
                if Kind.EAGER in kinds:
                    yield EAGER_TENSORS

    def _imported_call_types(self, node: ast.Call, space: Namespace) -> Iterator[Type]:
        """Yield what an imported function gives, by itself or of the tensors that go in."""
        for name in self._names.meant_by(node.func):
            made = self._oracle.result_type(name)
            if made is not None:
                yield made
            if self._oracle.applied_type(name, _TENSOR) is None:
                continue
            given = {
                part for each in passed_values(node) for part in parts_of(self._of(each, space))
            }
            tensors = (each for each in given if each.kind in _TENSORS)
            applied = (self._oracle.applied_type(name, each) for each in tensors)
            yield from (each for each in applied if each is not None)

    def _super(self, space: Namespace) -> Iterator[Type]:
        for each in space.enclosing():
            if isinstance(each.node, ast.ClassDef):
                yield from self._of_bases(each.node)

    # -- other expressions

    def _subscript(self, node: ast.Subscript, space: Namespace) -> Types:
        types = self._of(node.value, space)
        lists = (each for each in types if each.kind is Kind.LIST)
        return frozenset((*lists, *items_of(types), *self._members(types, "__getitem__")))

    def _whole(self, node: ast.NamedExpr | ast.Starred, space: Namespace) -> Types:
        return self._of(node.value, space)

    def _either(self, node: ast.IfExp, space: Namespace) -> Types:
        return self._of(node.body, space) | self._of(node.orelse, space)

    def _boolean(self, node: ast.BoolOp, space: Namespace) -> Types:
        return frozenset().union(*(self._of(each, space) for each in node.values))

    def _operation(self, node: ast.BinOp, space: Namespace) -> Types:
        sides = self._of(node.left, space) | self._of(node.right, space)
        return frozenset(
            EAGER_TENSOR if each.kind is Kind.EAGER else each
            for each in sides
            if each.kind in _TENSORS or each.kind is Kind.LIST
        )

    def _unary(self, node: ast.UnaryOp, space: Namespace) -> Types:
        return frozenset(each for each in self._of(node.operand, space) if each.kind in _TENSORS)

    def _comparison(self, node: ast.Compare, space: Namespace) -> Types:
        if len(node.ops) > 1 or not isinstance(node.ops[0], _MAKES_A_TENSOR):
            return _NOTHING
        sides = (self._of(each, space) for each in (node.left, *node.comparators))
        return frozenset(each for types in sides for each in types if each.kind is Kind.TENSOR)

    def _display(self, node: ast.List | ast.Tuple, space: Namespace) -> Types:
        return frozenset(list_of(type_) for each in node.elts for type_ in self._of(each, space))

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp, space: Namespace) -> Types:
        return frozenset(map(list_of, self._of(node.elt, space)))


_WAYS: Mapping[type[ast.expr], Callable[[MayTypes, Any, Namespace], Types]] = {
    ast.Name: MayTypes._name,  # noqa: SLF001
    ast.Attribute: MayTypes._attribute,  # noqa: SLF001
    ast.Call: MayTypes._call,  # noqa: SLF001
    ast.Subscript: MayTypes._subscript,  # noqa: SLF001
    ast.NamedExpr: MayTypes._whole,  # noqa: SLF001
    ast.Starred: MayTypes._whole,  # noqa: SLF001
    ast.IfExp: MayTypes._either,  # noqa: SLF001
    ast.BoolOp: MayTypes._boolean,  # noqa: SLF001
    ast.BinOp: MayTypes._operation,  # noqa: SLF001
    ast.UnaryOp: MayTypes._unary,  # noqa: SLF001
    ast.Compare: MayTypes._comparison,  # noqa: SLF001
    ast.List: MayTypes._display,  # noqa: SLF001
    ast.Tuple: MayTypes._display,  # noqa: SLF001
    ast.ListComp: MayTypes._comprehension,  # noqa: SLF001
    ast.GeneratorExp: MayTypes._comprehension,  # noqa: SLF001
}
