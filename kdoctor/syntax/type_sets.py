"""Sets of may-types, and operations on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from kdoctor.value_types import Kind, Type

Types = frozenset[Type]
PASSED_ON: Final = frozenset({Kind.MODEL, Kind.LAYER, Kind.OPTIMIZER, Kind.HISTORY})
"""The kinds of object that a parameter is taken for where every call passes one."""
_HOLDING = frozenset({Kind.CALLABLE, Kind.LIST})
_CALLABLE = Kind.CALLABLE
_NOT_FOLLOWED = frozenset({Kind.EAGER, Kind.CALLABLE, Kind.LIST})
_TOLD_BY_CLASS = frozenset({Kind.MODEL, Kind.TENSOR, Kind.VARIABLE})
_MAX_LIST_DEPTH = 3  # lists in lists: `x = [x]` has no end


def subtype_of(base: Type, name: str) -> Type:
    """Return what an instance of a subclass called ``name`` is."""
    return Type(base.kind, name, base.qualified, base.item)


def is_parameter_type(passed: Type) -> bool:
    """Say whether a parameter is taken for what every call passes: also for symbolic tensors."""
    item = passed.item if passed.kind is Kind.LIST else None
    return passed.kind in PASSED_ON or (item is not None and item.kind is Kind.TENSOR)


def joined_argument_types(types: Iterable[Type]) -> Iterator[Type]:
    """Yield what a parameter may be for which such things are passed, by what all have in common.

    Only where it ``is_parameter_type``.
    """
    for each in types:
        if is_parameter_type(each):
            yield from (each, Type(each.kind, item=each.item))


def list_of(item: Type) -> Type:
    """Return a list of such things; of lists in lists in lists one more is the same."""
    return item if _depth(item) >= _MAX_LIST_DEPTH else Type(Kind.LIST, item=item)


def callable_of(given: Type) -> Type:
    """Return what gives that when it is called, a class or a function."""
    return given if _depth(given) >= _MAX_LIST_DEPTH else Type(Kind.CALLABLE, item=given)


def without_callables(types: Types) -> Types:
    """Return the types that are objects, or lists of objects."""
    found = [each for each in types if each.kind in _HOLDING and _innermost(each) is _CALLABLE]
    return types.difference(found) if found else types


def is_followed(found: Type) -> bool:
    """Say whether other files are told of such objects: not of plain arrays, nor of functions."""
    return _innermost(found) not in _NOT_FOLLOWED


def as_told(found: Type) -> Type:
    """Return what other files are told of an object: of most its kind alone.

    What one class of layers or optimizers has is looked for only in files that name the class.
    """
    if found.kind is Kind.LIST and found.item is not None:
        return replace(found, item=as_told(found.item))
    return found if found.kind in _TOLD_BY_CLASS else Type(found.kind)


def told_of(types: Iterable[Type]) -> Types:
    """Return what other files are told of some objects."""
    return frozenset(map(as_told, filter(is_followed, types)))


def _innermost(found: Type) -> Kind:
    while found.kind is Kind.LIST and found.item is not None:
        found = found.item
    return found.kind


def given_by(types: Iterable[Type]) -> Iterator[Type]:
    """Yield what calling any of them may give."""
    for each in types:
        if each.kind is Kind.CALLABLE and each.item is not None:
            yield each.item


def _depth(found: Type | None) -> int:
    return 0 if found is None or found.kind not in _HOLDING else 1 + _depth(found.item)


def items_of(types: Types) -> Iterator[Type]:
    """Yield what the elements of lists may be."""
    for each in types:
        if each.kind is Kind.LIST and each.item is not None:
            yield each.item
            if _depth(each) >= _MAX_LIST_DEPTH:
                yield each


def parts_of(types: Types) -> Iterator[Type]:
    """Yield what is no list, and what is in lists."""
    for each in types:
        inner: Type | None = each
        while inner is not None and inner.kind is Kind.LIST:
            inner = inner.item
        if inner is not None:
            yield inner


def kinds_in(types: Types) -> Iterator[Kind]:
    """Yield the kinds of what is no list, and of what is in lists."""
    return (each.kind for each in parts_of(types))
