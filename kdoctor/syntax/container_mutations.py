"""Track what is put into a list or a dict after its creation: ``outs.append(…)``, ``d[k] = …``.

All that any code of the module may put into it counts, wherever it stands. The container has to
stay in sight: what an unknown function gets, it may change.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from functools import cached_property
from typing import Final, Protocol

import libcst as cst
from msgspec import Struct

from kdoctor.syntax.classes import UserClasses, are_related
from kdoctor.syntax.displays import part_of
from kdoctor.syntax.literals import literal
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.scope_analysis import ScopeAnalysis
from kdoctor.syntax.scopes import Binding, BindingKind, Scope, ScopeKind
from kdoctor.syntax.type_oracle import TypeOracle
from kdoctor.syntax.user_class import UserClass
from kdoctor.syntax.values import UNKNOWN, Value, entries_of, item_of, list_of, mapping_of, merged
from kdoctor.value_types import Kind, Type

_READING: Final = frozenset({
    "clear", "copy", "count", "index", "pop", "remove", "reverse", "sort", "__len__",
    "get", "items", "keys", "popitem", "values", "__contains__",
})  # fmt: skip
_BUILTINS: Final = frozenset({
    "all", "any", "bool", "dict", "enumerate", "filter", "id", "isinstance", "iter", "len", "list",
    "map", "max", "min", "next", "print", "range", "repr", "reversed", "set", "sorted", "str",
    "sum", "tuple", "type", "zip",
})  # fmt: skip
_TENSOR: Final = Type(Kind.TENSOR)
_CONTAINERS = cst.Element | cst.Tuple | cst.List

Holder = Binding | str
"""What holds a container: a name, or an attribute of one's own objects."""


class PutIn(enum.Enum):
    """How something gets into a container."""

    ITEM = enum.auto()  # `append`
    ITEMS = enum.auto()  # `extend`: the items of it do
    ENTRY = enum.auto()  # `d[key] = value`
    ENTRIES = enum.auto()  # `d.update(other)`


# Methods that put something in: how, and which argument; the key is the one before.
_PUTTING: Final = {
    "append": (PutIn.ITEM, 0),
    "insert": (PutIn.ITEM, 1),
    "extend": (PutIn.ITEMS, 0),
    "update": (PutIn.ENTRIES, 0),
    "setdefault": (PutIn.ENTRY, 1),
}


class Mutation(Struct, frozen=True, eq=False):
    """Something that is put in; ``key``: where, if that is written out."""

    value: cst.BaseExpression
    how: PutIn
    key: int | str | None = None


class Mutations(Struct, frozen=True, eq=False):
    """The known mutations of a container; ``are_all``: there are no others.

    ``holders`` are those that have the very same container, too. ``is_deep``: what is in it is
    changed in its turn, ``rows[0].append(…)``.
    """

    found: tuple[Mutation, ...] = ()
    are_all: bool = True
    holders: tuple[Holder, ...] = ()
    is_deep: bool = False


_NONE: Final = Mutations()
_UNSEEN: Final = Mutations(are_all=False)


class Inferring(Protocol):
    """An inference in progress."""

    def infer(self, node: cst.CSTNode) -> Value:
        """Return what an expression is."""

    def own_function(self, callee: cst.BaseExpression) -> cst.FunctionDef | None:
        """Return the function of the module, or the method of one of its classes."""


