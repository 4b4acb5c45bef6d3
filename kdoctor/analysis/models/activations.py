"""Activations that a class keeps: `self.activation = activations.get(activation)`."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import own_nodes


def calls_activation(
    module: Module, methods: Mapping[str, cst.FunctionDef], node: cst.BaseExpression | None
) -> bool:
    """Say whether it is ``self.activation(…)`` of a class with these methods: one tensor."""
    match node:
        case cst.Call(func=cst.Attribute(value=cst.Name(value="self"), attr=cst.Name() as member)):
            return _is_activation(module, methods.get("__init__"), member.value)
    return False


def _is_activation(module: Module, init: cst.FunctionDef | None, member: str) -> bool:
    stores = [
        each.value
        for each in (own_nodes(init.body) if init else ())
        if isinstance(each, cst.Assign)
        and isinstance(target := each.targets[0].target, cst.Attribute)
        and target.attr.value == member
    ]
    return bool(stores) and all(
        isinstance(each, cst.Call)
        and (module.qualified(each.func) or "").endswith("activations.get")
        for each in stores
    )
