"""Group the code blocks of a page: which continue earlier ones.

A tutorial imports once, and goes on from fence to fence. A piece that needs a name that it does not
bind cannot run alone: it goes on with the last one before it that binds such a name. A piece that
needs nothing is a module of its own, so that two whole programs on one page do not mix.
"""

from __future__ import annotations

import builtins
import symtable
import warnings
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from kdoctor.documents.unit import Kept

_BUILTIN: Final = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__"}


class _Names(Struct, frozen=True):
    """What a piece binds at its top level, and what it needs from elsewhere."""

    bound: frozenset[str]
    needed: frozenset[str]


def modules(pieces: Sequence[Sequence[Kept]]) -> list[list[Kept]]:
    """Return the pieces of a page, those that go on with earlier ones behind these.

    The modules stand in the order of their first pieces.
    """
    found: list[list[Kept]] = []
    binders: dict[str, int] = {}  # by a name, the last module that binds it
    for piece in pieces:
        names = _names("\n".join(each.text for each in piece))
        number = max((binders[each] for each in names.needed if each in binders), default=None)
        if number is None:
            number = len(found)
            found.append([])
        found[number] += piece
        for each in names.bound:
            binders[each] = max(number, binders.get(each, 0))
    return found


def _names(text: str) -> _Names:
    try:
        with warnings.catch_warnings(action="ignore"):  # an odd escape is not our news
            top = symtable.symtable(text, "<excerpt>", "exec")
    except (SyntaxError, RecursionError):  # no module, though its syntax is Python's: alone
        return _Names(frozenset(), frozenset())
    bound = frozenset(
        each.get_name() for each in top.get_symbols() if each.is_assigned() or each.is_imported()
    )
    used = frozenset(
        each.get_name()
        for table in _tables(top)
        for each in table.get_symbols()
        if each.is_global() and each.is_referenced()
    )
    return _Names(bound, used - bound - _BUILTIN)


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)