class MutatedContainers:
    """The mutations of the lists and dicts of one module."""

    def __init__(
        self,
        scope_analysis: ScopeAnalysis,
        resolver: Resolver,
        classes: UserClasses,
        oracle: TypeOracle,
        inference: Inferring,
    ) -> None:
        self._scope_analysis = scope_analysis
        self._resolver = resolver
        self._classes = classes
        self._oracle = oracle
        self._inference = inference
        self._known: dict[tuple[Holder, UserClass | None], Mutations] = {}

    def filled(
        self, holder: Holder, made: Value, *, is_dict: bool, own: UserClass | None = None
    ) -> Value:
        """Return the container that is held: what it was made with, and what is put in.

        ``own``: the class of the objects whose attribute it is.
        """
        mutations = self._of(holder, own)
        if mutations.is_deep or (not mutations.are_all and (is_dict or not made)):
            return UNKNOWN
        if is_dict:
            return self._filled_dict(made, mutations)
        found = [item_of(made)] if made else []
        for each in mutations.found:
            value = self._inference.infer(each.value)
            is_many = each.how in {PutIn.ITEMS, PutIn.ENTRIES}
            found.append(item_of(value) if is_many else value)
        return list_of(merged(found)) if mutations.found else made

    def _filled_dict(self, made: Value, mutations: Mutations) -> Value:
        entries = entries_of(made) if made else []
        for each in mutations.found:
            value = self._inference.infer(each.value)
            is_many = each.how in {PutIn.ITEMS, PutIn.ENTRIES}
            entries += entries_of(value) if is_many else [(each.key, value)]
        return mapping_of(entries)

    def _of(self, holder: Holder, own: UserClass | None) -> Mutations:
        """Return what is put into a container, by whatever holds it."""
        holders, found, are_all, is_deep = [holder], list[Mutation](), True, False
        for each in holders:  # it grows meanwhile
            key = each, own if each is holder else None
            by_one = self._known.get(key)
            if by_one is None:
                by_one = self._known[key] = self._by_holder(*key)
            found += by_one.found
            are_all = are_all and by_one.are_all
            is_deep = is_deep or by_one.is_deep
            holders += [other for other in by_one.holders if other not in holders]
        return Mutations(tuple(found), are_all, is_deep=is_deep)

    def _by_holder(self, holder: Holder, own: UserClass | None) -> Mutations:
        if isinstance(holder, str):
            uses = [self._by_use(*each, None) for each in self._reads_of(holder, own)]
        else:
            uses = [
                self._by_use(use.node, use.scope, holder)
                for use in self._scope_analysis.uses_by_name.get(holder.name, ())
                if holder in self._resolver.bindings(use.name, use.node, use.scope)
            ]
        return Mutations(
            tuple(each for use in uses for each in use.found),
            all(use.are_all for use in uses)
            and (isinstance(holder, str) or not self._has_other_names(holder)),
            tuple(each for use in uses for each in use.holders),
            any(use.is_deep for use in uses),
        )

    def _reads_of(self, member: str, own: UserClass | None) -> Iterator[tuple[cst.CSTNode, Scope]]:
        """Yield where an attribute of a class may be read: not that of an unrelated class."""
        for node in self._scope_analysis.attributes_by_name.get(member, ()):
            if node in self._stored or self._resolver.meaning_of(node) is not None:
                continue
            scope = self._resolver.scope_of(node)
            other = self._class_of_receiver(node.value)
            if other is None or own is None or are_related(own, other):
                yield node, scope

    def _class_of_receiver(self, node: cst.BaseExpression) -> UserClass | None:
        if not isinstance(node, cst.Name):
            return None
        bindings = self._resolver.bindings_at(node)
        is_one = len(bindings) == 1 and bindings[0].kind is BindingKind.PARAMETER
        return self._classes.receiver(bindings[0]) if is_one else None

    @cached_property
    def _stored(self) -> frozenset[cst.Attribute]:
        """The attributes that are assigned, and not only changed."""
        return frozenset(
            each.node for each in self._scope_analysis.stores if each.kind is BindingKind.ASSIGN
        )

    def _has_other_names(self, binding: Binding) -> bool:
        """Say whether others may have the very same list: `a = b = []`, a class's, a global."""
        return (
            binding.remote or binding.scope.kind is ScopeKind.CLASS or self.is_shared(binding.node)
        )

    def is_shared(self, target: cst.CSTNode) -> bool:
        """Say whether a target is one of several: `a = b = []`."""
        holder = self._scope_analysis.parents.get(target)
        assign = None if holder is None else self._scope_analysis.parents.get(holder)
        return isinstance(assign, cst.Assign) and len(assign.targets) > 1

    def _by_use(self, node: cst.CSTNode, scope: Scope, binding: Binding | None) -> Mutations:
        """Return what a use of the container puts into it; ``binding``: of a name, its."""
        parents, is_inside = self._scope_analysis.parents, False
        while True:
            parent = parents[node]
            match parent:
                case cst.IfExp() if node is not parent.test:
                    pass
                case cst.BooleanOperation():
                    pass
                case _ if isinstance(parent, _CONTAINERS):
                    is_inside = True
                case cst.Attribute():
                    return self._by_method(parent)
                case cst.Subscript() if node is parent.value and not is_inside:
                    return self._by_index(parent)
                case cst.Arg():
                    return self._by_call(parent, is_inside=is_inside)
                case cst.AugAssign(target=target, value=value) if target is node:
                    return Mutations((Mutation(value, PutIn.ITEMS),))
                case cst.Assign() if not is_inside:
                    return self._by_alias(parent, scope)
                case cst.Return():
                    is_own = scope.kind is ScopeKind.FUNCTION
                    is_own = is_own and (binding is None or scope is binding.scope)
                    return _NONE if is_own else _UNSEEN
                case _ if isinstance(parent, _READERS):
                    return _NONE
                case _:
                    return _UNSEEN
            node = parent

    def _by_method(self, attribute: cst.Attribute) -> Mutations:
        call, method = self._scope_analysis.parents[attribute], attribute.attr.value
        if not isinstance(call, cst.Call) or call.func is not attribute:
            return _UNSEEN
        if method in _READING:
            return _NONE
        how, place = _PUTTING.get(method, (None, 0))
        named = [each for each in call.args if each.keyword is not None]
        given = call.args[: len(call.args) - len(named)]
        if how is None or any(each.star for each in call.args) or (named and method != "update"):
            return _UNSEEN
        found = [
            Mutation(each.value, PutIn.ENTRY, each.keyword.value) for each in named if each.keyword
        ]
        if len(given) == place + 1:
            key = key_in(given[0].value) if how is PutIn.ENTRY else None
            found.append(Mutation(given[place].value, how, key))
        elif given or not named:
            return _UNSEEN
        return Mutations(tuple(found))

    def _by_index(self, subscript: cst.Subscript) -> Mutations:
        """Return what ``outs[0] = value`` puts in, nothing where an element is read or deleted."""
        node, parents = subscript, self._scope_analysis.parents
        holder: cst.CSTNode = parents[node]
        if isinstance(holder, cst.AssignTarget):
            assign = parents[holder]
            assert isinstance(assign, cst.Assign)
            index = node.slice[0].slice if len(node.slice) == 1 else None
            if not isinstance(index, cst.Index):
                return Mutations((Mutation(assign.value, PutIn.ITEMS),))
            return Mutations((Mutation(assign.value, PutIn.ENTRY, key_in(index.value)),))
        if isinstance(holder, cst.Attribute):
            return Mutations(is_deep=holder.attr.value in _PUTTING)
        if isinstance(holder, cst.Subscript):
            return Mutations(is_deep=holder.value is node and self._is_target(holder))
        return _UNSEEN if self._is_target(node) else _NONE

    def _is_target(self, node: cst.CSTNode) -> bool:
        parents, inner = self._scope_analysis.parents, node
        holder = parents[inner]
        while isinstance(holder, cst.StarredElement | _CONTAINERS):
            inner, holder = holder, parents[holder]
        return isinstance(holder, cst.AssignTarget | cst.AsName) or (
            isinstance(holder, cst.For | cst.CompFor | cst.AugAssign | cst.AnnAssign)
            and holder.target is inner
        )

    def _by_call(self, argument: cst.Arg, *, is_inside: bool) -> Mutations:
        """Return what a call puts in that gets the list, in another one perhaps."""
        call = self._scope_analysis.parents[argument]
        if argument.star and not is_inside:
            return _NONE  # what is in it is passed
        if not isinstance(call, cst.Call) or argument.star:
            return _UNSEEN
        name = call.func.value if isinstance(call.func, cst.Name) else ""
        if isinstance(call.func, cst.Name) and not self._resolver.bindings_at(call.func):
            return _NONE if name in _BUILTINS else _UNSEEN
        function = None if is_inside else self._inference.own_function(call.func)
        if function is not None:
            parameter = self._parameter(function, call, argument)
            return _UNSEEN if parameter is None else Mutations(holders=(parameter,))
        return _NONE if self._only_reads(call.func) else _UNSEEN

    def _only_reads(self, callee: cst.BaseExpression) -> bool:
        """Say whether what is called is known, and changes no list that it gets."""
        meaning = self._resolver.meaning_of(callee)
        if meaning is not None:
            known = self._oracle
            return bool(
                known.class_type(meaning.name)
                or known.result_type(meaning.name)
                or known.applied_type(meaning.name, _TENSOR)
            )
        owner = (
            self._inference.infer(callee.value) if isinstance(callee, cst.Attribute) else UNKNOWN
        )
        asked = (self._inference.infer(callee), UNKNOWN if owner.own is not None else owner)
        types = (each.type for each in asked)
        return any(each is not None and each.kind in {Kind.LAYER, Kind.MODEL} for each in types)

    def _parameter(
        self, function: cst.FunctionDef, call: cst.Call, argument: cst.Arg
    ) -> Binding | None:
        """Return which parameter gets an argument; None where that is not clear."""
        scope = self._scope_analysis.scopes[function]
        given = call.args[: list(call.args).index(argument)]
        if function.decorators or any(each.star for each in given):
            return None
        around = scope.parent
        skipped = 1 if around is not None and around.kind is ScopeKind.CLASS else 0
        params = [*function.params.posonly_params, *function.params.params][skipped:]
        if argument.keyword is not None:
            name = argument.keyword.value
        elif len(given) < len(params):
            name = params[len(given)].name.value
        else:
            return None
        return scope.parameter(name)

    def _by_alias(self, assign: cst.Assign, scope: Scope) -> Mutations:
        """Return what else holds the container from then on."""
        targets = [each.target for each in assign.targets]
        # Tuples get its elements.
        holders = [each for each in targets if not isinstance(each, cst.Tuple | cst.List)]
        bound = [self._bound_by(each, scope) for each in holders]
        known = tuple(each for each in bound if each is not None)
        return Mutations(are_all=len(known) == len(bound), holders=known)

    def _bound_by(self, target: cst.BaseAssignTargetExpression, scope: Scope) -> Holder | None:
        if isinstance(target, cst.Attribute):
            own = self._class_of_receiver(target.value)
            return None if own is None else target.attr.value
        name = target.value if isinstance(target, cst.Name) else ""
        found = scope.bindings.get(name, ()) if isinstance(name, str) else ()
        return next((each for each in found if each.node is target), None)


