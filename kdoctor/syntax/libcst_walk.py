"""Fast walks over libcst trees, in source order.

Whitespace, punctuation and operators are left out: nobody asks what they mean, and they are most
of a tree. libcst's own visitors build every node anew and cost more than the parse itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import libcst as cst

_PUNCTUATION = frozenset({
    "lpar", "rpar", "lbracket", "rbracket", "lbrace", "rbrace", "comma", "semicolon", "dot",
    "equal", "colon", "first_colon", "second_colon", "operator", "leading_lines", "separator",
    "lines_after_decorators", "header", "footer", "asynchronous", "relative", "indicator",
    "posonly_ind", "conversion", "star", "start", "end", "indent", "encoding", "default_indent",
    "default_newline", "has_trailing_newline", "newline", "comment",
})  # fmt: skip
# Classes whose fields stand in another order than in the source.
_SOURCE_ORDER: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.IfExp: ("body", "test", "orelse"),
    cst.Arg: ("keyword", "value"),
    cst.ClassDef: ("decorators", "name", "type_parameters", "bases", "keywords", "body"),
    cst.FunctionDef: ("decorators", "name", "type_parameters", "params", "returns", "body"),
    cst.Parameters: ("posonly_params", "params", "star_arg", "kwonly_params", "star_kwarg"),
    cst.ExceptHandler: ("type", "name", "body"),
    cst.ExceptStarHandler: ("type", "name", "body"),
    cst.With: ("items", "body"),
    cst.MatchAs: ("pattern", "name"),
    cst.MatchCase: ("pattern", "guard", "body"),
    cst.MatchKeywordElement: ("key", "pattern"),
    cst.MatchClass: ("cls", "patterns", "kwds"),
    cst.TypeAlias: ("name", "type_parameters", "value"),
    cst.TypeParam: ("param", "default"),
}


def _child_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    order = _SOURCE_ORDER.get(kind)
    if order is not None:
        return order
    return tuple(
        field.name
        for field in dataclasses.fields(kind)
        if field.name not in _PUNCTUATION
        and "whitespace" not in field.name
        and field.type not in {str, "str", bool, "bool"}
        and not (field.name == "value" and kind in _LEAVES)
    )


_LEAVES = frozenset({
    cst.Name, cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString, cst.FormattedStringText,
    cst.Comment, cst.SimpleWhitespace, cst.Newline,
})  # fmt: skip


_WITH_A_SCOPE = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})


class _Table(dict[type[cst.CSTNode], tuple[str, ...]]):
    def __missing__(self, kind: type[cst.CSTNode]) -> tuple[str, ...]:
        self[kind] = fields = _child_fields(kind)
        return fields


FIELDS = _Table()
"""The fields of each class that may hold child nodes, in source order."""


def _kinds_of(kind: type[cst.CSTNode]) -> Iterator[type[cst.CSTNode]]:
    for each in kind.__subclasses__():
        yield each
        yield from _kinds_of(each)


NODES = frozenset(_kinds_of(cst.CSTNode))  # type: ignore[type-abstract]
"""Every class of nodes. They are abstract base classes: ``isinstance`` asks each time anew, in
Python, and a tree is mostly asked about what it is not."""

STATEMENTS = frozenset(
    kind for base in (cst.BaseSmallStatement, cst.BaseCompoundStatement) for kind in _kinds_of(base)
)
"""Every class of statements, not of the lines that hold small ones."""


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """Return the child nodes worth visiting, in source order."""
    found: list[cst.CSTNode] = []
    for name in FIELDS[node.__class__]:
        value = getattr(node, name)
        kind = value.__class__
        if kind is tuple or kind is list:
            found += value
        elif kind in NODES:
            found.append(value)
    return found


def descendants(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield ``node`` and all nodes below it, in source order."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        # `children`, written out: this is where the time goes.
        for name in reversed(FIELDS[each.__class__]):
            value = getattr(each, name)
            kind = value.__class__
            if kind is tuple or kind is list:
                waiting += reversed(value)
            elif kind in NODES:
                waiting.append(value)


def returned_in(function: cst.FunctionDef) -> list[cst.BaseExpression | None]:
    """Return the values a function returns, None for a bare ``return``."""
    return [each.value for each in own_nodes(function.body) if isinstance(each, cst.Return)]


def own_nodes(body: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the nodes in a function, without nested functions."""
    waiting = [body]
    while waiting:
        node = waiting.pop()
        yield node
        kind = node.__class__
        if FIELDS[kind] and kind not in _WITH_A_SCOPE:
            waiting += reversed(children(node))
