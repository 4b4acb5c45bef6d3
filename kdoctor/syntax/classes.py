"""The user-defined classes of a module, and what their bases are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial

import libcst as cst

from kdoctor.syntax.bases import EMPTY_BASES, EMPTY_METACLASSES, MAKE_CLASSES
from kdoctor.syntax.imports import Imports
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.node_predicates import ends_in, is_bound_to_class, leaf_of
from kdoctor.syntax.package import ClassInfo, is_registry
from kdoctor.syntax.scope_analysis import ScopeAnalysis, Store
from kdoctor.syntax.scopes import Binding, BindingKind, Scope
from kdoctor.syntax.type_oracle import TypeOracle
from kdoctor.syntax.user_class import UserClass
from kdoctor.value_types import Kind, Type

_MAX_DESCENDANTS = 64  # classes that are made from one
_ANSWERS_ALL = frozenset({"__getattr__", "__getattribute__"})
_RUN_BY_KERAS = frozenset({Kind.LAYER, Kind.MODEL, Kind.LOSS, Kind.METRIC})


class UserClasses:
    """All classes of one module."""

    def __init__(
        self,
        scope_analysis: ScopeAnalysis,
        imports: Imports,
        resolver: Resolver,
        oracle: TypeOracle,
    ) -> None:
        self._scope_analysis = scope_analysis
        self._imports = imports
        self._resolver = resolver
        self._oracle = oracle
        self._known: dict[cst.ClassDef, UserClass | None] = {}
        self._stores: dict[cst.ClassDef, dict[str, list[Store]]] | None = None
        self._others: dict[str, list[Store]] = {}  # to attributes of anything but `self`

    def of(self, node: cst.ClassDef) -> UserClass | None:
        """Return the facts of a class, None if it is its own base."""
        if node not in self._known:
            self._known[node] = None
            self._known[node] = self._read(node)
        return self._known[node]

    def named(self, expression: cst.CSTNode) -> UserClass | None:
        """Return the user-defined class that an expression names, if any."""
        if isinstance(expression, cst.Name):
            bindings = self._resolver.bindings_at(expression)
            if len(bindings) == 1:
                return self._bound(bindings[0])
        info = self.of_tree(expression)
        return None if info is None else of_another_file(info, self._oracle, info)

    def type_named(self, expression: cst.BaseExpression) -> Type | None:
        """Return the type of the objects of a class that an expression names, if it is one."""
        found, _ = self._base(cst.Arg(expression))
        return found.type if isinstance(found, UserClass) else found

    def of_tree(self, expression: cst.CSTNode) -> ClassInfo | None:
        """Return the class of another module of the tree that an expression names."""
        meaning = self._resolver.meaning_of(expression)
        if meaning is None:
            return None
        info = meaning.binding.own_class
        if info is not None and meaning.name == meaning.binding.name:
            return info
        through = self._imports.through_tree(meaning.name)
        return through if isinstance(through, ClassInfo) else None

    def imported(self) -> Iterator[UserClass]:
        """Yield the classes of other modules of the tree that are imported, or made here."""
        for each in self._imports.of.values():
            if each.own_class is not None:
                yield of_another_file(each.own_class, self._oracle, each.own_class)
        for node in self._scope_analysis.attributes:
            call = self._scope_analysis.parents.get(node)
            is_made = isinstance(call, cst.Call) and call.func is node
            info = self.of_tree(node) if is_made else None
            if info is not None:
                yield of_another_file(info, self._oracle, info)

    def around(self, function: cst.CSTNode) -> UserClass | None:
        """Return the class whose method ``function`` is."""
        block = self._scope_analysis.parents.get(function)
        holder = self._scope_analysis.parents.get(block) if block is not None else None
        return self.of(holder) if isinstance(holder, cst.ClassDef) else None

    @staticmethod
    def behind(own: UserClass) -> UserClass:
        """Return what ``super()`` reads in a class of several bases: all behind the class."""
        return UserClass(
            own.name, own.type, own.bases, closed=own.closed, keeps=own.keeps, leads=own.leads
        )

    def receiver(self, binding: Binding) -> UserClass | None:
        """Return the class of which a parameter is the instance: ``self`` of a method."""
        function = binding.scope.node
        if not isinstance(function, cst.FunctionDef) or receiver_of(function) is not binding.node:
            return None
        return self.around(function)

    def class_receiver(self, binding: Binding) -> UserClass | None:
        """Return the class that a parameter is: ``cls`` of a class method."""
        function = binding.scope.node
        if not isinstance(function, cst.FunctionDef) or not is_bound_to_class(function):
            return None
        first = next(iter((*function.params.posonly_params, *function.params.params)), None)
        return self.around(function) if first is binding.node else None

    def descendants(self, own: UserClass) -> Sequence[UserClass]:
        """Return the classes of this module that are made from one of its classes.

        The nearest come first, and no more than anybody reads.
        """
        if own.node is None or own.node not in self._made_from:
            return ()
        found = {own.node: own}
        waiting = [own.node]
        for node in waiting:  # it grows meanwhile
            for each in self._made_from.get(node, ()):
                if each.node is not None and each.node not in found:
                    found[each.node] = each
                    waiting.append(each.node)
            if len(found) > _MAX_DESCENDANTS:
                break
        return [*found.values()][1:]

    @cached_property
    def _made_from(self) -> dict[cst.ClassDef, list[UserClass]]:
        """The classes of the module by those of it that they name as bases."""
        found: dict[cst.ClassDef, list[UserClass]] = {}
        names = {node.name.value for node in self._scope_analysis.classes}
        for node in self._scope_analysis.classes:
            if any(leaf_of(unsubscripted(each.value)) in names for each in node.bases):
                own = self.of(node)
                for base in () if own is None else own.bases:
                    if base.node is not None and own is not None:
                        found.setdefault(base.node, []).append(own)
        return found

    def runs_on_values(self, function: cst.CSTNode) -> bool:
        """Say whether it is a method that is called while a layer, model or loss runs.

        What such a method takes and gives holds values, though many annotate it as
        `keras.KerasTensor`.
        """
        if not isinstance(function, cst.FunctionDef) or function.name.value == "__init__":
            return False
        own = self.around(function)
        return own is not None and own.type is not None and own.type.kind in _RUN_BY_KERAS

    def _bound(self, binding: Binding) -> UserClass | None:
        if isinstance(binding.node, cst.ClassDef):
            return self.of(binding.node)
        if (
            binding.kind is BindingKind.ASSIGN
            and not binding.path
            and isinstance(binding.value, cst.Name)
        ):
            return self.named(binding.value)
        info = self._imports.of[binding].own_class if binding in self._imports.of else None
        return of_another_file(info, self._oracle, info) if info is not None else None

    def _read(self, node: cst.ClassDef) -> UserClass:
        own: list[UserClass] = []
        types: list[Type] = []
        as_written = all(map(self._adds_nothing, node.keywords)) and all(
            map(self._leaves_as_is, node.decorators)
        )
        known_bases, first, leads = True, None, False
        for argument in node.bases:
            base, known = self._base(argument)
            if isinstance(base, UserClass):
                own.append(base)
                types += [base.type] if base.type is not None else []
            elif base is not None:
                types.append(base)
                first = first or (base if known_bases else None)
                leads = leads or argument is node.bases[0]
            known_bases = known_bases and known
        scope = self._scope_analysis.scopes[node]
        stores = self._self_stores().get(node, {})
        members = frozenset({*scope.bindings, *stores})
        as_written = as_written and not members & _ANSWERS_ALL and scope not in self._set_by_name
        closed = as_written and known_bases
        keeps = None
        if as_written and first is not None and first.qualified is not None:
            keeps = partial(self._oracle.defines, first.qualified)
        name = node.name.value
        kind = _subtype(types[0], name) if types else None
        found = UserClass(name, kind, tuple(own), members, closed, node, scope, stores, keeps=keeps)
        if leads and keeps is not None:
            # Then all that it is made from stands before what is not made from that, too.
            is_last = known_bases and not any(each.type for each in own)
            found.leads = partial(_is_init_or, keeps) if is_last else keeps
        return found

    def _base(self, argument: cst.Arg) -> tuple[UserClass | Type | None, bool]:
        """Return what a base class is, and whether all that it defines is known."""
        if argument.star:
            return None, False
        value = unsubscripted(argument.value)
        own = self.named(value)
        if own is not None:
            return own, value is argument.value or not own.may_define("__class_getitem__")
        meaning = self._resolver.meaning_of(value)
        if meaning is not None:
            base = self._oracle.class_type(meaning.name)
            return base, base is not None or meaning.name in EMPTY_BASES
        return None, self._is_builtin(value, "object")

    def telling_bases(self, node: cst.ClassDef) -> list[cst.BaseExpression] | None:
        """Return the bases that provide members, None if one may be anything."""
        if any(each.star for each in node.bases):
            return None
        values = [unsubscripted(each.value) for each in node.bases]
        return [each for each in values if not self._is_empty(each)]

    def _is_empty(self, base: cst.BaseExpression) -> bool:
        meaning = self._resolver.meaning_of(base)
        if meaning is not None:
            return meaning.name in EMPTY_BASES
        return self._is_builtin(base, "object")

    def _adds_nothing(self, keyword: cst.Arg) -> bool:
        """Say whether it is ``metaclass=``, and one that leaves the members of a class as is."""
        if keyword.keyword is None or keyword.keyword.value != "metaclass":
            return False
        return self._is_plain_metaclass(keyword.value)

    def _is_plain_metaclass(self, expression: cst.BaseExpression) -> bool:
        own = self.named(expression)
        if own is not None:
            return (
                own.node is not None
                and not own.node.keywords
                and not own.node.decorators
                and own.members.isdisjoint(MAKE_CLASSES)
                and all(self._is_plain_metaclass(each.value) for each in own.node.bases)
            )
        meaning = self._resolver.meaning_of(expression)
        if meaning is not None:
            return meaning.name in EMPTY_METACLASSES
        return self._is_builtin(expression, "type")

    def _is_builtin(self, expression: cst.BaseExpression, name: str) -> bool:
        return (
            isinstance(expression, cst.Name)
            and expression.value == name
            and not self._resolver.bindings_at(expression)
        )

    def _leaves_as_is(self, decorator: cst.Decorator) -> bool:
        """Say whether a class decorator makes no attributes: one of the target's, or a registry."""
        called = decorator.decorator
        name = called.func if isinstance(called, cst.Call) else called
        meaning = self._resolver.meaning_of(name)
        if meaning is not None and self._oracle.exists(meaning.name) is True:
            return True
        leaf = name.attr if isinstance(name, cst.Attribute) else name
        return isinstance(leaf, cst.Name) and is_registry(leaf.value)

    def stores_from_outside(self, member: str) -> Sequence[Store]:
        """Return where such an attribute is assigned of anything but ``self``."""
        self._self_stores()
        return self._others.get(member, ())

    def _self_stores(self) -> dict[cst.ClassDef, dict[str, list[Store]]]:
        """Return, for each class, what its methods assign to attributes of ``self``."""
        if self._stores is None:
            self._stores = {}
            for store in self._scope_analysis.stores:
                node = self._receiving_class(store.node.value)
                by_name = self._others if node is None else self._stores.setdefault(node, {})
                by_name.setdefault(store.node.attr.value, []).append(store)
        return self._stores

    def _receiving_class(self, node: cst.BaseExpression) -> cst.ClassDef | None:
        if not isinstance(node, cst.Name):
            return None
        scope = self._resolver.scope_of(node)
        owner = scope.owner(node.value)
        if owner is None or not isinstance(owner.node, cst.FunctionDef):
            return None
        receiver = receiver_of(owner.node)
        if receiver is None or receiver.name.value != node.value:
            return None
        block = self._scope_analysis.parents.get(owner.node)
        holder = self._scope_analysis.parents.get(block) if block is not None else None
        return holder if isinstance(holder, cst.ClassDef) else None

    @cached_property
    def _set_by_name(self) -> frozenset[Scope]:
        """The scopes in which attributes are made under computed names."""
        return frozenset(
            scope
            for use in self._scope_analysis.uses
            if use.name in {"setattr", "vars"} or ends_in(use.chain, "__dict__")
            for scope in use.scope.enclosing()
        )


