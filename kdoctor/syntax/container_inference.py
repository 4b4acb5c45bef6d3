"""Inference of containers: displays, comprehensions, their elements, Python's own functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import libcst as cst

from kdoctor.syntax.container_calls import builtin_result, method_result
from kdoctor.syntax.container_mutations import key_in
from kdoctor.syntax.values import (
    UNKNOWN,
    Value,
    entries_of,
    is_mapping,
    is_sequence,
    item_of,
    iterable_of,
    list_of,
    mapped_of,
    mapping_of,
    merged,
    part_at,
    tuple_of,
    unpacked,
)

_NOT_TOLD = frozenset({"enumerate", "sorted", "zip"})  # by their keywords: `strict`, `key`, `start`


class ContainerInference(ABC):
    """The part of inference that is about containers."""

    @abstractmethod
    def infer(self, node: cst.CSTNode) -> Value:
        """Return what an expression is."""

    @abstractmethod
    def _member(self, owner: Value, member: str, *, called: bool) -> Value:
        """Return what a member is that an imported class has, or what calling it gives."""

    @abstractmethod
    def has_own(self, owner: Value, member: str) -> bool:
        """Say whether a member is defined by one's own class."""

    @abstractmethod
    def _special(self, owner: Value, method: str) -> Value:
        """Return what Python's own syntax gets from a method of one's own class."""

    def _comprehension(self, node: cst.ListComp | cst.GeneratorExp) -> Value:
        return list_of(self.infer(node.elt))

    def _set_comprehension(self, node: cst.SetComp) -> Value:
        return iterable_of(self.infer(node.elt))

    def _dict_comprehension(self, node: cst.DictComp) -> Value:
        return mapping_of([(None, self.infer(node.value))])

    def _list(self, node: cst.List) -> Value:
        return list_of(merged(self._elements(node.elements)))

    def _set(self, node: cst.Set) -> Value:
        return iterable_of(merged(self._elements(node.elements)))

    def _tuple(self, node: cst.Tuple) -> Value:
        elements = self._elements(node.elements)
        if any(isinstance(each, cst.StarredElement) for each in node.elements):
            return list_of(merged(elements))
        return tuple_of(elements)

    def _elements(self, elements: Sequence[cst.BaseElement]) -> list[Value]:
        return [
            item_of(self.infer(each.value))
            if isinstance(each, cst.StarredElement)
            else self.infer(each.value)
            for each in elements
        ]

    def _dict(self, node: cst.Dict) -> Value:
        entries = list[tuple[int | str | None, Value]]()
        for each in node.elements:
            value = self.infer(each.value)
            if isinstance(each, cst.DictElement):
                entries.append((key_in(each.key), value))
            else:
                entries += entries_of(value)
        return mapping_of(entries)

    def _element(self, iterable: cst.BaseExpression, path: Sequence[int | None]) -> Value:
        """Return what a loop over ``iterable`` binds."""
        value = self.infer(iterable)
        item = item_of(value)
        if self.has_own(value, "__iter__"):
            item = item_of(self._special(value, "__iter__"))
        elif not item and not item.is_open:
            item = self._member(value, "__iter__", called=True)
        return unpacked(item, path)

    def _subscript(self, node: cst.Subscript) -> Value:
        value = self.infer(node.value)
        index = node.slice[0].slice if len(node.slice) == 1 else None
        if is_mapping(value) or is_sequence(value):
            if not isinstance(index, cst.Index):
                return UNKNOWN if is_mapping(value) else list_of(item_of(value))
            key = key_in(index.value)
            if key is not None:
                return part_at(value, key)
            return mapped_of(value) if is_mapping(value) else item_of(value)
        if self.has_own(value, "__getitem__"):
            return self._special(value, "__getitem__") if isinstance(index, cst.Index) else UNKNOWN
        if value.type is None or value.own is not None:
            return value if value.is_open else UNKNOWN
        if isinstance(index, cst.Slice) and value.may_be_several:
            return value  # a part of the list, if it is one
        return self._member(value, "__getitem__", called=True)

    def _builtin_result(self, name: str, call: cst.Call) -> Value:
        """Return what a function of Python makes of containers."""
        if any(each.star for each in call.args):
            return UNKNOWN
        given = [self.infer(each.value) for each in call.args if each.keyword is None]
        named = {each.keyword.value: each.value for each in call.args if each.keyword is not None}
        if name in _NOT_TOLD:
            named = {}
        return builtin_result(name, given, {key: self.infer(each) for key, each in named.items()})

    def _method_result(self, owner: Value, method: str, call: cst.Call) -> Value:
        """Return what a method of a container gives."""
        key = key_in(call.args[0].value) if call.args else None
        given = [UNKNOWN if each.star else self.infer(each.value) for each in call.args]
        return method_result(owner, method, given, key)
