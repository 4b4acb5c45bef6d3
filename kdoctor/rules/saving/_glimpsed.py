"""Which paths a glimpse of a source shows: how each could end, before anything is parsed."""

from __future__ import annotations

import ast
from collections.abc import Callable

from kdoctor.rules.facts import Facts
from kdoctor.rules.triggers import Trigger
from kdoctor.syntax.glimpse import Called, Glimpse

_TAKE_PATHS = frozenset({
    *("join", "Path", "PurePath", "PosixPath", "abspath", "expanduser", "normpath", "str"),
})  # fmt: skip

Ends = Callable[[ast.Constant | ast.JoinedStr, str], bool]
"""Told of a literal and the text at its end."""


def passes_path(places: dict[str, int], ends: Ends) -> Trigger:
    """Something of such a name is called with a path of which ``ends`` may hold.

    ``places`` tells at which position it takes the path.
    """

    def holds(glimpse: Glimpse, _: Facts) -> bool:
        return any(
            may_be_path(glimpse, called, place, ends)
            for name, place in places.items()
            for called in glimpse.calls_of(name)
        )

    return Trigger.needing(places, holds)


def may_be_path(glimpse: Glimpse, called: Called, place: int, ends: Ends) -> bool:
    """Say whether ``ends`` may hold of the path that a call takes at this position."""
    given = (called.argument(keyword, place) for keyword in ("filepath", "path"))
    return any(each is not None and may_end(glimpse, each, ends) for each in given)


def may_end(
    glimpse: Glimpse, path: ast.expr, ends: Ends, seen: set[str | int] | None = None
) -> bool:
    """Say whether ``ends`` holds of how a path may end, as far as ``_paths.ending`` could know."""
    seen = set() if seen is None else seen
    own = path.id if isinstance(path, ast.Name) else id(path)
    if own in seen:  # names that are made of each other: each is followed once
        return False
    seen.add(own)
    for value in glimpse.values_of(path):
        match value:
            case ast.Constant(value=str() as text):
                found = ends(value, text)
            case ast.JoinedStr(values=[*_, ast.Constant(value=str() as text)]):
                found = ends(value, text)
            case (
                ast.BinOp(op=ast.Div() | ast.Add(), right=part) | ast.BinOp(op=ast.Mod(), left=part)
            ):
                found = may_end(glimpse, part, ends, seen)
            case ast.Call(func=ast.Attribute(attr="format", value=part)):
                found = may_end(glimpse, part, ends, seen)
            case ast.Call(func=function, args=[*_, part]) if _takes_paths(glimpse, function):
                found = may_end(glimpse, part, ends, seen)
            case _:
                found = False
        if found:
            return True
    return False


def _takes_paths(glimpse: Glimpse, function: ast.expr) -> bool:
    if isinstance(function, ast.Name) and function.id in _TAKE_PATHS:
        return True
    return any(each.rpartition(".")[2] in _TAKE_PATHS for each in glimpse.meant_by(function))


def but_for(*endings: str) -> Ends:
    """Ask for paths that do not surely end in one of these."""

    def holds(_: object, text: str) -> bool:
        stem = next((text.removesuffix(each) for each in endings if text.endswith(each)), None)
        # Of `x/.h5`, the whole is the name.
        return stem is None or (stem.endswith(("/", "\\")) or not stem)

    return holds


def in_one_piece(*endings: str) -> Ends:
    """Ask for paths that do not surely end so within one literal: of `"a" "b"` the end is `b`."""

    def holds(node: ast.Constant | ast.JoinedStr, text: str) -> bool:
        length = (node.end_col_offset or 0) - node.col_offset
        is_one = node.lineno == node.end_lineno and length <= len(text.encode()) + 3
        return isinstance(node, ast.JoinedStr) or not is_one or not text.endswith(endings)

    return holds


def ending_in(*endings: str) -> Ends:
    """Ask for paths that end in one of these."""
    return lambda _, text: text.endswith(endings)


def calls_of(name: str, speaks: Callable[[Facts, Called], bool]) -> Trigger:
    """Something of such a name is called, and ``speaks`` holds of it."""
    return Trigger.needing(
        {name}, lambda glimpse, facts: any(speaks(facts, each) for each in glimpse.calls_of(name))
    )


LOADS_H5 = passes_path({"load_model": 0}, ending_in(".h5", ".hdf5"))
