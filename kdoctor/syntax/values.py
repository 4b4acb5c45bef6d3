"""Inferred values: type and user-defined class; operations on them."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from kdoctor.syntax.classes import UserClass
from kdoctor.value_types import Kind, Type


class Value(Struct, frozen=True):
    """An inferred value: its type, and its class if that is user-defined.

    ``is_none``: it is the literal None, which says nothing about the name that holds it.
    ``is_open``: it is what is being inferred, in a ring, of which nothing has been found yet.
    ``exact`` is false where it may be of a subclass: a declared parameter, ``self``.
    """

    type: Type | None = None
    own: UserClass | None = None
    is_none: bool = False
    exact: bool = True
    is_open: bool = False

    @property
    def may_be_several(self) -> bool:
        """Whether it is what a layer or a model gave: a tensor, or a list of them."""
        return is_tensor(self) and self.type is not None and self.type.cls is None

    def __bool__(self) -> bool:
        return self.type is not None or self.own is not None


UNKNOWN = Value()
NONE = Value(is_none=True)
OPEN = Value(is_open=True)


def merged(values: Iterable[Value]) -> Value:
    """Return what is true of all values: their kind, and their class where that is the same."""
    given = list(values)
    real = [each for each in given if not each.is_none and not each.is_open]
    if not real:
        return OPEN if any(each.is_open for each in given) else UNKNOWN
    first = real[0]
    if all(each == first for each in real):
        return first
    types = [each.type for each in real if each.type is not None]
    if len(types) < len(real) or any(each.kind is not types[0].kind for each in types):
        return UNKNOWN
    if any(each.own is not None for each in real):
        return UNKNOWN  # what one of them defines, another may lack
    same = types[0]
    return Value(
        exact=all(each.exact for each in real),
        type=Type(
            same.kind,
            same.cls if all(each.cls == same.cls for each in types) else None,
            same.qualified if all(each.qualified == same.qualified for each in types) else None,
            same.item if all(each.item == same.item for each in types) else None,
        ),
    )


def either(values: Iterable[Value]) -> Value:
    """Return what is true of all instances, each of which may be of a class of the user's own.

    What any of these classes defines may be the user's.
    """
    real = list(values)
    owns = [each.own for each in real if each.own is not None]
    shared = merged(replace(each, own=None) for each in real)
    if not owns or not all(real) or shared.type is None:
        return shared if not owns else UNKNOWN
    own = UserClass(shared.type.cls or "", shared.type, tuple(dict.fromkeys(owns)))
    return replace(shared, own=own)


def same_kind(one: Type, other: Type) -> bool:
    """Say whether both are the same kind of object, or lists of the same kind."""
    if one.item is None or other.item is None:
        return one.kind is other.kind and one.item is other.item
    return one.kind is other.kind and one.item.kind is other.item.kind


def is_tensor(value: Value) -> bool:
    """Say whether it is a tensor, symbolic or with values."""
    return value.type is not None and value.type.kind in {Kind.TENSOR, Kind.EAGER}


def is_list(value: Value) -> bool:
    """Say whether it is a list of things of which something is known."""
    return value.type is not None and value.type.kind is Kind.LIST


def item_of(value: Value) -> Value:
    """Return what the elements of a list are."""
    if value.is_open:
        return value
    if value.type is None or value.type.kind is not Kind.LIST:
        return UNKNOWN
    return Value(value.type.item)


def joined(lists: Iterable[Value]) -> Value:
    """Return the list that ``+`` makes of lists."""
    return list_of(merged(map(item_of, lists)))


def list_of(value: Value) -> Value:
    """Return a list of such values."""
    if value.is_open:
        return value
    if value.type is None or value.own is not None:
        return UNKNOWN
    return Value(Type(Kind.LIST, item=value.type))
