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
from kdoctor.syntax.ast_walk import chain_of, leaf_of
from kdoctor.syntax.callback_models import SET_MODEL
from kdoctor.syntax.container_calls import BUILTINS, COPYING, METHODS
from kdoctor.syntax.docstrings import documented_type
from kdoctor.syntax.mask_inputs import COMPUTE_MASK
from kdoctor.syntax.may_annotations import declared_types
from kdoctor.syntax.may_containers import builtin_types, method_types
from kdoctor.syntax.may_project import MayProject
from kdoctor.syntax.may_types_by_use import MayTypesByUse
from kdoctor.syntax.project_types import ProjectTypes
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
)
from kdoctor.syntax.type_oracle import FROM_CONFIG, PARTIAL, NameFacts, TypeOracle
from kdoctor.syntax.type_sets import (
    Types,
    callable_of,
    given_by,
    items_of,
    kinds_in,
    list_of,
    parts_of,
    without_callables,
)
from kdoctor.value_types import EAGER_TENSOR, EAGER_TENSORS, Kind, Type

_NOTHING: Types = frozenset()
_TENSOR = Type(Kind.TENSOR)
_TENSORS = frozenset({Kind.TENSOR, Kind.EAGER})
_OWN_METHODS = METHODS | {FROM_CONFIG}
_MAKES_A_TENSOR = ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.NotEq


