"""Values as another file may be told them: without anything of the tree that they were found in."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from kdoctor.syntax.type_sets import as_told, is_followed
from kdoctor.syntax.user_class import UserClass
from kdoctor.syntax.values import UNKNOWN, Parts, Value

OwnClass = Callable[[str], UserClass | None]
"""Returns a class of the module, given by its name, as other modules see it."""


def portable(value: Value, own_class: OwnClass) -> Value | None:
    """Return a value without nodes of its module, None where nothing is left of it."""
    if value.runs or value.is_open or not value or value.makes is not None:
        return None
    if value.type is not None and not is_followed(value.type):
        return None
    own: UserClass | None = None
    if value.own is not None:
        own = own_class(value.own.name)
        if value.type is None or own is None or own.type != value.own.type:
            return None
    parts = None if value.parts is None else _portable_parts(value.parts, own_class)
    told = None if value.type is None else as_told(value.type)
    return replace(value, type=told, own=own, parts=parts, exact=False, is_foreign=True)


def _portable_parts(parts: Parts, own_class: OwnClass) -> Parts:
    known = tuple((key, portable(each, own_class) or UNKNOWN) for key, each in parts.known)
    rest = None if parts.rest is None else portable(parts.rest, own_class) or UNKNOWN
    return replace(parts, known=known, rest=rest)
