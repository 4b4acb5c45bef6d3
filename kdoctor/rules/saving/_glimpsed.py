"""Which paths a glimpse of a source shows: how each could end, before anything is parsed."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from kdoctor.keras_api import split_root
from kdoctor.kinds import Kind
from kdoctor.rules.facts import Facts
from kdoctor.rules.saving._paths import H5
from kdoctor.rules.triggers import Trigger, may_be_called_on, may_hold, suffix
from kdoctor.syntax.glimpse import Called, Glimpse

if TYPE_CHECKING:
    from kdoctor.syntax.possible import Possible

_TAKE_PATHS = frozenset({
    *("join", "Path", "PurePath", "PosixPath", "abspath", "expanduser", "normpath", "str"),
})  # fmt: skip

Ends = Callable[[ast.Constant | ast.JoinedStr, str], bool]
"""Told of a literal and the text at its end."""


def uses(speaks: Callable[[Glimpse, Facts, Called], bool], *names: str) -> Trigger:
    """A method of a model, or a function of Keras, is called so, and ``speaks`` holds of it."""

    def holds(glimpse: Glimpse, facts: Facts) -> bool:
        return any(
            speaks(glimpse, facts, called) and _may_be_of_keras(glimpse, facts, called)
            for name in names
            for called in glimpse.calls_of(name)
        )

    return Trigger.needing(names, holds)


def _may_be_of_keras(glimpse: Glimpse, facts: Facts, called: Called) -> bool:
    return any(split_root(each) is not None for each in called.names) or (
        may_be_called_on(glimpse, facts, (called,), {Kind.MODEL})
    )


def passes_path(name: str, place: int, ends: Ends) -> Trigger:
    """Such a use gets a path, at this position or by keyword, of which ``ends`` may hold."""
    return uses(
        lambda glimpse, facts, called: may_be_path(glimpse, facts, called, place, ends), name
    )


def may_be_path(glimpse: Glimpse, facts: Facts, called: Called, place: int, ends: Ends) -> bool:
    """Say whether ``ends`` may hold of the path that a call takes at this position."""
    given = (called.argument(keyword, place) for keyword in ("filepath", "path"))
    return any(each is not None and may_end(glimpse, facts, called, each, ends) for each in given)


def may_end(glimpse: Glimpse, facts: Facts, called: Called, path: ast.expr, ends: Ends) -> bool:
    """Say whether ``ends`` holds of how a path may end, as far as ``_paths.ending`` could know.

    Its names are those of the function that the call stands in.
    """

    def holds(possible: Possible) -> bool:
        own = partial(possible.sketch.own_values, place=called.node)
        return _may_end(glimpse, path, ends, own)

    # Where no name of the file ends so, nobody need ask which is whose.
    return _may_end(glimpse, path, ends) and may_hold(glimpse, facts, holds)


def _may_end(
    glimpse: Glimpse,
    path: ast.expr,
    ends: Ends,
    own_values: Callable[[str], list[ast.expr] | None] | None = None,
    seen: set[str | int] | None = None,
) -> bool:
    seen = set() if seen is None else seen
    own = path.id if isinstance(path, ast.Name) else id(path)
    if own in seen:  # names that are made of each other: each is followed once
        return False
    seen.add(own)
    values = own_values(path.id) if own_values and isinstance(path, ast.Name) else None
    if values is None and isinstance(path, ast.Name):
        own_values = None  # what it is bound to stands elsewhere
    for value in glimpse.values_of(path) if values is None else values:
        match value:
            case ast.Constant(value=str() as text):
                found = ends(value, text)
            case ast.JoinedStr(values=[*_, ast.Constant(value=str() as text)]):
                found = ends(value, text)
            case (
                ast.BinOp(op=ast.Div() | ast.Add(), right=part)
                | ast.BinOp(op=ast.Mod(), left=part)
                | ast.Call(func=ast.Attribute(attr="format", value=part))
            ):
                found = _may_end(glimpse, part, ends, own_values, seen)
            case ast.Call(func=function, args=[*_, part]) if _takes_paths(glimpse, function):
                found = _may_end(glimpse, part, ends, own_values, seen)
            case ast.Subscript(value=ast.Name() as held, slice=ast.Constant(value=str() as key)):
                kept = _kept(glimpse, held, key)
                found = any(_may_end(glimpse, part, ends, None, seen) for part in kept)
            case _:
                found = False
        if found:
            return True
    return False


def _kept(glimpse: Glimpse, held: ast.Name, key: str) -> list[ast.expr]:
    """Return what dicts that are written out hold at a key."""
    return [
        value
        for each in glimpse.values_of(held)
        if isinstance(each, ast.Dict)
        for name, value in zip(each.keys, each.values, strict=True)
        if isinstance(name, ast.Constant) and name.value == key
    ]


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


LOADS_H5 = suffix(*H5) & passes_path("load_model", 0, ending_in(*H5))
