"""Masks of symbolic tensors: which layers create and propagate them."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import passed, value_of
from kdoctor.analysis.triggers import calls, word
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal

_PASS_ON = frozenset({
    "Activation", "ActivityRegularization", "BatchNormalization", "Dense", "Dropout",
    "GaussianNoise", "LayerNormalization", "SpatialDropout1D",
})  # fmt: skip
"""Layers that hand the mask of their input on."""
END_A_MASK = frozenset({
    "AveragePooling1D", "Conv1D", "Cropping1D", "Flatten", "GlobalMaxPooling1D", "MaxPooling1D",
    "Permute", "RepeatVector", "Reshape", "SeparableConv1D", "UpSampling1D", "ZeroPadding1D",
})  # fmt: skip
"""Layers that neither look at the mask of their input nor hand it on, in Keras 2 and 3."""
_MAX_DEPTH = 20


MASKED = word("Masking", "mask_zero") | calls(lambda _, each: each.places > 5)
"""A trigger: without what this asks for, nothing in a source is known to have a mask."""


def is_masked(module: Module, node: cst.BaseExpression, depth: int = 0) -> bool | None:
    """Say whether a tensor carries a mask; None if unknown."""
    made = value_of(module, node)
    if not isinstance(made, cst.Call) or depth > _MAX_DEPTH:
        return None
    if _leaf(module, made.func) == "Input":
        return False
    layer = value_of(module, made.func)
    if not isinstance(layer, cst.Call) or not made.args:
        return None
    leaf = _class(module, layer)
    if leaf == "Embedding":
        value = literal(passed(layer, "mask_zero", 5), absent=False)
        return value if isinstance(value, bool) else None
    if leaf == "Masking":
        return True
    return is_masked(module, made.args[0].value, depth + 1) if leaf in _PASS_ON else None


def is_mask_always_dropped(module: Module, made: cst.Call) -> bool:
    """Say whether all layers that consume a tensor drop its mask."""
    parent = module.parent(made)
    if isinstance(parent, cst.Arg):
        return _consumes_mask(module, parent)
    if not isinstance(parent, cst.Assign) or len(parent.targets) != 1:
        return False
    target = parent.targets[0].target
    owner = module.scope_of(target).owner(target.value) if isinstance(target, cst.Name) else None
    if owner is None or not isinstance(target, cst.Name):
        return False
    uses = [
        each
        for each in descendants(owner.node)
        if isinstance(each, cst.Name)
        and each is not target
        and each.value == target.value
        and value_of(module, each) in (made, each)
        and not isinstance(module.parent(each), cst.AssignTarget | cst.Attribute)
    ]
    return bool(uses) and all(_consumes_mask(module, module.parent(each)) for each in uses)


def _consumes_mask(module: Module, given: cst.CSTNode | None) -> bool:
    call = module.parent(given) if isinstance(given, cst.Arg) else None
    layer = value_of(module, call.func) if isinstance(call, cst.Call) else None
    return isinstance(layer, cst.Call) and _class(module, layer) in END_A_MASK


def _class(module: Module, layer: cst.Call) -> str:
    """Return the Keras class that a layer is, or is made from."""
    found = module.type_of(layer)
    qualified = found.qualified if found is not None else None
    split = split_root(qualified or module.qualified(layer.func) or "")
    return "" if split is None else split[1].rpartition(".")[2]


def _leaf(module: Module, function: cst.BaseExpression) -> str:
    split = split_root(module.qualified(function) or "")
    return "" if split is None else split[1].rpartition(".")[2]
