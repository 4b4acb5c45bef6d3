"""May-types of what Python's own functions and methods make of containers.

The counterpart of ``container_calls``, which says what is surely so. Here a list of something
stands for any container of it: a tuple, a dict, a view.
"""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.syntax.container_calls import BUILTINS, METHODS
from kdoctor.syntax.type_sets import Types, items_of, list_of
from kdoctor.value_types import Kind, Type

_GIVE_ITEMS = frozenset({"get", "max", "min", "next", "pop", "setdefault"})
_GIVE_TUPLES = frozenset({"enumerate", "items", "zip"})


def builtin_types(name: str, given: Types) -> Iterator[Type]:
    """Yield what a function of Python may make of what it is given, in whatever order."""
    if name in BUILTINS:
        yield from _made_of(name, given)
    if name == "dict":
        yield from items_of(given)  # of pairs
        yield from map(list_of, given)  # by keyword


def method_types(method: str, owners: Types) -> Iterator[Type]:
    """Yield what a method of a container may give."""
    if method in METHODS:
        yield from _made_of(method, owners)


def _made_of(name: str, given: Types) -> Iterator[Type]:
    if name in _GIVE_ITEMS:
        yield from items_of(given)
        return
    for each in given:
        if each.kind is Kind.LIST:
            yield list_of(each) if name in _GIVE_TUPLES else each
