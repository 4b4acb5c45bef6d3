"""The sublayers of a user's layer or model: which have weights, and when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.models.user_classes import member_of_self
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

WITH_WEIGHTS: Final = frozenset({
    *("BatchNormalization", "Bidirectional", "Conv1D", "Conv1DTranspose", "Conv2D"),
    *("Conv2DTranspose", "Conv3D", "Conv3DTranspose", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"),
    *("Dense", "DepthwiseConv1D", "DepthwiseConv2D", "EinsumDense", "Embedding", "GRU", "GRUCell"),
    *("GroupQueryAttention", "LSTM", "LSTMCell", "MultiHeadAttention", "PReLU", "SeparableConv1D"),
    *("SeparableConv2D", "SimpleRNN", "SimpleRNNCell"),
})  # fmt: skip
"""Layers of Keras' own that have weights whatever they are made with, and lack them till built."""
UNLESS_TOLD: Final = frozenset({"GroupNormalization", "LayerNormalization"})
"""Layers that have weights unless they are made with ``center=False`` and ``scale=False``."""

GROW: Final = frozenset({"append", "extend", "insert"})
"""Methods that add to a list."""
_ALWAYS_RUN: Final = (cst.Expr, cst.SimpleStatementLine, cst.IndentedBlock, cst.With)


def weighted_layers_assigned(module: Module, method: cst.FunctionDef | None) -> Iterator[str]:
    """Yield the attributes to which a method assigns a Keras layer with weights.

    Or a list of such: ``self.hidden = [Dense(n) for n in units]``, be it filled one by one.
    """
    for name, value in values_stored_on_self(module, method) if method is not None else ():
        if any(_is_weighted(module, call) for call in calls_in(value)):
            yield name


def values_stored_on_self(
    module: Module, method: cst.FunctionDef
) -> Iterator[tuple[str, cst.BaseExpression]]:
    """Yield what a method stores on ``self``, appends to lists included."""
    lists: set[str] = set()
    for each in descendants(method.body):
        if isinstance(each, cst.Assign):
            names = [member_of_self(target.target, method) for target in each.targets]
            kept = [name for name in names if name]
            lists.update(kept if _is_list(each.value) else ())
            yield from ((name, each.value) for name in kept)
            continue
        owner, added = list_addition(each)
        name = member_of_self(owner, method) if owner is not None else None
        if name in lists and added is not None and _is_surely_run(module, each, method):
            yield name, added


def list_addition(node: cst.CSTNode) -> tuple[cst.BaseExpression | None, cst.BaseExpression | None]:
    """Return the list that is extended, and what is added: an item, or a list."""
    match node:
        case cst.AugAssign(target=owner, operator=cst.AddAssign(), value=added):
            return owner, added
        case cst.Call(
            func=cst.Attribute(value=owner, attr=cst.Name(value=how)),
            args=[*_, cst.Arg(value=added, star="")],
        ) if how in GROW:
            return owner, added
    return None, None


def _is_list(value: cst.BaseExpression) -> bool:
    match value:
        case cst.List() | cst.ListComp() | cst.Call(func=cst.Name(value="list")):
            return True
    return False


def _is_surely_run(module: Module, node: cst.CSTNode, method: cst.FunctionDef) -> bool:
    """Say whether a method always gets to a place, or does for each turn of a loop."""
    for above in module.ancestors(node):
        if above is method:
            return True
        if isinstance(above, cst.For):
            if any(isinstance(each, cst.Break | cst.Continue) for each in descendants(above)):
                return False
        elif not isinstance(above, _ALWAYS_RUN):
            return False
    return False


def _is_weighted(module: Module, call: cst.Call) -> bool:
    name = module.qualified(call.func)
    made = module.oracle.class_type(name) if name else None
    return made is not None and made.kind is Kind.LAYER and has_weights(made.cls, call)


def calls_in(value: cst.BaseExpression) -> Iterator[cst.Call]:
    """Yield the calls that create a value, or its elements."""
    match value:
        case cst.Call():
            yield value
        case cst.List() | cst.Tuple():
            for each in value.elements:
                yield from calls_in(each.value)
        case cst.ListComp(elt=element, for_in=cst.CompFor(ifs=[], inner_for_in=None)):
            yield from calls_in(element)


def has_weights(cls: str | None, call: cst.Call) -> bool:
    """Say whether a layer of a class surely has weights once built."""
    if cls not in UNLESS_TOLD:
        return cls in WITH_WEIGHTS
    given = [each.keyword and each.keyword.value for each in call.args if not each.star]
    return len(given) == len(call.args) and given.count(None) < 2 and "scale" not in given


def attributes_read(method: cst.FunctionDef) -> set[str]:
    """Return the attributes of ``self`` that a method reads, not to add to a list alone."""
    parts = list(descendants(method.body))
    stored = {id(each.target) for each in parts if isinstance(each, cst.AssignTarget)}
    stored |= {id(owner) for each in parts if (owner := list_addition(each)[0]) is not None}
    return {
        found
        for each in parts
        if id(each) not in stored and (found := member_of_self(each, method)) is not None
    }


def layers_built(init: cst.FunctionDef | None) -> set[str]:
    """Return the attributes of ``self`` that are built or called in ``__init__``.

    Or looped over there, be it to do so.
    """
    if init is None:
        return set()
    found: list[str | None] = []
    for each in descendants(init.body):
        match each:
            case cst.Call(func=cst.Attribute(value=layer, attr=cst.Name(value="build"))):
                found.append(_member(layer, init))
            case cst.Call(func=cst.Attribute() | cst.Subscript() as layer):
                found.append(_member(layer, init))
            case cst.For(iter=listed) | cst.CompFor(iter=listed):
                found += [member_of_self(node, init) for node in (listed, *descendants(listed))]
    return {each for each in found if each is not None}


def _member(node: cst.BaseExpression, method: cst.FunctionDef) -> str | None:
    """Return ``x`` of ``self.x`` and of ``self.x[0]``."""
    return member_of_self(node.value if isinstance(node, cst.Subscript) else node, method)
