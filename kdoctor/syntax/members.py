"""Attribute reads and assignments on instances of known kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import itemgetter

import libcst as cst
from msgspec import Struct

from kdoctor.model import Confidence
from kdoctor.syntax.classes import UserClasses
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.inference import Inference
from kdoctor.syntax.named_stores import named_stores
from kdoctor.syntax.node_predicates import is_of_named_base
from kdoctor.syntax.scope_analysis import ScopeAnalysis
from kdoctor.syntax.scopes import BindingKind
from kdoctor.syntax.user_class import UserClass
from kdoctor.syntax.values import Value
from kdoctor.value_types import Kind, Type


class MemberUse(Struct, frozen=True, eq=False):
    """``owner.member`` is read; ``called`` is its call, if it is called.

    ``owner_defines`` is false only where the member cannot come from the user's own code: from a
    subclass of theirs (or a base of it that is not known, or its ``__getattr__``), or from an
    assignment to that attribute of the same object. An object of which only the kind is known, or
    that is declared to be of some class, may be of any subclass that the module makes or imports.
    ``is_assigned``: only an assignment from outside, ``owner.member = …``, makes it so.
    ``is_exact``: it is of the class ``owner.cls`` itself, not of a subclass, here or elsewhere.
    ``Base.__init__(self, …)`` is ``super().__init__(…)`` of that class; ``self`` is no argument.
    """

    node: cst.Attribute
    owner: Type
    member: str
    called: cst.Call | None
    owner_defines: bool
    is_assigned: bool = False
    is_exact: bool = False
    confidence: Confidence = Confidence.LIKELY


class MemberStore(Struct, frozen=True, eq=False):
    """``owner.member`` is assigned, augmented, deleted or a loop target (``how``).

    ``value`` is the whole right side, and what stands in ``path`` of it is assigned: ``path`` is
    empty for a plain ``owner.member = value``. ``owner_defines`` is true where the user's own class
    has, or may have, such a member, be it by another assignment to ``self``; ``owner_overrides``
    only where it stands, or may stand, in the body of the class: a method, a property, a default.
    """

    node: cst.Attribute
    owner: Type
    member: str
    how: BindingKind
    value: cst.BaseExpression | None
    path: tuple[int | None, ...]
    owner_defines: bool
    owner_overrides: bool
    confidence: Confidence = Confidence.LIKELY

    @property
    def is_plain(self) -> bool:
        """Whether it is ``owner.member = value`` and nothing else."""
        return self.how is BindingKind.ASSIGN and not self.path and self.value is not None


def member_stores(
    scope_analysis: ScopeAnalysis, inference: Inference, classes: UserClasses
) -> Iterator[MemberStore]:
    """Yield the assignments in source order."""
    subclasses = _Subclasses(scope_analysis, classes)
    for store in scope_analysis.stores:
        owner, member = inference.value(store.node.value), store.node.attr.value
        if owner.type is None:
            continue
        yield MemberStore(
            store.node,
            owner.type,
            member,
            store.kind,
            store.value,
            store.path,
            (owner.own is not None and owner.own.may_define(member))
            or subclasses.may_define(owner, member),
            (owner.own is not None and owner.own.may_override(member))
            or subclasses.may_override(owner, member),
        )


class MemberUses:
    """The uses of one module. What an owner is, is inferred once a use of its member is asked for.

    Most rules look for a few members, and most attributes of a module are of other objects.
    """

    def __init__(
        self, scope_analysis: ScopeAnalysis, inference: Inference, classes: UserClasses
    ) -> None:
        self._scope_analysis = scope_analysis
        self._inference = inference
        self._classes = classes
        self._subclasses = _Subclasses(scope_analysis, classes)
        self._known: dict[str, list[tuple[int, MemberUse]]] = {}

    def all(self) -> list[MemberUse]:
        """Return all uses in source order."""
        return self.named(self._reads)

    def named(self, members: Iterable[str]) -> list[MemberUse]:
        """Return the uses of members of these names, in source order."""
        asked = self._reads.keys() & members
        found = chain.from_iterable(map(self._uses_of, asked))
        return [use for _, use in sorted(found, key=itemgetter(0))]

    def _uses_of(self, member: str) -> list[tuple[int, MemberUse]]:
        """Return the uses of a member, each with its place among all reads."""
        known = self._known.get(member)
        if known is None:
            kinds = frozenset(self._kinds_given(member))
            uses = ((place, self._use(node, kinds)) for place, node in self._reads[member])
            known = self._known[member] = [(place, use) for place, use in uses if use is not None]
        return known

    def _use(self, node: cst.Attribute, kinds_given: Collection[Kind]) -> MemberUse | None:
        call = self._scope_analysis.parents.get(node)
        owner = self._inference.value(node.value)
        if owner.makes is not None and is_of_named_base(call):
            owner = owner.makes
        if owner.type is None:
            return None
        is_callee = isinstance(call, cst.Call) and call.func is node
        member = node.attr.value
        is_own = (
            owner.type.kind in kinds_given
            or (owner.own is not None and owner.own.may_define(member))
            or self._subclasses.may_define(owner, member)
        )
        is_assigned = dotted_name(node.value) in self._assigned.get(member, ())
        return MemberUse(
            node,
            owner.type,
            member,
            call if isinstance(call, cst.Call) and is_callee else None,
            is_own or is_assigned,
            is_assigned and not is_own,
            owner.exact and owner.type.cls is not None,
        )

    def _kinds_given(self, member: str) -> Iterator[Kind]:
        """Yield the kinds of the classes that are assigned such a member.

        Their objects and those of their subclasses have it then. Which classes derive from which
        is not known of those of Keras.
        """
        for owner in self._owners.get(member, ()):
            if dotted_name(owner) is not None and self._inference.value(owner).type is None:
                made = self._classes.type_named(owner)
                if made is not None:
                    yield made.kind

    @cached_property
    def _reads(self) -> Mapping[str, Sequence[tuple[int, cst.Attribute]]]:
        """The attributes that are read, by their names, each with its place among all."""
        stored = {store.node for store in self._scope_analysis.stores}
        found: dict[str, list[tuple[int, cst.Attribute]]] = {}
        for place, node in enumerate(self._scope_analysis.attributes):
            if node not in stored:
                found.setdefault(node.attr.value, []).append((place, node))
        return found

    @cached_property
    def _owners(self) -> Mapping[str, Sequence[cst.BaseExpression]]:
        """What attributes are assigned to, by the names of these."""
        found: dict[str, list[cst.BaseExpression]] = {}
        for store in self._scope_analysis.stores:
            found.setdefault(store.node.attr.value, []).append(store.node.value)
        for member, named in named_stores(self._scope_analysis).items():
            found.setdefault(member, []).extend(each.owner for each in named)
        return found

    @cached_property
    def _assigned(self) -> Mapping[str, Collection[str | None]]:
        """The same owners as they are written, None for all that are no names."""
        return {member: {*map(dotted_name, found)} for member, found in self._owners.items()}


class _Subclasses:
    """The user's own classes that the module makes or imports."""

    def __init__(self, scope_analysis: ScopeAnalysis, classes: UserClasses) -> None:
        self._scope_analysis = scope_analysis
        self._classes = classes

    def may_define(self, owner: Value, member: str) -> bool:
        """Say whether the owner may be of one of them that has ``member``."""
        kind = self._open_kind(owner)
        return kind is not None and member in self._members(owner).get(kind, ())

    def may_override(self, owner: Value, member: str) -> bool:
        """Say whether ``member`` stands, or may stand, in the body of one that it may be of."""
        kind = self._open_kind(owner)
        return kind is not None and member in self._bodies(owner).get(kind, ())

    def _open_kind(self, owner: Value) -> Kind | None:
        """Return the kind of an object that is not surely of one class."""
        if owner.type is None or (owner.exact and owner.type.cls):
            return None
        return owner.type.kind

    # What is imported derives from no class of this module.

    def _members(self, owner: Value) -> Mapping[Kind, Collection[str]]:
        return self._members_of_instantiated if owner.own else self._members_of_all

    def _bodies(self, owner: Value) -> Mapping[Kind, Collection[str]]:
        return self._bodies_of_instantiated if owner.own else self._bodies_of_all

    @cached_property
    def _members_of_instantiated(self) -> Mapping[Kind, Collection[str]]:
        return _united(self._instantiated_classes, _members_of)

    @cached_property
    def _members_of_all(self) -> Mapping[Kind, Collection[str]]:
        return _united(self._all, _members_of)

    @cached_property
    def _bodies_of_instantiated(self) -> Mapping[Kind, Collection[str]]:
        return _united(self._instantiated_classes, _body_of)

    @cached_property
    def _bodies_of_all(self) -> Mapping[Kind, Collection[str]]:
        return _united(self._all, _body_of)

    @cached_property
    def _instantiated_classes(self) -> Mapping[Kind, Sequence[UserClass]]:
        return _by_kind(self._classes.of(node) for node in self._scope_analysis.classes)

    @cached_property
    def _all(self) -> Mapping[Kind, Sequence[UserClass]]:
        return _by_kind(chain(*self._instantiated_classes.values(), self._classes.imported()))


def _united(
    classes: Mapping[Kind, Sequence[UserClass]], names: Callable[[UserClass], Iterable[str]]
) -> Mapping[Kind, Collection[str]]:
    return {kind: frozenset(chain.from_iterable(map(names, own))) for kind, own in classes.items()}


def _members_of(own: UserClass) -> Iterable[str]:
    return own.members


def _body_of(own: UserClass) -> Iterable[str]:
    return own.members if own.scope is None else own.scope.bindings


def _by_kind(classes: Iterable[UserClass | None]) -> Mapping[Kind, Sequence[UserClass]]:
    found: dict[Kind, list[UserClass]] = {}
    for each in classes:
        if each is not None and each.type is not None:
            found.setdefault(each.type.kind, []).append(each)
    return found
