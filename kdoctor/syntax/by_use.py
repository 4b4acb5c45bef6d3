"""What a name must hold, by what is done with it: ``model.compile(optimizer, loss=…)``.

A model is often made elsewhere and passed in. Calls that only a model takes tell that it is one,
wherever else the same binding is read. Which calls those are is asked of ``Knowledge``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from kdoctor.kinds import Type
from kdoctor.syntax.classes import OwnClasses
from kdoctor.syntax.knowledge import Knowledge
from kdoctor.syntax.resolving import Resolver
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.syntax.survey import Survey

_HOLDS = frozenset({BindingKind.ASSIGN, BindingKind.PARAMETER, BindingKind.LOOP, BindingKind.WITH})


class ByUse:
    """Answers for one module; ``concerned``: it speaks of what is known at all."""

    def __init__(
        self,
        survey: Survey,
        resolver: Resolver,
        classes: OwnClasses,
        knowledge: Knowledge,
        *,
        concerned: bool,
    ) -> None:
        self._concerned = concerned
        self._survey = survey
        self._resolver = resolver
        self._classes = classes
        self._knowledge = knowledge

    def of_binding(self, binding: Binding) -> Type | None:
        """Return what a binding holds."""
        told = self._bindings.get(binding)
        return told if told is not None and binding.kind in _HOLDS else None

    def of_member(self, cls: cst.ClassDef, member: str) -> Type | None:
        """Return what ``self.member`` holds in a class."""
        return self._members.get((cls, member))

    @cached_property
    def _told(self) -> tuple[tuple[cst.BaseExpression, Type], ...]:
        return tuple(self._calls()) if self._concerned else ()

    def _calls(self) -> Iterator[tuple[cst.BaseExpression, Type]]:
        for node in self._survey.attributes:
            call = self._survey.parents.get(node)
            if type(call) is not cst.Call or call.func is not node:
                continue
            keywords = frozenset(each.keyword.value for each in call.args if each.keyword)
            told = self._knowledge.receiver_type(node.attr.value, keywords)
            if told is not None and self._resolver.meaning_of(node.value) is None:
                yield node.value, told

    @cached_property
    def _bindings(self) -> dict[Binding, Type]:
        found: dict[Binding, Type] = {}
        for node, told in self._told:
            if isinstance(node, cst.Name):
                scope = self._resolver.scope_of(node)
                found |= dict.fromkeys(self._resolver.bindings(node.value, node, scope), told)
        return found

    @cached_property
    def _members(self) -> dict[tuple[cst.ClassDef, str], Type]:
        found: dict[tuple[cst.ClassDef, str], Type] = {}
        for node, told in self._told:
            if not isinstance(node, cst.Attribute) or not isinstance(node.value, cst.Name):
                continue
            name = node.value
            scope = self._resolver.scope_of(name)
            for binding in self._resolver.bindings(name.value, name, scope):
                own = (
                    self._classes.receiver(binding)
                    if binding.kind is BindingKind.PARAMETER
                    else None
                )
                if own is not None and own.node is not None:
                    found[own.node, node.attr.value] = told
        return found