# What reads a list that stands in it, and hands it on to nobody.
_READERS = (
    cst.Assert | cst.BinaryOperation | cst.Comparison | cst.ComparisonTarget | cst.CompFor
    | cst.CompIf | cst.Del | cst.Expr | cst.For | cst.FormattedStringExpression | cst.If
    | cst.IfExp | cst.Index | cst.StarredDictElement | cst.StarredElement | cst.UnaryOperation
    | cst.While
)  # fmt: skip


def key_in(node: cst.BaseExpression) -> int | str | None:
    """Return a key that is written out, None where it may be any."""
    is_one = isinstance(node, cst.SimpleString | cst.Integer | cst.UnaryOperation)
    key = literal(node) if is_one else None
    return key if isinstance(key, int | str) else None


def is_new_and_empty(binding: Binding) -> bool | None:
    """Say of what is bound to a new empty container whether that is a dict; None of anything else.

    ``[]``, ``list()``, ``{}``, ``dict()``.
    """
    if binding.kind is not BindingKind.ASSIGN:
        return None
    return is_empty_dict(part_of(binding.value, binding.path))


def is_empty_dict(value: cst.BaseExpression | None) -> bool | None:
    """Say of a new empty container whether it is a dict, None of anything else."""
    match value:
        case cst.List(elements=[]):
            return False
        case cst.Dict(elements=[]):
            return True
        case cst.Call(func=cst.Name(value="list" | "dict" as name), args=[]):
            return name == "dict"
    return None
