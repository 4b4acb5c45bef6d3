"""A layer's `call` takes only `*args`, so Keras 3 has no input shape to build it with."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import (
    class_named,
    holds_original_argument,
    methods_in,
    only_base,
)
from kdoctor.analysis.queries import Method, methods
from kdoctor.analysis.queries.signatures import FormalSignature
from kdoctor.keras_api import Presence
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.behaviour._call_signature import naming
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

BUILT_BY_SHAPE: Final = frozenset({
    "Add", "Average", "BatchNormalization", "Concatenate", "Conv1D", "Conv1DTranspose", "Conv2D",
    "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Dense", "DepthwiseConv1D", "DepthwiseConv2D",
    "Dot", "EinsumDense", "GroupNormalization", "LayerNormalization", "Maximum", "Minimum",
    "Multiply", "PReLU", "RMSNormalization", "SeparableConv1D", "SeparableConv2D", "Subtract",
})  # fmt: skip
"""Keras' layers whose `build` fails without a shape."""
_ERROR = "TypeError: 'NoneType' object is not subscriptable"


def _names_no_inputs(call: FormalSignature) -> bool:
    return call.var_positional == "args" and len(call.by_position) == 1 and not call.is_decorated


@rule(
    "KD435",
    severity=Severity.ERROR,
    since="3.0",
    look_for=methods("call", of=Kind.LAYER, where=_names_no_inputs),
)
def check(call: Method) -> Finding | None:
    """Report each such ``call`` that uses what it gets."""
    owner = call.owner
    if "__call__" in owner.methods or not _uses_args(call.node):
        return None  # what only raises is for subclasses
    if not _is_built_by_shape(call.module, call.facts, owner.node, frozenset()):
        return None
    return call.finding(
        f"`call` of `{owner.symbol}` has no named input, so `build` gets no shape: {_ERROR}",
        at=call.node.name,
        symbol="Layer.call",
        help="Name the parameters, `def call(self, inputs, training=None)`, and pass them on: "
        "`training` and `mask` are only passed to parameters of these names.",
        fix=_named(call),
    )


def _uses_args(call: cst.FunctionDef) -> bool:
    return any(
        isinstance(each, cst.Name) and each.value == "args" for each in descendants(call.body)
    )


def _named(call: Method) -> Fix | NoFix:
    """Return the fix for a ``call`` that hands on what it gets to that of a layer of Keras."""
    only = only_base(call.module, call.owner.node)
    base = None if only is None else _of_keras(call.module, call.facts, only)
    edits = None if base is None else naming(call.module, call.facts, call.node, base)
    if edits is None:
        return NoFix("kdoctor cannot tell which arguments the layer is called with")
    return call.fix("Name the inputs and the arguments that Keras passes", *edits)


def _is_built_by_shape(
    module: Module, facts: TargetFacts, node: cst.ClassDef, seen: frozenset[cst.ClassDef]
) -> bool:
    build = methods_in(node).get("build")
    if build is not None:
        return _takes_apart(module, build)
    return any(_base_is(module, facts, each.value, seen | {node}) for each in node.bases)


def _base_is(
    module: Module, facts: TargetFacts, base: cst.BaseExpression, seen: frozenset[cst.ClassDef]
) -> bool:
    own = class_named(module, base)
    if own is not None:
        return own not in seen and _is_built_by_shape(module, facts, own, seen)
    return _of_keras(module, facts, base) is not None


def _of_keras(module: Module, facts: TargetFacts, base: cst.BaseExpression) -> str | None:
    """Return the dotted name of a base that is one of these layers of Keras, on the target."""
    name = module.qualified(base)
    if name is None or module.project_class(base) is not None or not is_keras_3(facts, name):
        return None
    found = facts.lookup(name)
    if found.moved_to:
        name = found.moved_to[0]
        found = facts.lookup(name)
    is_one = found.presence is Presence.EXISTS and found.name in {
        f"layers.{each}" for each in BUILT_BY_SHAPE
    }
    return name if is_one else None


def _takes_apart(module: Module, build: cst.FunctionDef) -> bool:
    """Say whether a ``build`` surely reads something of its shape."""
    parameters = build.params.params
    if len(parameters) != 2:
        return False
    shape = parameters[1]
    inside = [*descendants(build.body)]
    if any(_asks(each, shape.name.value) for each in inside):
        return False
    return any(
        isinstance(each, cst.Subscript) and holds_original_argument(module, each.value, shape)
        for each in inside
    )


def _asks(node: cst.CSTNode, shape: str) -> bool:
    """Say whether a test looks at the shape, which may then be None."""
    if not isinstance(node, cst.If | cst.IfExp):
        return False
    return any(
        isinstance(each, cst.Name) and each.value == shape
        for each in (node.test, *descendants(node.test))
    )
