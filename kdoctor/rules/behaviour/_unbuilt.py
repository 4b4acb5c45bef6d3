"""Classes of the user's that make layers in `__init__`, and leave it to Keras to build them."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.kinds import Kind
from kdoctor.rules.calls import call_of_super
from kdoctor.rules.inner_layers import has_weights
from kdoctor.rules.own_classes import class_named, methods_in
from kdoctor.syntax import Module
from kdoctor.syntax.walk import descendants

_DEEPEST: Final = 8  # classes of the file that make each other


def makes_weights(module: Module, lineage: list[cst.ClassDef], depth: int = 0) -> bool:
    """Say whether ``__init__`` of these classes surely makes a layer that has weights.

    Not where the object is made by its inputs and outputs, or calls itself.
    """
    inits = [init for each in lineage if (init := methods_in(each).get("__init__")) is not None]
    return all(_is_plain(each) for each in inits) and any(
        _is_weighted(module, each.value, depth)
        for init in inits
        for each in descendants(init.body)
        if isinstance(each, cst.Assign)
        and isinstance(each.targets[0].target, cst.Attribute)
        and _owner(each.targets[0].target) == init.params.params[0].name.value
    )


def _owner(node: cst.Attribute) -> str:
    return node.value.value if isinstance(node.value, cst.Name) else ""


def _is_plain(init: cst.FunctionDef) -> bool:
    """Say whether it gives its base nothing by position, nor calls the object itself."""
    if not init.params.params:
        return False
    itself = init.params.params[0].name.value
    for each in descendants(init.body):
        made = call_of_super(each)
        if made is not None and made[0] == "__init__" and any(map(_is_part, made[1].args)):
            return False
        match each:
            case cst.Call(func=cst.Name(value=name)) if name == itself:
                return False
    return True


def _is_part(given: cst.Arg) -> bool:
    """Say whether ``super().__init__`` may be given inputs or outputs by it."""
    if given.keyword is None:
        return given.star != "**"
    return given.keyword.value in {"inputs", "outputs"}


def _is_weighted(module: Module, value: cst.BaseExpression, depth: int) -> bool:
    if isinstance(value, cst.List | cst.Tuple):
        return any(_is_weighted(module, each.value, depth) for each in value.elements)
    if not isinstance(value, cst.Call) or depth > _DEEPEST:
        return False
    own = class_named(module, value.func)
    if own is not None:
        return _is_unbuilt_layer(module, own, depth)
    name = module.qualified(value.func)
    made = module.knowledge.class_type(name) if name else None
    return made is not None and made.kind is Kind.LAYER and has_weights(made.cls, value)


def _is_unbuilt_layer(module: Module, own: cst.ClassDef, depth: int) -> bool:
    """Say whether an object of a class of the file has layers inside that it does not build."""
    name = module.qualified(own.bases[0].value) if len(own.bases) == 1 else None
    made = module.knowledge.class_type(name) if name else None
    is_base = made is not None and made.cls in {"Layer", "Functional"}
    return is_base and "build" not in methods_in(own) and makes_weights(module, [own], depth + 1)
