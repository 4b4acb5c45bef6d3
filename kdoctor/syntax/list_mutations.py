"""Track what is put into a list after its creation: ``outs.append(…)``.

All that any code of the module may put into it counts, wherever it stands. The list has to stay in
sight: what an unknown function gets, it may change.
"""

from __future__ import annotations

from typing import Final, Protocol

import libcst as cst
from msgspec import Struct

from kdoctor.syntax.displays import part_of
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.scope_analysis import ScopeAnalysis, Use
from kdoctor.syntax.scopes import Binding, BindingKind, Scope, ScopeKind
from kdoctor.syntax.type_oracle import TypeOracle
from kdoctor.syntax.values import UNKNOWN, Value, is_list, item_of, list_of, merged
from kdoctor.value_types import Kind, Type

_PUTTING: Final = {"append": 0, "insert": 1, "extend": 0}  # methods, and which argument goes in
_READING: Final = frozenset({
    "clear", "copy", "count", "index", "pop", "remove", "reverse", "sort", "__len__",
})  # fmt: skip
_BUILTINS: Final = frozenset({
    "all", "any", "bool", "enumerate", "id", "isinstance", "iter", "len", "list", "max", "min",
    "print", "range", "repr", "reversed", "sorted", "str", "sum", "tuple", "type", "zip",
})  # fmt: skip
_TENSOR: Final = Type(Kind.TENSOR)
_CONTAINERS = cst.Element | cst.Tuple | cst.List


class ListMutation(Struct, frozen=True, eq=False):
    """An item put into a list; ``is_many``: the items of it are."""

    value: cst.BaseExpression
    is_many: bool = False


class ListMutations(Struct, frozen=True, eq=False):
    """The known mutations of a list; ``are_all``: there are no others.

    ``other_names`` are those that have the very same list, too.
    """

    found: tuple[ListMutation, ...] = ()
    are_all: bool = True
    other_names: tuple[Binding, ...] = ()


_NONE: Final = ListMutations()
_UNSEEN: Final = ListMutations(are_all=False)


class Inferring(Protocol):
    """An inference in progress."""

    def infer(self, node: cst.CSTNode) -> Value:
        """Return what an expression is."""

    def own_function(self, callee: cst.BaseExpression) -> cst.FunctionDef | None:
        """Return the function of the module, or the method of one of its classes."""


