"""Inference of attributes: of objects of one's own classes, and of imported ones'."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import libcst as cst

from kdoctor.syntax.classes import UserClasses, are_related
from kdoctor.syntax.container_inference import ContainerInference
from kdoctor.syntax.container_mutations import MutatedContainers, is_empty_dict
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.named_stores import NamedStore, named_stores
from kdoctor.syntax.narrowing import Narrowing
from kdoctor.syntax.node_predicates import is_property
from kdoctor.syntax.project_types import ProjectTypes
from kdoctor.syntax.scope_analysis import ScopeAnalysis, Store
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.syntax.type_oracle import TypeOracle
from kdoctor.syntax.usage_inference import UsageInference
from kdoctor.syntax.user_class import UserClass
from kdoctor.syntax.values import NONE, UNKNOWN, Value, can_be_filled, is_mapping, merged

_MAX_DEFINERS = 8  # classes that may all keep something under one name
_GIVE = frozenset({BindingKind.ASSIGN, BindingKind.ANNOTATE})


class MemberInference(ContainerInference):
    """The part of inference that is about attributes."""

    _classes: UserClasses
    _narrowing: Narrowing
    _resolver: Resolver
    _oracle: TypeOracle
    _scope_analysis: ScopeAnalysis
    _by_use: UsageInference
    _containers: MutatedContainers
    _project: ProjectTypes

    @abstractmethod
    def _assigned(
        self,
        value: cst.BaseExpression | None,
        path: Sequence[int | None],
        annotation: cst.BaseExpression | None,
    ) -> Value:
        """Return what an assignment gives its target."""

    @abstractmethod
    def _as_bound(self, binding: Binding) -> Value:
        """Return what a binding gives a name."""

    @abstractmethod
    def _returned(self, function: cst.FunctionDef | cst.Lambda) -> Value:
        """Return what a call of a function gives."""

    @abstractmethod
    def _named_class(self, node: cst.Name | cst.Attribute, leaf: str) -> Value:
        """Return the class that a name means."""

    def _attribute(self, node: cst.Attribute) -> Value:
        member = node.attr.value
        if self._resolver.meaning_of(node) is not None:
            return self._named_class(node, member)  # a thing of a module, not of an instance
        if member in self._narrowing.subjects:
            told = self._narrowing.of(node)
            if told:
                return told
        return self._member_of(self.infer(node.value), member)

    def _member_of(self, owner: Value, member: str) -> Value:
        """Return what an attribute of a value is."""
        if owner.makes is not None:
            return self._class_member(owner.makes, member)
        if member == "__class__" and (owner.type is not None or owner.own is not None):
            return Value(makes=owner)
        if owner.own is not None:
            definers = self._definers(owner, owner.own, member)
            if len(definers) > _MAX_DEFINERS or self._may_be_imported(owner, definers, member):
                return UNKNOWN
            if definers:
                return merged(self._own_member(each, member) for each in definers)
        value = self._member(owner, member, called=False)
        if value or owner.own is None or owner.own.node is None:
            return value
        return Value(self._by_use.of_member(owner.own.node, member), exact=False)

    def _class_member(self, instance: Value, member: str) -> Value:
        """Return what an attribute of a class is, in whose body it is bound."""
        own = instance.own
        definers = [] if own is None else self._definers(instance, own, member)
        return merged(
            UNKNOWN if each.scope is None or member not in each.scope.bindings
            else self._own_member(each, member)
            for each in definers
            if (method := each.method(member)) is None or not is_property(method)
        )  # fmt: skip

    def _member(self, owner: Value, member: str, *, called: bool) -> Value:
        if owner.type is None:
            return UNKNOWN
        if owner.own is not None and owner.own.definer(member) is not None:
            return UNKNOWN
        return Value(self._oracle.member_type(owner.type, member, called=called))

    def has_own(self, owner: Value, member: str) -> bool:
        """Say whether a member of an object, or of a class, is defined by one's own class."""
        own = owner.own if owner.makes is None else owner.makes.own
        return own is not None and bool(self._definers(owner.makes or owner, own, member))

    def _special(self, owner: Value, method: str) -> Value:
        """Return what Python's own syntax gets from a method of one's own class: ``__enter__``."""
        found = self._member_of(owner, method)
        return self._returned_by(found)

    def _returned_by(self, callee: Value) -> Value:
        """Return what calling a value gives that is one of several functions."""
        return merged(self._returned(each) for each in callee.runs)

    def _definers(self, owner: Value, own: UserClass, member: str) -> list[UserClass]:
        """Return the classes of one's own of which a member of an object may be.

        The nearest; what else keeps something under that name in the same object; and where it may
        be of a class made from it, what that has in its place.
        """
        nearest = own.definer(member)
        found = [] if nearest is None else [nearest]
        if nearest is not None and member in nearest.stores:
            found += self._other_stores(nearest, member)
        if not owner.exact:
            more = (each for each in self._classes.descendants(own) if member in each.members)
            found += [each for each in more if each not in found]
        return found

    def _may_be_imported(self, owner: Value, definers: list[UserClass], member: str) -> bool:
        """Say whether a member is an imported class's, too, and only descendants have another."""
        if not definers or owner.type is None or owner.own is None or owner.own.definer(member):
            return False
        ways = (self._oracle.member_type(owner.type, member, called=each) for each in (True, False))
        return any(each is not None for each in ways)

    def _other_stores(self, nearest: UserClass, member: str) -> Iterator[UserClass]:
        """Yield the bases that assign a member, too."""
        waiting = [*nearest.bases]
        for base in waiting[:_MAX_DEFINERS]:
            other = base.definer(member)
            if other is not None and member in other.stores:
                yield other

    def _own_member(self, definer: UserClass, member: str) -> Value:
        """Return what a member of one's own class is: a method, a property's, or what is kept."""
        method = definer.method(member)
        if method is not None:
            return self._returned(method) if is_property(method) else Value(runs=(method,))
        if definer.scope is None:
            kept_there = definer.info and self._project.kept(definer.info, member)
            return kept_there or UNKNOWN
        kept = [*self._kept(definer, member)]
        value = merged(kept)
        stored_once = sum(not each.is_none for each in kept) <= 1
        if value or not stored_once or definer.node is None:
            return value
        told = self._by_use.of_member(definer.node, member)
        if told is None and (seen := self._project.seen.of("", f".{member}")) is not None:
            told = seen.type
        is_none = told is None and bool(kept) and all(each.is_none for each in kept)
        return NONE if is_none else Value(told, exact=False)

    @cached_property
    def _named_stores(self) -> Mapping[str, Sequence[NamedStore]]:
        return named_stores(self._scope_analysis)

    def _may_be_of(self, own: UserClass, node: cst.BaseExpression) -> bool:
        """Say whether an expression may be an object of one's own class, or the class."""
        value = self.infer(node)
        other = value.own if value.makes is None else value.makes.own
        if other is not None:
            return are_related(own, other)
        return not value and self._resolver.meaning_of(node) is None

    def _kept(self, definer: UserClass, member: str) -> Iterator[Value]:
        """Yield what is assigned to an attribute; a container with all that is put into it."""
        bound = definer.scope.bindings.get(member, ()) if definer.scope is not None else ()
        made: list[Value] = []
        is_new = is_dict = is_shared = is_added_to = False
        outside = self._classes.stores_from_outside(member)
        others = (each for each in outside if self._may_be_of(definer, each.node.value))
        for each in (*definer.stores.get(member, ()), *bound, *others):
            if each.kind is BindingKind.AUGMENT and isinstance(each, Store):
                is_added_to = True
                continue
            if each.kind is BindingKind.ASSIGN and not each.path:
                is_empty_one = is_empty_dict(each.value)
                is_shared = is_shared or self._containers.is_shared(each.node)
                is_new = is_new or is_empty_one is not None
                is_dict = is_dict or bool(is_empty_one)
                if is_empty_one is not None:
                    continue
            made.append(
                self._assigned(each.value, each.path, each.annotation)
                if each.kind in _GIVE or isinstance(each, Store)
                else self._as_bound(each)
            )
        made += (
            self.infer(each.value)
            for each in self._named_stores.get(member, ())
            if self._may_be_of(definer, each.owner)
        )
        value = merged(made)
        is_told = value or value.is_open or all(each.is_none for each in made)
        if not is_told or not (is_new or can_be_filled(value)):
            yield from [*made, UNKNOWN] if is_added_to else made
        elif is_shared and not value:
            yield UNKNOWN
        else:
            is_dict = is_dict or is_mapping(value)
            yield self._containers.filled(member, value, is_dict=is_dict, own=definer)
