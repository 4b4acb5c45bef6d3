"""Inferred values: type, user-defined class, and what is in containers; operations on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import libcst as cst
from msgspec import Struct
from msgspec.structs import replace

from kdoctor.syntax.user_class import UserClass
from kdoctor.value_types import Kind, Type

_MAX_PARTS: Final = 16  # of a tuple or dict that are told apart
_BASES: Final = {
    Kind.MODEL: "Functional",
    Kind.LAYER: "Layer",
    Kind.OPTIMIZER: "Optimizer",
    Kind.LOSS: "Loss",
    Kind.METRIC: "Metric",
    Kind.CALLBACK: "Callback",
}
"""What makes the objects that nobody made of a class of their own."""
_MAX_DEPTH: Final = 4  # of containers in each other: `x = x, x` has no end


class Value(Struct, frozen=True):
    """An inferred value: its type, and its class if that is user-defined.

    ``is_none``: it is the literal None, which says nothing about the name that holds it.
    ``is_open``: it is what is being inferred, in a ring, of which nothing has been found yet.
    ``exact`` is false where it may be of a subclass: a declared parameter, ``self``.
    ``parts`` is what a container holds, where its type does not tell all of that. ``makes``: it is
    a class, and calling it makes that. ``runs``: calling it runs one of these functions.
    ``is_foreign``: it comes from another file, where more may have been done with it.
    """

    type: Type | None = None
    own: UserClass | None = None
    is_none: bool = False
    exact: bool = True
    is_open: bool = False
    parts: Parts | None = None
    makes: Value | None = None
    runs: tuple[cst.FunctionDef | cst.Lambda, ...] = ()
    is_foreign: bool = False

    @property
    def may_be_several(self) -> bool:
        """Whether it is what a layer or a model gave: a tensor, or a list of them."""
        return is_tensor(self) and self.type is not None and self.type.cls is None

    def __bool__(self) -> bool:
        is_object = self.type is not None or self.own is not None
        return is_object or self.parts is not None or self.makes is not None or bool(self.runs)


class Parts(Struct, frozen=True):
    """What is in a tuple, a list or a dict.

    ``known``: by index or by key. ``rest``: what any other one is, None where there is no other.
    """

    known: tuple[tuple[int | str, Value], ...] = ()
    rest: Value | None = None
    is_mapping: bool = False
    depth: int = 1

    @property
    def length(self) -> int | None:
        """How long a tuple is, None where that is not known, and of a dict."""
        return len(self.known) if self.rest is None and not self.is_mapping else None

    @property
    def values(self) -> list[Value]:
        """All that is in it."""
        return [*(each for _, each in self.known), *([] if self.rest is None else [self.rest])]

    def at(self, key: int | str) -> Value:
        """Return what is there by an index or a key."""
        rest = UNKNOWN if self.rest is None else self.rest
        if isinstance(key, int) and key < 0 and self.length is not None:
            key += self.length
        return next((each for known, each in self.known if known == key), rest)


UNKNOWN = Value()
NONE = Value(is_none=True)
OPEN = Value(is_open=True)


def of_any_subclass(instance: Value) -> Value:
    """Return what is said to be an instance of a class, given what calling the class makes.

    `keras.Model(x, y)` makes a `Functional`; what is a model may be of any class of models. What is
    a `Layer` is of that class in no message.
    """
    made = instance.type
    if made is not None and instance.own is None and made.cls == _BASES.get(made.kind):
        return replace(instance, type=Type(made.kind))
    return instance


def merged(values: Iterable[Value]) -> Value:
    """Return what is true of all values: their kind, and their class where that is the same."""
    given = list(values)
    real = [each for each in given if not each.is_none and not each.is_open]
    if not real:
        return OPEN if any(each.is_open for each in given) else UNKNOWN
    first = real[0]
    if len(real) == 1 or all(each == first for each in real):
        return first
    if any(each.parts is not None for each in real):
        return _merged_containers(real)
    made = [each.makes for each in real if each.makes is not None]
    if len(made) == len(real):
        shared = either(made)
        return Value(makes=shared) if shared else UNKNOWN
    if all(each.runs for each in real):
        functions = dict.fromkeys(function for each in real for function in each.runs)
        return Value(runs=tuple(functions)) if len(functions) <= _MAX_PARTS else UNKNOWN
    types = [each.type for each in real if each.type is not None]
    if len(types) < len(real) or any(each.kind is not types[0].kind for each in types):
        return UNKNOWN
    if any(each.own is not None for each in real):
        return UNKNOWN  # what one of them defines, another may lack
    same = types[0]
    return Value(
        exact=all(each.exact for each in real),
        is_foreign=any(each.is_foreign for each in real),
        type=Type(
            same.kind,
            same.cls if all(each.cls == same.cls for each in types) else None,
            same.qualified if all(each.qualified == same.qualified for each in types) else None,
            same.item if all(each.item == same.item for each in types) else None,
        ),
    )


def _merged_containers(values: Sequence[Value]) -> Value:
    """Return a container of what is in all of them: a tuple of tuples of the same length."""
    held = [each.parts for each in values if each.parts is not None]
    if all(each.is_mapping for each in held) and len(held) == len(values):
        return mapping_of(entry for each in values for entry in entries_of(each))
    if any(each.is_mapping for each in held):
        return UNKNOWN
    lengths = {each.length for each in held}
    if len(held) == len(values) and len(lengths) == 1 and None not in lengths:
        columns = zip(*(each.values for each in held), strict=True)
        return tuple_of([merged(each) for each in columns])
    shared = merged(map(item_of, values))
    are_lists = all(each.type is not None and each.type.kind is Kind.LIST for each in values)
    return list_of(shared) if are_lists else iterable_of(shared)  # `[a]` or `d.values()`


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


def is_mapping(value: Value) -> bool:
    """Say whether it is a dict of whose values something is known."""
    return value.parts is not None and value.parts.is_mapping


def is_sequence(value: Value) -> bool:
    """Say whether it is a list or a tuple of whose elements something is known."""
    return is_list(value) or (value.parts is not None and not value.parts.is_mapping)


def can_be_filled(value: Value) -> bool:
    """Say whether it is a container into which more can be put: no tuple."""
    if value.parts is None:
        return is_list(value)
    return value.parts.length is None


def item_of(value: Value) -> Value:
    """Return what all elements of a list or a tuple are."""
    if value.is_open:
        return value
    if value.parts is not None:
        return UNKNOWN if value.parts.is_mapping else merged(value.parts.values)
    if value.type is None or value.type.kind is not Kind.LIST:
        return UNKNOWN
    return Value(value.type.item)


def elements_in(value: Value) -> Iterator[Value]:
    """Yield a value that is no container, and all that is in one, however deep."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if each.parts is not None:
            waiting += each.parts.values
        elif is_list(each):
            waiting.append(item_of(each))
        else:
            yield each


