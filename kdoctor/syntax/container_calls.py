"""What Python's own functions and methods make of containers: ``zip``, ``items``, ``pop``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from kdoctor.syntax.values import (
    NONE,
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
)

LIST_MAKERS: Final = frozenset({"list", "tuple", "reversed", "sorted", "iter"})
BUILTINS: Final = LIST_MAKERS | {"dict", "enumerate", "filter", "max", "min", "next", "set", "zip"}
COPYING: Final = frozenset({"copy.copy", "copy.deepcopy"})
METHODS: Final = frozenset({"copy", "get", "items", "pop", "popitem", "setdefault", "values"})
"""The methods of containers that give what is in them."""
_ITEMS_GIVEN: Final = frozenset({"max", "min", "next"})


def builtin_result(name: str, given: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Return what a function of Python makes of what it is given."""
    if name == "dict":
        return dict_of(given, named)
    if not given:
        return UNKNOWN
    if name in LIST_MAKERS:
        return given[0] if _is_plain(given[0]) else list_of(item_of(given[0]))
    match name:
        case "enumerate":
            return iterable_of(tuple_of([UNKNOWN, item_of(given[0])]))
        case "zip":
            return iterable_of(tuple_of([item_of(each) for each in given]))
        case "filter":
            return iterable_of(item_of(given[-1]))
        case "set":
            return iterable_of(item_of(given[0]))
    items = item_of(given[0])
    is_one = name in _ITEMS_GIVEN and (len(given) == 1 or name == "next")
    return merged((items, *given[1:], *_default(named))) if is_one else UNKNOWN


def _is_plain(value: Value) -> bool:
    """Say whether it is a list of which its type tells all."""
    return value.parts is None and bool(item_of(value))


def _default(named: Mapping[str, Value]) -> Sequence[Value]:
    return [named["default"]] if "default" in named else []


def dict_of(given: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Return the dict that such arguments make: another one, pairs, keywords."""
    entries = list[tuple[int | str | None, Value]](named.items())
    if given:
        pairs = UNKNOWN if is_mapping(given[0]) else part_at(item_of(given[0]), 1)
        entries += entries_of(given[0]) if not pairs else [(None, pairs)]
    return mapping_of(entries)


def method_result(
    owner: Value, method: str, given: Sequence[Value], key: int | str | None
) -> Value:
    """Return what a method of a container gives; ``key``: the first argument, None for any."""
    if is_mapping(owner):
        return _dict_method_result(owner, method, given, key)
    if is_sequence(owner):
        if method == "pop":
            return item_of(owner)
        return owner if method == "copy" else UNKNOWN
    return UNKNOWN


def _dict_method_result(
    owner: Value, method: str, given: Sequence[Value], key: int | str | None
) -> Value:
    values = mapped_of(owner)
    match method:
        case "values":
            return iterable_of(values)
        case "items":
            return iterable_of(tuple_of([UNKNOWN, values]))
        case "popitem":
            return tuple_of([UNKNOWN, values])
        case "copy":
            return owner
        case "get" | "pop" | "setdefault" if given:
            found = values if key is None else part_at(owner, key)
            return merged((found, *(given[1:] or [NONE])))
    return UNKNOWN