def _is_init_or(holds: Callable[[str], bool], member: str) -> bool:
    return member == "__init__" or holds(member)


def of_another_file(
    info: ClassInfo, oracle: TypeOracle, asked: ClassInfo | None = None
) -> UserClass:
    """Return a class of another file; ``asked`` is what its attributes are asked of, if at all."""
    base = None if info.base is None else oracle.class_type(info.base)
    closed = info.closed and (info.base is None or base is not None)
    kind = _subtype(base, info.name)
    return UserClass(info.name, kind, (), info.members, closed, info=asked)


def receiver_of(function: cst.FunctionDef) -> cst.Param | None:
    """Return the parameter that takes the instance (for a class method: the class), if any."""
    for decorator in function.decorators:
        if isinstance(decorator.decorator, cst.Name) and decorator.decorator.value in {
            "staticmethod",
            "classmethod",
        }:
            return None
    parameters = (*function.params.posonly_params, *function.params.params)
    return parameters[0] if parameters else None


def are_related(one: UserClass, other: UserClass) -> bool:
    """Say whether an object may be of both classes, one being made from the other."""
    return one.node in (each.node for each in other.lineage) or other.node in (
        each.node for each in one.lineage
    )


def unsubscripted(base: cst.BaseExpression) -> cst.BaseExpression:
    """Return ``Base`` of ``Base[int]``, which is the same class."""
    return base.value if isinstance(base, cst.Subscript) else base


def _subtype(base: Type | None, name: str) -> Type | None:
    return None if base is None else Type(base.kind, name, base.qualified, base.item)
