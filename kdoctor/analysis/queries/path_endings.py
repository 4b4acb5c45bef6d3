"""Conditions on paths: how what is passed as one could end, before anything is parsed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kdoctor.analysis.dataflow.may_values import may_arguments_in, may_iterables_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.call_query import CallQuery
from kdoctor.analysis.triggers import Trigger, may_be_called_on, may_hold, word
from kdoctor.keras_api import split_root
from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.syntax.ast_walk import leaf_of
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts
from kdoctor.value_types import Kind

if TYPE_CHECKING:
    from kdoctor.syntax.may_types import MayTypes

_TAKE_PATHS = frozenset({
    *("join", "Path", "PurePath", "PosixPath", "abspath", "expanduser", "normpath", "str"),
    *("fspath", "joinpath", "with_name", "with_suffix"),
})  # fmt: skip
_GIVE_NUMBERS = frozenset({
    *("int", "len", "float", "round", "range", "enumerate"),
    *("time", "time_ns", "perf_counter", "getpid"),
})  # fmt: skip
_MAX_DEPTH = 8
_OF_PATHS = frozenset({"as_posix", "absolute", "expanduser"})
_ENDS_IN_A_FIELD = pattern(r"(?:\}|%[\d.hlL*+# -]*[a-zA-Z%])$")

Ends = Callable[[ast.Constant | ast.JoinedStr, str], bool]
"""Told of a literal and the text at its end."""


def uses(speaks: Callable[[QuickFacts, TargetFacts, QuickCall], bool], *names: str) -> Trigger:
    """A method of a model, or a function of Keras, is called so, and ``speaks`` holds of it."""

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        return any(
            speaks(quick, facts, called) and _may_be_of_keras(quick, facts, called)
            for name in names
            for called in quick.calls_of(name)
        )

    return Trigger.needing(names, holds)


def _may_be_of_keras(quick: QuickFacts, facts: TargetFacts, called: QuickCall) -> bool:
    return any(split_root(each) is not None for each in called.names) or (
        may_be_called_on(quick, facts, (called,), {Kind.MODEL})
    )


def passes_path(name: str, place: int, ends: Ends) -> Trigger:
    """Such a use gets a path, at this position or by keyword, of which ``ends`` may hold."""
    return uses(lambda quick, facts, called: may_be_path(quick, facts, called, place, ends), name)


def path_ends(
    calls: CallQuery, name: str, place: int, ends: Callable[[TargetFacts], Ends]
) -> Trigger:
    """Such a call passes a path, as this argument, of which ``ends`` may hold on the target."""

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        asked = ends(facts)
        return any(
            (path := called.argument(name, place)) is not None
            and may_end(quick, facts, called, path, asked)
            for called in calls.may_find(quick, facts)
        )

    return calls.trigger & Trigger(holds)


def may_be_path(
    quick: QuickFacts, facts: TargetFacts, called: QuickCall, place: int, ends: Ends
) -> bool:
    """Say whether ``ends`` may hold of the path that a call takes at this position."""
    return any(may_end(quick, facts, called, each, ends) for each in _paths(called, place))


def may_end(
    quick: QuickFacts, facts: TargetFacts, called: QuickCall, path: ast.expr, ends: Ends
) -> bool:
    """Say whether ``ends`` holds of how a path may end, as far as a rule could know.

    Its names are those of the function that the call stands in.
    """

    def holds(possible: MayTypes) -> bool:
        own = partial(possible.symbol_table.own_values, place=called.node)
        return _may_end(quick, path, ends, own)

    # Where no name of the file ends so, nobody need ask which is whose.
    return _may_end(quick, path, ends) and may_hold(quick, facts, holds)


def _may_end(
    quick: QuickFacts,
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
    for value in _values(quick, path) if values is None else values:
        parts = _parts(quick, value, ends)
        elsewhere = isinstance(value, ast.Attribute | ast.Subscript)
        inner = None if elsewhere else own_values
        if parts is True or any(_may_end(quick, part, ends, inner, seen) for part in parts or ()):
            return True
    return False


def _parts(quick: QuickFacts, value: ast.expr, ends: Ends) -> Sequence[ast.expr] | bool:
    """Return what a path ends in; or whether ``ends`` may hold of it, where that is clear here."""
    match value:
        case ast.Constant(value=str() as text):
            return ends(value, text)
        case ast.JoinedStr(values=[*_, ast.Constant(value=str() as text)]):
            return ends(value, text)
        case ast.JoinedStr(values=[*_, ast.FormattedValue()]):
            return True
        case ast.BinOp(op=ast.Div() | ast.Add(), right=part):
            return [part]
        case (
            ast.BinOp(op=ast.Mod(), left=part)
            | ast.Call(func=ast.Attribute(attr="format", value=part))
        ):  # fmt: skip
            return _may_end_in_a_field(quick, part) or [part]
        case ast.Call(func=ast.Attribute(attr="strftime")) | ast.Call(func=ast.Name(id="strftime")):
            return True
        case ast.Call(func=ast.Attribute(attr="join", value=ast.Constant())):
            return True
        case ast.Call(func=ast.Attribute(attr=leaf, value=part), args=[]) if leaf in _OF_PATHS:
            return [part]
        case ast.Call(func=ast.Name(id="str"), args=[part]):
            return _may_be_number(quick, part) or [part]
        case ast.Call(func=function, args=[*_, part]) if _takes_paths(quick, function):
            return [part]
        case ast.IfExp():
            return [value.body, value.orelse]
        case ast.BoolOp():
            return value.values
        case ast.List() | ast.Tuple():  # what a loop runs over
            return value.elts
        case ast.Attribute(attr=name):
            return _stored(quick).get(name, [])
        case ast.Subscript(value=ast.Name() as held, slice=ast.Constant(value=str() as key)):
            return _kept(quick, held, key)
    return False


def _values(quick: QuickFacts, path: ast.expr) -> list[ast.expr]:
    """Return an expression, or all that a name may be: what is assigned, or looped over."""
    looped = may_iterables_of(quick, path.id) if isinstance(path, ast.Name) else ()
    return [*quick.values_of(path), *looped]


@once
def _stored(quick: QuickFacts) -> dict[str, list[ast.expr]]:
    """Return all that is assigned to attributes, and in the bodies of classes, by name."""
    found = {name: [*values] for name, values in quick.assigned.items()}
    assigns = (*quick.nodes.get(ast.Assign, ()), *quick.nodes.get(ast.AnnAssign, ()))
    for each in assigns:
        targets = each.targets if isinstance(each, ast.Assign) else [each.target]
        for target in targets:
            if isinstance(target, ast.Attribute) and each.value is not None:
                found.setdefault(target.attr, []).append(each.value)
    return found


def _may_end_in_a_field(quick: QuickFacts, template: ast.expr) -> bool:
    texts = (
        each.value
        for value in quick.values_of(template)
        for each in ast.walk(value)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )
    return any(_ENDS_IN_A_FIELD.search(each) is not None for each in texts)


def _may_be_number(quick: QuickFacts, node: ast.expr, depth: int = 0) -> bool:
    """Say whether an expression may be what a rule knows for a number."""
    match node:
        case ast.Constant(value=value):
            return not isinstance(value, str)
        case ast.UnaryOp(operand=operand):
            return _may_be_number(quick, operand, depth + 1)
        case ast.BinOp(left=one, right=other) | ast.IfExp(body=one, orelse=other):
            return all(_may_be_number(quick, each, depth + 1) for each in (one, other))
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name in _GIVE_NUMBERS
        case ast.Name():
            return depth > _MAX_DEPTH or any(
                _may_be_number(quick, each, depth + 1) for each in _values(quick, node)
            )
    return False


def _kept(quick: QuickFacts, held: ast.Name, key: str) -> list[ast.expr]:
    """Return what dicts that are written out hold at a key."""
    return [
        value
        for each in quick.values_of(held)
        if isinstance(each, ast.Dict)
        for name, value in zip(each.keys, each.values, strict=True)
        if isinstance(name, ast.Constant) and name.value == key
    ]


def _takes_paths(quick: QuickFacts, function: ast.expr) -> bool:
    leaf = function.attr if isinstance(function, ast.Attribute) else ""
    if leaf in _TAKE_PATHS or (isinstance(function, ast.Name) and function.id in _TAKE_PATHS):
        return True
    return any(each.rpartition(".")[2] in _TAKE_PATHS for each in quick.meant_by(function))


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
    """Ask for paths that end in one of these, or in what may be the end of one."""
    return lambda _, text: text.endswith(endings) or any(each.endswith(text) for each in endings)


def hands_path(name: str, place: int, ends: Ends) -> Trigger:
    """What is called so gets a parameter for its path, which may get one of which ``ends`` holds.

    Be it a method of a model, or a function of Keras. The parameter is one of the functions around.
    """

    def is_handed(quick: QuickFacts, facts: TargetFacts, called: QuickCall) -> bool:
        def holds(possible: MayTypes) -> bool:
            around = possible.symbol_table.nodes_around(called.node)
            return any(
                _may_end(quick, value, ends)
                for each in _paths(called, place)
                if isinstance(each, ast.Name)
                for value in may_arguments_in(quick, each.id, around)
            )

        return may_hold(quick, facts, holds)

    return uses(is_handed, name)


def path_made_by(name: str, place: int, *makers: str) -> Trigger:
    """What is called so gets a path that a call of something of such a name makes.

    Be it a method of a model, or a function of Keras; the path may be a name of what is made.
    """

    def is_made(quick: QuickFacts, facts: TargetFacts, called: QuickCall) -> bool:
        def holds(possible: MayTypes) -> bool:
            bound = possible.symbol_table.by_name
            return any(
                isinstance(made, ast.Call) and leaf_of(made.func) in made_so
                for each in _paths(called, place)
                for made in (
                    (one.value for one in bound.get(each.id, ()))
                    if isinstance(each, ast.Name)
                    else (each,)
                )
            )

        made_so = {*makers, *_local_names(quick, makers)}
        return may_hold(quick, facts, holds)

    return word(*makers) & uses(is_made, name)


def _local_names(quick: QuickFacts, names: Collection[str]) -> Iterator[str]:
    """Yield what the file calls something that may be called by one of these names elsewhere."""
    for local, meanings in quick.locals.items():
        if any(each.rpartition(".")[2] in names for each in meanings):
            yield local


def _paths(called: QuickCall, place: int) -> Iterator[ast.expr]:
    """Yield what a call takes for a path: by keyword, or at this position."""
    given = (called.argument(keyword, place) for keyword in ("filepath", "path"))
    return (each for each in given if each is not None)
