"""A custom class overrides a private method of Keras 2 that Keras 3 never calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_call_of_super
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import is_old_optimizer, kind_of_class
from kdoctor.analysis.triggers import defines
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

HOOKS: Final = {
    "_add_variable_with_custom_getter": "`add_weight` sees each weight as it is created",
    "_handle_activity_regularization": "`call` may use `self.add_loss`",
    "_maybe_cast_inputs": "`call` may cast its inputs, with `autocast=False` for the layer",
    "_get_trainable_state": "`trainable` says which weights are trained",
    "_set_trainable_state": "`trainable` says which weights are trained",
    "_set_dtype_policy": "`dtype_policy` can be set",
}
"""What Keras 2 called on layers and models, and what serves instead."""


_GRADIENTS: Final = "`apply` gets the gradients, which Keras 3 computes elsewhere"
OF_OPTIMIZERS: Final = {
    **dict.fromkeys(("_compute_gradients", "_aggregate_gradients"), _GRADIENTS),
    **dict.fromkeys(("_transform_gradients", "_transform_unaggregated_gradients"), _GRADIENTS),
    "_transform_loss": "`scale_loss` gets the loss",
}
"""What Keras 2 called on its optimizers."""
_ALL: Final = HOOKS.keys() | OF_OPTIMIZERS.keys()


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such method."""
    for node in module.nodes(cst.ClassDef):
        methods = [each for each in node.body.body if isinstance(each, cst.FunctionDef)]
        if not any(each.name.value in _ALL for each in methods):
            continue
        hooks = _hooks_of(module, node)
        for each in methods:
            if each.name.value in hooks and _hands_on(each) and not module.is_guarded(each):
                yield _finding(module, node, each, hooks[each.name.value])


def _hooks_of(module: Module, node: cst.ClassDef) -> Mapping[str, str]:
    match kind_of_class(module, node):
        case Kind.LAYER | Kind.MODEL:
            return HOOKS
        case Kind.OPTIMIZER if not is_old_optimizer(module, node):
            return OF_OPTIMIZERS
        case _:
            return {}


def is_handed_on(module: Module, node: cst.CSTNode, name: str) -> bool:
    """Say whether it stands in a hook of that name, which is never called."""
    above = (each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef))
    method = next(above, None)
    return name in _ALL and method is not None and method.name.value == name and _hands_on(method)


def _hands_on(method: cst.FunctionDef) -> bool:
    """Say whether the method calls the one that it overrides."""
    return any(is_call_of_super(each, method.name.value) for each in descendants(method.body))


def _finding(module: Module, node: cst.ClassDef, method: cst.FunctionDef, instead: str) -> Finding:
    name = method.name.value
    return rule.finding(
        module.place(method.name),
        f"Keras 3 never calls `{node.name.value}.{name}`: it has no effect",
        symbol=f"{node.name.value}.{name}",
        confidence=Confidence.LIKELY,
        help=f"Move its code: {instead}.",
        fix=NoFix("the code of the method has to move elsewhere"),
    )


rule = Rule(
    code="KD514",
    name="hook-is-never-called",
    family="idioms",
    severity=Severity.CHANGE,
    check=check,
    triggers=defines(*_ALL),
    since="3.0",
)
