"""Infer a name's type from its uses: ``model.compile(optimizer, loss=…)``.

A model is often made elsewhere and passed in. Calls that only a model takes tell that it is one,
wherever else the same binding is read. Which calls those are is asked of ``TypeOracle``: some tell
it alone, others (`fit(epochs=…)`, `save_weights(…)`) only where another one tells it, too; so do
attributes: `model.layers` and `model.inputs`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from functools import cached_property
from itertools import takewhile
from typing import TypeVar

import libcst as cst

from kdoctor.syntax.classes import UserClasses
from kdoctor.syntax.imports import Imports
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.references import Reference
from kdoctor.syntax.scope_analysis import ScopeAnalysis, Store
from kdoctor.syntax.scopes import HOLDERS, Binding, BindingKind
from kdoctor.syntax.type_oracle import TypeOracle
from kdoctor.value_types import Kind, ReceiverHint, Type

_Receiver = TypeVar("_Receiver", bound=Hashable)


def usage_may_tell_types(
    references: Iterable[Reference], imports: Imports, oracle: TypeOracle
) -> bool:
    """Say whether what is done with an object may tell what it is, in a module.

    Not where nothing that the code imports, or uses of it, is of what is known: others have a
    `fit_generator`, too. Nor where modules of the tree choose what it is known as, or take it from
    elsewhere: the models of tf_keras are compiled like those of Keras.
    """
    return (
        any(oracle.may_be_known(each.name) for each in references)
        and not imports.import_another_root
        and not any(_is_of_whatever(each, imports, oracle) for each in references)
    )


def _is_of_whatever(reference: Reference, imports: Imports, oracle: TypeOracle) -> bool:
    """Say whether something is called like a known class, and a module of the tree chose it."""
    name = reference.name
    return (
        reference.binding.own_class is None
        and oracle.is_called_like(name)
        and oracle.class_type(name) is None
        and imports.through_tree(name) is None
        and imports.is_project_module(name)
    )


def _assigned(binding: Binding) -> cst.BaseExpression | None:
    """Return what is assigned to a name, where it is no other name."""
    is_whole = binding.kind is BindingKind.ASSIGN and not binding.path
    return binding.value if is_whole and not isinstance(binding.value, cst.Name) else None


def _makes_an_object(value: cst.BaseExpression | None) -> bool:
    """Say whether a value is an object of some class, judged by its name: ``DQNAgent(…)``."""
    if not isinstance(value, cst.Call):
        return False
    name = value.func.attr if isinstance(value.func, cst.Attribute) else value.func
    return isinstance(name, cst.Name) and name.value.lstrip("_")[:1].isupper()


class UsageInference:
    """Usage inference in one module; ``tells``: whether use can tell anything in it."""

    def __init__(
        self,
        scope_analysis: ScopeAnalysis,
        resolver: Resolver,
        classes: UserClasses,
        oracle: TypeOracle,
        tells: Callable[[], bool],
    ) -> None:
        self._tells = tells
        self._scope_analysis = scope_analysis
        self._resolver = resolver
        self._classes = classes
        self._oracle = oracle

    def of_binding(self, binding: Binding) -> Type | None:
        """Return the type of a binding."""
        told = self._bindings.get(binding)
        return told if told is not None and binding.kind in HOLDERS else None

    @cached_property
    def calls_told(self) -> frozenset[cst.BaseExpression]:
        """What is assigned to names of which the use tells what they are."""
        return frozenset(each.value for each in self._bindings if each.value is not None)

    def hinted(self, binding: Binding) -> Type | None:
        """Return the type of a binding that several uses of it tell together."""
        told = self._hinted_bindings.get(binding)
        return told if told is not None and binding.kind in HOLDERS else None

    def of_member(self, cls: cst.ClassDef, member: str) -> Type | None:
        """Return the type of ``self.member`` in a class."""
        told = self._members.get((cls, member))
        return self._hinted_members.get((cls, member)) if told is None else told

    @cached_property
    def _types_by_use(self) -> tuple[tuple[cst.BaseExpression, Type], ...]:
        told = tuple(self._calls())
        return told if told and self._tells() else ()

    def _calls(self) -> Iterator[tuple[cst.BaseExpression, Type]]:
        for node, call in self._calls_of(self._oracle.methods_that_tell_types):
            told = self._oracle.receiver_type(node.attr.value, self._arguments(call))
            if told is not None and self._resolver.meaning_of(node.value) is None:
                yield node.value, told

    def _calls_of(self, methods: Collection[str]) -> Iterator[tuple[cst.Attribute, cst.Call]]:
        for node in self._scope_analysis.attributes:
            if node.attr.value in methods:
                call = self._scope_analysis.parents.get(node)
                if type(call) is cst.Call and call.func is node:
                    yield node, call

    def _hinted(
        self, receivers: Callable[[cst.BaseExpression], Iterable[_Receiver]]
    ) -> dict[_Receiver, Type]:
        """Return what the hints at each receiver tell together."""
        found: dict[_Receiver, set[ReceiverHint]] = {}
        for receiver, hint in self._hints:
            for each in receivers(receiver):
                found.setdefault(each, set()).add(hint)
        return {
            receiver: next(iter(hints)).type
            for receiver, hints in found.items()
            if len({each.group for each in hints}) > 1
            and len({each.type for each in hints}) == 1
            and any(each.of_no_other for each in hints)
        }

    @cached_property
    def _hints(self) -> tuple[tuple[cst.BaseExpression, ReceiverHint], ...]:
        found: list[tuple[cst.BaseExpression, ReceiverHint]] = []
        for node, call in self._calls_of(self._oracle.methods_that_hint):
            given: set[int | str] = {each.keyword.value for each in call.args if each.keyword}
            first = takewhile(lambda each: not each.star and each.keyword is None, call.args)
            given.update(place for place, _ in enumerate(first))
            hint = self._oracle.receiver_hint(node.attr.value, given)
            if hint is not None and self._resolver.meaning_of(node.value) is None:
                found.append((node.value, hint))
        found += self._hints_of_attributes()
        return tuple(found) if len(found) > 1 and self._tells() else ()

    def _hints_of_attributes(self) -> Iterator[tuple[cst.BaseExpression, ReceiverHint]]:
        """Yield what reads of attributes hint at, none where the file assigns such an attribute."""
        hints = self._oracle.attributes_that_hint
        if any(each.node.attr.value in hints for each in self._scope_analysis.stores):
            return
        for node in self._scope_analysis.attributes:
            hint = hints.get(node.attr.value)
            if hint is not None and self._resolver.meaning_of(node.value) is None:
                yield node.value, hint

    @cached_property
    def _hinted_bindings(self) -> dict[Binding, Type]:
        return self._with_parameters(self._hinted(self._holders), self._hinted_members)

    def _holders(self, receiver: cst.BaseExpression) -> Iterable[Binding]:
        """Return the bindings of a name, none where an object of some class is bound to it."""
        if not isinstance(receiver, cst.Name):
            return ()
        bindings = self._resolver.bindings_at(receiver)
        return () if any(_makes_an_object(each.value) for each in bindings) else bindings

    @cached_property
    def _hinted_members(self) -> dict[tuple[cst.ClassDef, str], Type]:
        def members(receiver: cst.BaseExpression) -> Iterator[tuple[cst.ClassDef, str]]:
            if isinstance(receiver, cst.Attribute):
                for cls in self._classes_of(receiver.value):
                    yield cls, receiver.attr.value

        return {
            (cls, member): told
            for (cls, member), told in self._hinted(members).items()
            if not any(
                _makes_an_object(store.value)
                for store in self._stores_by_name.get(member, ())
                if cls in self._classes_of(store.node.value)
            )
        }

    def _arguments(self, call: cst.Call) -> dict[int | str, Type | None]:
        """Return what is passed, by position up to where a star hides which is which."""
        given: dict[int | str, Type | None] = {
            each.keyword.value: self._class_call_value(each.value)
            for each in call.args
            if each.keyword
        }
        first = takewhile(lambda each: not each.star and each.keyword is None, call.args)
        return given | {
            place: self._class_call_value(each.value) for place, each in enumerate(first)
        }

    def _class_call_value(self, node: cst.BaseExpression) -> Type | None:
        """Return what a call of a class makes, by way of a name, too; a list where one stands."""
        match node:
            case cst.List() | cst.Tuple():
                return Type(Kind.LIST)
            case cst.Call():
                meaning = self._resolver.meaning_of(node.func)
                return None if meaning is None else self._oracle.class_type(meaning.name)
            case cst.Name():
                made = [_assigned(each) for each in self._resolver.bindings_at(node)]
                types = [None if each is None else self._class_call_value(each) for each in made]
                kinds = {None if each is None else each.kind for each in types}
                return types[0] if len(kinds) == 1 else None
        return None

    @cached_property
    def _bindings(self) -> dict[Binding, Type]:
        found: dict[Binding, Type] = {}
        for node, told in self._types_by_use:
            if isinstance(node, cst.Name):
                scope = self._resolver.scope_of(node)
                found |= dict.fromkeys(self._resolver.bindings(node.value, node, scope), told)
        return self._with_parameters(found, self._members)

    def _with_parameters(
        self, found: dict[Binding, Type], members: dict[tuple[cst.ClassDef, str], Type]
    ) -> dict[Binding, Type]:
        """Return the types, and those of the parameters that are kept as attributes."""
        for (cls, member), told in members.items():
            kept = [
                self._parameter_kept(cls, each) for each in self._stores_by_name.get(member, ())
            ]
            for each in kept if all(kept) else ():
                if each is not None:
                    found.setdefault(each, told)
        return found

    def _parameter_kept(self, cls: cst.ClassDef, store: Store) -> Binding | None:
        """Return the parameter of `self.model = model` in a class, None of any other store."""
        if store.path or not isinstance(store.value, cst.Name):
            return None
        scope = self._resolver.scope_of(store.value)
        bindings = self._resolver.bindings(store.value.value, store.value, scope)
        is_parameter = len(bindings) == 1 and bindings[0].kind is BindingKind.PARAMETER
        return bindings[0] if is_parameter and cls in self._classes_of(store.node.value) else None

    @cached_property
    def _stores_by_name(self) -> dict[str, list[Store]]:
        found: dict[str, list[Store]] = {}
        for each in self._scope_analysis.stores if self._types_by_use or self._hints else ():
            found.setdefault(each.node.attr.value, []).append(each)
        return found

    def _classes_of(self, node: cst.BaseExpression) -> Iterator[cst.ClassDef]:
        """Yield the classes that a name is the ``self`` of a method of."""
        if not isinstance(node, cst.Name):
            return
        scope = self._resolver.scope_of(node)
        for binding in self._resolver.bindings(node.value, node, scope):
            own = self._classes.receiver(binding) if binding.kind is BindingKind.PARAMETER else None
            if own is not None and own.node is not None:
                yield own.node

    @cached_property
    def _members(self) -> dict[tuple[cst.ClassDef, str], Type]:
        found: dict[tuple[cst.ClassDef, str], Type] = {}
        for node, told in self._types_by_use:
            if isinstance(node, cst.Attribute):
                for cls in self._classes_of(node.value):
                    found[cls, node.attr.value] = told
        return found