class MutatedLists:
    """The list mutations of one module."""

    def __init__(
        self,
        scope_analysis: ScopeAnalysis,
        resolver: Resolver,
        oracle: TypeOracle,
        inference: Inferring,
    ) -> None:
        self._scope_analysis = scope_analysis
        self._resolver = resolver
        self._oracle = oracle
        self._inference = inference
        self._known: dict[Binding, ListMutations] = {}

    def list_value(self, binding: Binding, made: Value) -> Value:
        """Return the list that a binding holds: its initial items and what is added."""
        mutations = self._of(binding)
        if not mutations.are_all and not is_list(made):
            return UNKNOWN
        found = [item_of(made)] if is_list(made) else []
        for each in mutations.found:
            value = self._inference.infer(each.value)
            found.append(item_of(value) if each.is_many else value)
        return list_of(merged(found))

    def _of(self, binding: Binding) -> ListMutations:
        """Return what is put into a list, by whatever name."""
        names, found, are_all = [binding], list[ListMutation](), True
        for name in names:  # it grows meanwhile
            by_name = self._known.get(name)
            if by_name is None:
                by_name = self._known[name] = self._by_name(name)
            found += by_name.found
            are_all = are_all and by_name.are_all
            names += [each for each in by_name.other_names if each not in names]
        return ListMutations(tuple(found), are_all)

    def _by_name(self, binding: Binding) -> ListMutations:
        uses = [
            self._by_use(binding, use)
            for use in self._scope_analysis.uses_by_name.get(binding.name, ())
            if binding in self._resolver.bindings(use.name, use.node, use.scope)
        ]
        return ListMutations(
            tuple(each for use in uses for each in use.found),
            all(use.are_all for use in uses) and not self._has_other_names(binding),
            tuple(each for use in uses for each in use.other_names),
        )

    def _has_other_names(self, binding: Binding) -> bool:
        """Say whether others may have the very same list: `a = b = []`, a class's, a global."""
        if binding.remote or binding.scope.kind is ScopeKind.CLASS:
            return True
        target = self._scope_analysis.parents.get(binding.node)
        assign = None if target is None else self._scope_analysis.parents.get(target)
        return isinstance(assign, cst.Assign) and len(assign.targets) > 1

    def _by_use(self, binding: Binding, use: Use) -> ListMutations:
        """Return what a use of the list puts into it."""
        parents, node, is_inside = self._scope_analysis.parents, use.node, False
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
                    return ListMutations((ListMutation(value, is_many=True),))
                case cst.Assign() if not is_inside:
                    return self._by_alias(parent, use.scope)
                case cst.Return():
                    is_own = use.scope is binding.scope and use.scope.kind is ScopeKind.FUNCTION
                    return _NONE if is_own else _UNSEEN
                case _ if isinstance(parent, _READERS):
                    return _NONE
                case _:
                    return _UNSEEN
            node = parent

    def _by_method(self, attribute: cst.Attribute) -> ListMutations:
        call, method = self._scope_analysis.parents[attribute], attribute.attr.value
        if not isinstance(call, cst.Call) or call.func is not attribute:
            return _UNSEEN
        if method in _READING:
            return _NONE
        place = _PUTTING.get(method)
        if (
            place is None
            or len(call.args) != place + 1
            or any(map(_is_starred_or_keyword, call.args))
        ):
            return _UNSEEN
        return ListMutations((ListMutation(call.args[place].value, is_many=method == "extend"),))

    def _by_index(self, subscript: cst.Subscript) -> ListMutations:
        """Return what ``outs[0] = value`` puts in, nothing where an element is read or deleted."""
        node, parents = subscript, self._scope_analysis.parents
        holder: cst.CSTNode = parents[node]
        if isinstance(holder, cst.AssignTarget):
            assign = parents[holder]
            assert isinstance(assign, cst.Assign)
            is_one = len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index)
            return ListMutations((ListMutation(assign.value, is_many=not is_one),))
        inner: cst.CSTNode = node
        while isinstance(holder, cst.StarredElement | _CONTAINERS):
            inner, holder = holder, parents[holder]
        is_target = isinstance(holder, cst.AssignTarget | cst.AsName) or (
            isinstance(holder, cst.For | cst.CompFor | cst.AugAssign | cst.AnnAssign)
            and holder.target is inner
        )
        return _UNSEEN if is_target else _NONE

    def _by_call(self, argument: cst.Arg, *, is_inside: bool) -> ListMutations:
        """Return what a call puts in that gets the list, in another one perhaps."""
        call = self._scope_analysis.parents[argument]
        if argument.star == "*" and not is_inside:
            return _NONE  # its elements are passed
        if not isinstance(call, cst.Call) or argument.star:
            return _UNSEEN
        name = call.func.value if isinstance(call.func, cst.Name) else ""
        if isinstance(call.func, cst.Name) and not self._resolver.bindings_at(call.func):
            return _NONE if name in _BUILTINS else _UNSEEN
        function = None if is_inside else self._inference.own_function(call.func)
        if function is not None:
            parameter = self._parameter(function, call, argument)
            return _UNSEEN if parameter is None else ListMutations(other_names=(parameter,))
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

    def _by_alias(self, assign: cst.Assign, scope: Scope) -> ListMutations:
        """Return which other names the list gets."""
        targets = [each.target for each in assign.targets]
        # Tuples get its elements.
        names = [each for each in targets if not isinstance(each, cst.Tuple | cst.List)]
        bound = [self._bound_by(each, scope) for each in names]
        known = tuple(each for each in bound if each is not None)
        return ListMutations(are_all=len(known) == len(bound), other_names=known)

    @staticmethod
    def _bound_by(target: cst.BaseAssignTargetExpression, scope: Scope) -> Binding | None:
        name = target.value if isinstance(target, cst.Name) else ""
        found = scope.bindings.get(name, ()) if isinstance(name, str) else ()
        return next((each for each in found if each.node is target), None)


# What reads a list that stands in it, and hands it on to nobody.
_READERS = (
    cst.Assert | cst.BinaryOperation | cst.Comparison | cst.ComparisonTarget | cst.CompFor
    | cst.CompIf | cst.Del | cst.Expr | cst.For | cst.FormattedStringExpression | cst.If
    | cst.IfExp | cst.Index | cst.StarredElement | cst.UnaryOperation | cst.While
)  # fmt: skip


def _is_starred_or_keyword(argument: cst.Arg) -> bool:
    return bool(argument.star) or argument.keyword is not None


def is_new_and_empty(binding: Binding) -> bool:
    """Say whether a binding is a new empty list: ``[]``, ``list()``."""
    if binding.kind is not BindingKind.ASSIGN:
        return False
    match part_of(binding.value, binding.path):
        case cst.List(elements=[]):
            return True
        case cst.Call(func=cst.Name(value="list"), args=[]):
            return True
    return False