def mapped_of(value: Value) -> Value:
    """Return what all values of a dict are."""
    if value.is_open or not is_mapping(value) or value.parts is None:
        return value if value.is_open else UNKNOWN
    return merged(value.parts.values)


def part_at(value: Value, key: int | str) -> Value:
    """Return what a container holds by an index or a key."""
    if value.parts is None or (isinstance(key, str) and not value.parts.is_mapping):
        return item_of(value)
    return value.parts.at(key)


def unpacked(value: Value, path: Iterable[int | None]) -> Value:
    """Return what an unpacking assignment takes of a tuple or a list."""
    for step in path:
        if step is not None and value.parts is not None and not value.parts.is_mapping:
            value = value.parts.at(step) if value.parts.length is not None else item_of(value)
        else:
            value = list_of(item_of(value)) if step is None else item_of(value)
    return value


def joined(lists: Iterable[Value]) -> Value:
    """Return the list that ``+`` makes of lists."""
    return list_of(merged(map(item_of, lists)))


def list_of(value: Value) -> Value:
    """Return a list of such values."""
    if value.is_open:
        return value
    if not value:
        return UNKNOWN
    made = Type(Kind.LIST, item=value.type) if value.type is not None else None
    if made is not None and value.exact and value.own is None and value.parts is None:
        return Value(made)
    return _container(made, Parts(rest=value))


def iterable_of(value: Value) -> Value:
    """Return what gives such values, and is no list: a set, a view, a generator."""
    return value if value.is_open else _container(None, Parts(rest=value)) if value else UNKNOWN


def tuple_of(values: Sequence[Value]) -> Value:
    """Return a tuple of such values, a list of what they share where there are many."""
    shared = list_of(merged(values))
    if shared.is_open or not any(map(_tells, values)) or len(values) > _MAX_PARTS:
        return shared
    return _container(shared.type, Parts(tuple(enumerate(values))))


def mapping_of(entries: Iterable[tuple[int | str | None, Value]]) -> Value:
    """Return the dict that such entries make, in any order; None stands for any key."""
    by_key: dict[int | str | None, list[Value]] = {}
    for key, value in entries:
        by_key.setdefault(key, []).append(value)
    anywhere = by_key.pop(None, [])
    if len(by_key) > _MAX_PARTS:
        anywhere += (each for found in by_key.values() for each in found)
        by_key.clear()
    known = [(key, merged((*found, *anywhere))) for key, found in by_key.items() if key is not None]
    rest = merged(anywhere) if anywhere else None
    every = [value for _, value in known] if rest is None else [rest, *(each for _, each in known)]
    if not any(map(_tells, every)):
        return UNKNOWN
    return _container(None, Parts(tuple(known), rest, is_mapping=True))


def entries_of(value: Value) -> list[tuple[int | str | None, Value]]:
    """Return the entries of a dict, as ``mapping_of`` takes them: anything of what is none."""
    if value.parts is None or not value.parts.is_mapping:
        return [(None, value if value.is_open else UNKNOWN)]
    rest = value.parts.rest
    return [*value.parts.known, *([] if rest is None else [(None, rest)])]


def _tells(value: Value) -> bool:
    return bool(value) or value.is_open


def _container(made: Type | None, parts: Parts) -> Value:
    inner = (each.parts.depth for each in parts.values if each.parts is not None)
    depth = 1 + max(inner, default=0)
    return UNKNOWN if depth > _MAX_DEPTH else Value(made, parts=replace(parts, depth=depth))
