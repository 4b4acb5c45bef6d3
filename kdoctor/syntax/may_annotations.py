"""May-types of annotations: the prefilter's counterpart of ``annotations``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from kdoctor import parse_ast
from kdoctor.syntax.annotations import CLASSES, EITHER, HOLDING, SAME
from kdoctor.syntax.ast_walk import leaf_of
from kdoctor.syntax.symbol_table import chain_in
from kdoctor.syntax.type_sets import callable_of, list_of
from kdoctor.value_types import Type

Instances = Callable[[ast.expr], Iterable[Type]]


def declared_types(annotation: ast.expr, instances: Instances) -> Iterator[Type]:
    """Yield what an annotation, or the classes of ``isinstance``, may declare."""
    match annotation:
        case ast.Constant(value=str() as text):
            inner = _parsed(text)
            if inner is not None:
                yield from declared_types(inner, instances)
        case ast.Name() | ast.Attribute():
            yield from instances(annotation)
        case ast.BinOp(left=left, right=right):
            yield from declared_types(left, instances)
            yield from declared_types(right, instances)
        case ast.Tuple(elts=parts):
            for each in parts:
                yield from declared_types(each, instances)
        case ast.Subscript(value=outer, slice=inner):
            told = declared_types(inner, instances)  # of several, any
            leaf = leaf_of(outer)
            if leaf in EITHER or leaf in SAME:
                yield from told
            elif leaf in CLASSES:
                yield from map(callable_of, told)
            elif leaf in HOLDING:
                yield from map(list_of, told)


def _parsed(text: str) -> ast.expr | None:
    if not {"[", "|"} & {*text}:
        return chain_in(text)
    try:
        return parse_ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