class MayTypes(MayProject):
    """May-types in one source."""

    def __init__(
        self, symbol_table: SymbolTable, names: NameFacts, oracle: TypeOracle,
        project: ProjectTypes | None = None,
    ) -> None:  # fmt: skip
        super().__init__(symbol_table, names, oracle)
        self._project = project or ProjectTypes(None, "", oracle)
        self._by_use = MayTypesByUse(symbol_table, names, oracle)
        # Of what else is read or called, its owner need not be known.
        self._typed_members = oracle.typed_members
        self._typed_methods = _OWN_METHODS.union(oracle.typed_methods)

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

    def may_be_object(self, node: ast.expr) -> bool:
        """Say whether an expression may have a type at all, judged by its name: few do.

        Nothing is known of a name that the source does not bind, nor of an attribute that it does
        not give to any object and that objects do not have by themselves.
        """
        if node.__class__ is ast.Name:
            return node.id in self.symbol_table.by_name
        if node.__class__ is ast.Attribute:
            member = node.attr
            return (
                member in self._typed_members
                or member in self.symbol_table.stores
                or member in self.symbol_table.by_name  # in a class; a method is a binding, too
                or member in self._by_use.of_members
                or any(member in each.members for each in self._names.project_classes)
            )
        return node.__class__ in _WAYS

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
        if not self.may_be_object(node):
            return _NOTHING
        found = self._settled(node, space)
        return without_callables(found) if found else found

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
            return self._classes(node, space) if node.id[:1].isupper() else _NOTHING
        return self._recall(key, lambda: self._bound_to(node, space, bindings))

    def _bound_to(
        self, node: ast.Name, space: Namespace, bindings: Iterable[BoundName]
    ) -> Iterator[Type]:
        if node.id[:1].isupper():
            yield from self._classes(node, space)
        yield from chain.from_iterable(map(self._bound, bindings))
        yield from self._project.seen.may_be(node.id)

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
                types = self._of(bound.value, bound.space)
                yield from self._members(types, "__enter__")
                yield from items_of(types)  # of a context manager that is a generator
                yield from self._special("__enter__")
            case BindingKind.FUNCTION if isinstance(bound.node, FUNCTIONS):
                yield from map(callable_of, self._returned(bound.node))
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
        for step in path:
            kept = _TENSORS if step is not None else {*_TENSORS, Kind.LIST}  # one, or several
            types = frozenset((*items_of(types), *(each for each in types if each.kind in kept)))
        yield from types

    def _element(self, iterable: ast.expr, path: Steps, space: Namespace) -> Iterator[Type]:
        """Yield what a loop over ``iterable`` binds."""
        types = self._of(iterable, space)
        items = {*items_of(types), *self._members(types, "__iter__")}
        items.update(items_of(frozenset(self._special("__iter__"))))
        for step in path:
            lists = (each for each in items if each.kind is Kind.LIST and step is None)
            items = {*items_of(frozenset(items)), *lists}
        yield from items

    def _parameter(self, bound: BoundName, function: Function) -> Iterator[Type]:
        around = bound.space.parent or bound.space
        if bound.place == 0 and isinstance(around.node, ast.ClassDef):
            own = self._class(around.node)
            yield from own
            yield from map(callable_of, own)  # of a class method
        if bound.annotation is not None:
            yield from self._declared(bound.annotation, around)
        named = documented_type(ast.get_docstring(function, clean=False), bound.name)
        if named is not None:
            yield from self._instances(chain_in(named), bound.space)
        tensor = self._oracle.member_type(Type(Kind.LAYER), "__call__", called=True)
        if tensor is not None and bound.place == 1 and function.name == COMPUTE_MASK:
            yield tensor
        if bound.place == 1 and function.name == SET_MODEL:
            yield Type(Kind.MODEL)
        if bound.place >= 0 and tensor is not None:
            yield from self._symbolic(bound, function, tensor)
        yield from self._passed_in_project(bound, function)

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
        return declared_types(annotation, lambda cls: self._instances(cls, space))

    # -- classes and functions

    def _returned(self, function: Function) -> Types:
        return self._recall(function, lambda: self._found_returned(function))

    def returned_types(self, function: Function) -> Types:
        """Return what calling a function of the source may give."""
        return self._at_rest(lambda: self._returned(function))

    def kept_types(self, member: str) -> Types:
        """Return what an attribute of that name may hold in an object of one's own class."""
        return self._at_rest(lambda: self._kept(member))

    def _found_returned(self, function: Function) -> Iterator[Type]:
        inner = self.symbol_table.spaces[function]
        for each in inner.returns:
            yield from self._of(each, inner)
        for each in inner.yields:
            yield from map(list_of, self._of(each, inner))
        if function.returns is not None:
            yield from self._declared(function.returns, inner)

    # -- attributes and calls

    def _attribute(self, node: ast.Attribute, space: Namespace) -> Types:
        types = self._member_types(node.value, node.attr, space)
        return types | self._classes(node, space) if node.attr[:1].isupper() else types

    def _member_types(self, owner: ast.expr, member: str, space: Namespace) -> Types:
        kept = self._kept(member)
        if member == "__class__":
            return frozenset(map(callable_of, self._of(owner, space)))
        if member not in self._typed_members:  # as most
            return kept
        owners = self._of(owner, space)
        given = {self._oracle.member_type(each, member, called=False) for each in owners}
        return kept.union(each for each in given if each is not None)

    def _kept(self, member: str) -> Types:
        """Return what an attribute may hold in an object of one's own class, here or elsewhere."""
        return self._recall(("kept", member), lambda: self._stored_types(member))

    def _special(self, method: str) -> Iterator[Type]:
        """Yield what Python's own syntax may get from such a method of one's own classes."""
        if method in self.symbol_table.methods:
            yield from given_by(self._kept(method))

    def _stored_types(self, member: str) -> Iterator[Type]:
        """Yield what an attribute of that name may hold in an object of one's own class."""
        yield from self._by_use.of_members.get(member, ())
        yield from self._project.seen.may_be(f".{member}")
        for each in self.symbol_table.stores.get(member, ()):
            yield from self._bound(each)
        for each in self.symbol_table.by_name.get(member, ()):
            if isinstance(each.space.node, ast.ClassDef):
                yield from self._bound(each)
        for method in self.symbol_table.methods.get(member, ()):
            returned = self._returned(method)
            yield from map(callable_of, returned)
            if any("property" in leaf_of(each) for each in method.decorator_list):
                yield from returned
        for cls in self._names.project_classes:
            if member in cls.members:
                yield from self._project.may_be_kept(cls, member)

    def _members(self, owners: Types, member: str) -> Iterator[Type]:
        """Yield what calling a member of such objects may give."""
        given = (self._oracle.member_type(each, member, called=True) for each in owners)
        yield from (each for each in given if each is not None)

    def _call(self, node: ast.Call, space: Namespace) -> Types:
        return self._recall(node, lambda: self._call_types(node, space))

    def _call_types(self, node: ast.Call, space: Namespace) -> Iterator[Type]:
        """Yield what a call may give."""
        callee = node.func
        called = self._of(callee, space)
        yield from given_by(called)
        if not leaf_of(callee)[:1].isupper():  # else it was among the classes
            yield from self._instances(callee, space)
        yield from self._imported_call_types(node, space)
        first = next(passed_values(node), None)
        match callee:
            case ast.Name(id="super"):
                yield from self._super(space)
            case ast.Name(id="type") if first is not None:
                yield from map(callable_of, self._of(first, space))
            case ast.Name(id="getattr") if len(node.args) > 1:
                yield from self._read_by_name(node, space)
            case ast.Name(id=name) if name in BUILTINS:
                yield from builtin_types(name, self._passed(node, space))
            case ast.Attribute(value=owner, attr=method) if method in self._typed_methods:
                types = self._of(owner, space)
                yield from self._members(types, method)
                yield from method_types(method, types)
                if method == FROM_CONFIG:
                    yield from given_by(types)
                if method in {"get", "pop", "setdefault"}:
                    yield from self._passed(node, space)  # by default
        yield from self._special("__call__")
        if first is None:
            return
        if isinstance(callee, ast.Attribute) and callee.attr == "__call__":
            called = self._of(callee.value, space)
        for each in called:
            if each.kind in {Kind.LAYER, Kind.MODEL}:
                kinds = set(kinds_in(self._of(first, space)))
                if Kind.TENSOR in kinds:
                    yield from self._members(frozenset({each}), "__call__")
                if Kind.EAGER in kinds:
                    yield EAGER_TENSORS

    def _read_by_name(self, call: ast.Call, space: Namespace) -> Iterator[Type]:
        """Yield what ``getattr(owner, "member", default)`` may give."""
        owner, named, *default = call.args
        if isinstance(named, ast.Constant) and isinstance(named.value, str):
            yield from self._member_types(owner, named.value, space)
            for each in default:
                yield from self._of(each, space)

    def _passed(self, call: ast.Call, space: Namespace) -> Types:
        """Return what any argument of a call may be."""
        return frozenset().union(*(self._of(each, space) for each in passed_values(call)))

    def _imported_call_types(self, node: ast.Call, space: Namespace) -> Iterator[Type]:
        """Yield what an imported function gives, by itself or of the tensors that go in."""
        for name in self._names.meant_by(node.func):
            if name == PARTIAL or name in COPYING:
                yield from self._passed(node, space)
            made = self._oracle.result_type(name)
            if made is not None:
                yield made
            else:
                yield from self._project.may_be_returned(name)
            if self._oracle.applied_type(name, _TENSOR) is None:
                continue
            given = set(parts_of(self._passed(node, space)))
            tensors = (each for each in given if each.kind in _TENSORS)
            applied = (self._oracle.applied_type(name, each) for each in tensors)
            yield from (each for each in applied if each is not None)

    # -- other expressions

    def _subscript(self, node: ast.Subscript, space: Namespace) -> Types:
        types = self._of(node.value, space)
        lists = (each for each in types if each.kind is Kind.LIST)
        own = self._special("__getitem__")
        return frozenset((*lists, *items_of(types), *self._members(types, "__getitem__"), *own))

    def _lambda(self, node: ast.Lambda, space: Namespace) -> Types:
        return frozenset(map(callable_of, self._of(node.body, space)))

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
    ast.Lambda: MayTypes._lambda,  # noqa: SLF001
    ast.List: MayTypes._display,  # noqa: SLF001
    ast.Tuple: MayTypes._display,  # noqa: SLF001
    ast.Set: MayTypes._display,  # noqa: SLF001
    ast.Dict: MayTypes._dict,  # noqa: SLF001
    ast.DictComp: MayTypes._dict_comprehension,  # noqa: SLF001
    ast.SetComp: MayTypes._comprehension,  # noqa: SLF001
    ast.ListComp: MayTypes._comprehension,  # noqa: SLF001
    ast.GeneratorExp: MayTypes._comprehension,  # noqa: SLF001
}
