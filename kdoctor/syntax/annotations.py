"""What an annotation declares: one class, a list of it, or that it may be None."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from kdoctor.syntax.imports import dotted
from kdoctor.syntax.values import NONE, UNKNOWN, Value, list_of, merged

_LISTS = frozenset({"List", "list", "Sequence", "Iterable", "Tuple", "tuple", "Collection"})


def declared(
    annotation: cst.BaseExpression, instance: Callable[[cst.BaseExpression], Value]
) -> Value:
    """Return what is declared; ``instance`` tells what the class of a name or a string makes."""
    match annotation:
        case cst.Name(value="None"):
            return NONE
        case cst.Name() | cst.Attribute() | cst.SimpleString():
            return instance(annotation)
        case cst.BinaryOperation(operator=cst.BitOr()):
            sides = (annotation.left, annotation.right)
            return merged(declared(each, instance) for each in sides)
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=inner)), *_]):
            name = (dotted(annotation.value) or "").rpartition(".")[2]
            if name == "Optional":
                return declared(inner, instance)
            return list_of(declared(inner, instance)) if name in _LISTS else UNKNOWN
        case _:
            return UNKNOWN
