"""What a type annotation declares: a class, a list of it, an optional."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator

import libcst as cst

from kdoctor import parse_ast
from kdoctor.lazy_regex import pattern
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.literals import literal
from kdoctor.syntax.values import NONE, UNKNOWN, Value, list_of, merged

_CHAIN = pattern(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_LISTS = frozenset({"List", "list", "Sequence", "Iterable", "Tuple", "tuple", "Collection"})


def declared(
    annotation: cst.BaseExpression, instance: Callable[[cst.BaseExpression], Value]
) -> Value:
    """Return the declared type; ``instance`` maps a class name to its instances' type."""
    match annotation:
        case cst.Name(value="None"):
            return NONE
        case cst.Name() | cst.Attribute() | cst.SimpleString():
            return instance(annotation)
        case cst.BinaryOperation(operator=cst.BitOr()):
            sides = (annotation.left, annotation.right)
            return merged(declared(each, instance) for each in sides)
        case cst.Subscript():
            name = (dotted_name(annotation.value) or "").rpartition(".")[2]
            parts = [each.slice for each in annotation.slice]
            told = merged(
                declared(each.value, instance) if isinstance(each, cst.Index) else UNKNOWN
                for each in parts
                if not (isinstance(each, cst.Index) and isinstance(each.value, cst.Ellipsis))
            )
            if name == "Optional":
                return told
            return list_of(told) if name in _LISTS else UNKNOWN
        case _:
            return UNKNOWN


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
