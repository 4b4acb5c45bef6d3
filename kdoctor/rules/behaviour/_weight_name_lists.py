"""Names of weights that are collected first: `names = [w.name for w in model.weights]`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.dataflow.uses import reads_of
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import BindingKind

_LOOKING: Final = frozenset({"index", "count", "get"})

Wanted = Callable[[cst.BaseExpression], str | None]
"""Return the text that is looked for in one name, if any."""


def texts_looked_for(module: Module, name: cst.BaseExpression, wanted: Wanted) -> Iterator[str]:
    """Yield the texts that are looked for among the names which a comprehension collects."""
    collected = module.parent(name)
    match collected:
        case cst.ListComp(elt=part) | cst.SetComp(elt=part) | cst.DictComp(key=part) if (
            part is name
        ):
            for use in _uses(module, collected):
                yield from _looked_for(module, use, wanted)


def _uses(module: Module, collected: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield where the collection is used: at its place, or by the one name that it has."""
    yield collected
    assign = module.parent(collected)
    match assign:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)]):
            for read in reads_of(module, target):
                bindings = module.bindings_at(read)
                if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN:
                    yield read


def _looked_for(module: Module, use: cst.BaseExpression, wanted: Wanted) -> Iterator[str]:
    parent = module.parent(use)
    match parent:
        case cst.Comparison(left=left, comparisons=[one]) if left is use:
            yield from _texts(one.comparator)
        case cst.ComparisonTarget():
            whole = module.parent(parent)
            if isinstance(whole, cst.Comparison) and len(whole.comparisons) == 1:
                yield from _texts(whole.left)
        case cst.Attribute(attr=cst.Name(value=method)) if method in _LOOKING:
            call = module.parent(parent)
            if isinstance(call, cst.Call) and call.func is parent:
                yield from (text for each in call.args[:1] for text in _texts(each.value))
        case cst.Subscript(
            value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]
        ) if value is use:
            yield from _texts(index)
            text = wanted(parent)
            if text is not None:
                yield text
        case cst.For(target=cst.Name() as target) | cst.CompFor(target=cst.Name() as target) if (
            parent.iter is use
        ):
            found = (wanted(each) for each in reads_of(module, target))
            yield from (each for each in found if each is not None)


def _texts(node: cst.BaseExpression) -> Iterator[str]:
    """Yield the texts that are written out, alone or in a list."""
    parts = (
        [each.value for each in node.elements]
        if isinstance(node, cst.List | cst.Tuple | cst.Set)
        else [node]
    )
    yield from (text for each in parts if isinstance(text := literal(each), str))
