"""A custom class overrides a private method of Keras 2 that Keras 3 never calls."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_call_of_super
from kdoctor.analysis.models.user_classes import is_old_optimizer
from kdoctor.analysis.queries import Method, methods
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
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


@rule(
    "KD514",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=methods(*HOOKS, of=Kind.LAYER)
    | methods(*HOOKS, of=Kind.MODEL)
    | methods(*OF_OPTIMIZERS, of=Kind.OPTIMIZER),
)
def check(method: Method) -> Finding | None:
    """Report each such method."""
    if not _hands_on(method.node):
        return None
    if method.name in OF_OPTIMIZERS and is_old_optimizer(method.module, method.owner.node):
        return None
    return method.finding(
        f"Keras 3 never calls `{method.symbol}`: it has no effect",
        at=method.node.name,
        help=f"Move its code: {(HOOKS | OF_OPTIMIZERS)[method.name]}.",
        fix=NoFix("the code of the method has to move elsewhere"),
    )


def is_handed_on(module: Module, node: cst.CSTNode, name: str) -> bool:
    """Say whether it stands in a hook of that name, which is never called."""
    above = (each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef))
    method = next(above, None)
    return name in _ALL and method is not None and method.name.value == name and _hands_on(method)


def _hands_on(method: cst.FunctionDef) -> bool:
    """Say whether the method calls the one that it overrides."""
    return any(is_call_of_super(each, method.name.value) for each in descendants(method.body))
