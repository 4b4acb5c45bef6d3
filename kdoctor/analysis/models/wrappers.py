"""Wrapped layers, and the calls of layers."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import instances, passed, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.syntax import Module, Reference
from kdoctor.value_types import Kind


def wrapped_layers(
    module: Module, facts: TargetFacts, wrapper: str
) -> Iterator[tuple[Reference, cst.Call, cst.Call]]:
    """Yield what a wrapper of the target's Keras 3 is read by, its call, and that of its layer.

    Not where the wrapper is made in an attempt that may fail.
    """
    for reference, call, made in instances(module, Kind.LAYER, facts):
        given = passed(call, "layer", 0) if made.cls == wrapper else None
        inner = value_of(module, given)
        if isinstance(inner, cst.Call) and not module.is_guarded(call):
            yield reference, call, inner


def applications_of(module: Module, layer: cst.Call) -> Iterator[cst.Call]:
    """Yield the calls of a layer that a call makes, on the spot or by a name."""
    return (each for each in module.nodes(cst.Call) if value_of(module, each.func) is layer)
