"""Declared types: annotations and docstrings."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import libcst as cst
from msgspec.structs import replace

from kdoctor.syntax.annotations import declared
from kdoctor.syntax.classes import UserClasses
from kdoctor.syntax.docstrings import Docstrings
from kdoctor.syntax.name_resolution import Resolver
from kdoctor.syntax.scope_analysis import ScopeAnalysis
from kdoctor.syntax.scopes import Binding
from kdoctor.syntax.type_oracle import TypeOracle
from kdoctor.syntax.values import UNKNOWN, Value, elements_in, is_tensor, of_any_subclass


class Classes(Protocol):
    """The part of inference that knows classes."""

    def instance(self, cls: cst.BaseExpression) -> Value:
        """Return what calling a class makes."""


class Declarations:
    """Declared types in one module."""

    def __init__(
        self,
        scope_analysis: ScopeAnalysis,
        resolver: Resolver,
        classes: UserClasses,
        oracle: TypeOracle,
        inference: Classes,
    ) -> None:
        self._scope_analysis = scope_analysis
        self._resolver = resolver
        self._classes = classes
        self._oracle = oracle
        self._inference = inference
        self._docstrings = Docstrings()
        self._told: dict[cst.BaseExpression, Value] = {}

    def told(self, annotation: cst.BaseExpression) -> Value:
        """Return the type that an annotation declares."""
        known = self._told.get(annotation)
        if known is None:
            known = self._told[annotation] = declared(annotation, self)
        return known

    def of(self, annotation: cst.BaseExpression, function: cst.CSTNode) -> Value:
        """Return the declared type of a parameter or of a function's result."""
        told = replace(self.told(annotation), exact=False)
        is_one = any(map(is_tensor, elements_in(told)))
        return UNKNOWN if is_one and self._classes.runs_on_values(function) else told

    def documented(self, binding: Binding) -> Value:
        """Return what the docstring says that a parameter is.

        The code must itself go where the docstring goes: of `tf.keras.Model` in a file without
        any other `.keras` nobody hears.
        """
        function = binding.scope.node
        if not isinstance(function, cst.FunctionDef):
            return UNKNOWN
        named = self._docstrings.type_of(function, binding.name)
        if named is None or not set(named.split(".")[1:-1][:1]) <= self._attribute_names:
            return UNKNOWN
        value = self.instance_of_text(function, named)
        return replace(value, exact=False) if value else UNKNOWN

    def instance(self, cls: cst.BaseExpression) -> Value:
        """Return what an instance of a class is that an expression names, or of a subclass."""
        return of_any_subclass(self._inference.instance(cls))

    @cached_property
    def _attribute_names(self) -> frozenset[str]:
        return frozenset(node.attr.value for node in self._scope_analysis.attributes)

    def instance_of_text(self, place: cst.CSTNode, text: str) -> Value:
        """Return what an instance of a class is whose dotted name is text, read at a place."""
        root, *path = text.split(".")
        scope = self._resolver.scope_of(place)
        for binding in self._resolver.bindings(root, place, scope):
            if isinstance(binding.node, cst.ClassDef) and not path:
                own = self._classes.of(binding.node)
                return UNKNOWN if own is None else Value(own.type, own)
        meaning = self._resolver.meaning(root, place, scope)
        if meaning is None:
            return UNKNOWN
        made = self._oracle.class_type(self._resolver.member(meaning, path).name)
        return of_any_subclass(Value(made))
