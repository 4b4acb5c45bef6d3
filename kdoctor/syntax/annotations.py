"""What a type annotation declares: a class, a list of it, an optional."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import Final, Protocol

import libcst as cst
from msgspec import Struct
from msgspec.structs import replace

from kdoctor import parse_ast
from kdoctor.lazy_regex import pattern
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.literals import literal
from kdoctor.syntax.values import (
    NONE,
    UNKNOWN,
    Value,
    iterable_of,
    list_of,
    mapping_of,
    merged,
    tuple_of,
)

_CHAIN = pattern(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
TUPLES: Final = frozenset({"Tuple", "tuple"})
LISTS: Final = TUPLES | {"List", "list", "Sequence", "Iterable", "Collection"}
ITERABLES: Final = frozenset({"Iterator", "Generator", "Set", "set", "FrozenSet", "frozenset"})
MAPPINGS: Final = frozenset({
    *("Dict", "dict", "DefaultDict", "Mapping", "MutableMapping", "OrderedDict"),
})  # fmt: skip
SAME: Final = frozenset({"Annotated", "ClassVar", "Final", "Required", "NotRequired"})
EITHER: Final = frozenset({"Optional", "Union"})
CLASSES: Final = frozenset({"Type", "type"})
HOLDING: Final = LISTS | ITERABLES | MAPPINGS


class Names(Protocol):
    """What the names in annotations are."""

    def instance(self, cls: cst.BaseExpression) -> Value:
        """Return what an instance of a class is that an expression names."""

    def instance_of_text(self, place: cst.CSTNode, text: str) -> Value:
        """Return the same for a dotted name, as it is read at a place."""


class _TextNames(Struct, frozen=True):
    """The names in an annotation that is text, at its place."""

    names: Names
    place: cst.CSTNode

    def instance(self, cls: cst.BaseExpression) -> Value:
        return self.instance_of_text(self.place, dotted_name(cls) or "")

    def instance_of_text(self, place: cst.CSTNode, text: str) -> Value:  # noqa: ARG002
        return self.names.instance_of_text(self.place, text)


def declared(annotation: cst.BaseExpression, names: Names) -> Value:
    """Return the declared type."""
    match annotation:
        case cst.Name(value="None"):
            return NONE
        case cst.SimpleString():
            inner = _parsed(annotation)
            if inner is None:
                return names.instance_of_text(annotation, annotation.raw_value)
            return declared(inner, _TextNames(names, annotation))
        case cst.Name() | cst.Attribute():
            return names.instance(annotation)
        case cst.BinaryOperation(operator=cst.BitOr()):
            sides = (annotation.left, annotation.right)
            return merged(declared(each, names) for each in sides)
        case cst.Subscript():
            return _subscripted(annotation, names)
        case _:
            return UNKNOWN


def _subscripted(annotation: cst.Subscript, names: Names) -> Value:
    name = (dotted_name(annotation.value) or "").rpartition(".")[2]
    parts = [each.slice.value for each in annotation.slice if isinstance(each.slice, cst.Index)]
    if not parts or len(parts) < len(annotation.slice):
        return UNKNOWN
    if name in SAME:
        return declared(parts[0], names)
    if name in MAPPINGS:
        return mapping_of([(None, replace(declared(parts[-1], names), exact=False))])
    has_many = isinstance(parts[-1], cst.Ellipsis)
    told = [declared(each, names) for each in parts[: -1 if has_many else None]]
    if name in CLASSES:
        return Value(makes=replace(told[0], exact=False)) if told[0] else UNKNOWN
    if name in EITHER:
        return merged(told)
    if name in TUPLES and not has_many:
        return tuple_of([replace(each, exact=False) for each in told])
    if name in LISTS:
        return list_of(replace(merged(told), exact=False))
    return iterable_of(replace(told[0], exact=False)) if name in ITERABLES else UNKNOWN


def _parsed(text: cst.SimpleString) -> cst.BaseExpression | None:
    """Return the expression in an annotation that is text, None where it is a name at most."""
    written = literal(text)
    if not isinstance(written, str) or not {"[", "|"} & {*written}:
        return None
    try:
        inner = cst.parse_expression(written.strip())
    except (cst.ParserSyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return inner


def leaves_open(annotation: cst.BaseExpression) -> bool:
    """Say whether an annotation is too general, like `object` or a library's class.

    Not where a type of Python itself is named, or more than one class.
    """
    match annotation:
        case cst.SimpleString():
            text = literal(annotation)
            name = text.strip() if isinstance(text, str) else ""
        case cst.Subscript(
            value=outer, slice=[cst.SubscriptElement(slice=cst.Index(value=inner))]
        ) if (dotted_name(outer) or "").rpartition(".")[2] == "Optional":
            return leaves_open(inner)
        case _:
            name = dotted_name(annotation) or ""
    return name == "object" or (_CHAIN.fullmatch(name) is not None and not hasattr(builtins, name))


def names_in_string(node: cst.SimpleString | cst.ConcatenatedString) -> Iterator[str]:
    """Yield the dotted names in a string annotation."""
    value = literal(node)
    if not isinstance(value, str):
        return
    try:
        waiting: list[ast.AST] = [parse_ast.parse(value.strip(), mode="eval").body]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    while waiting:
        each = waiting.pop()
        parts: list[str] = []
        inner = each
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name):
            yield ".".join([inner.id, *reversed(parts)])
            continue
        waiting += reversed(list(ast.iter_child_nodes(each)))
