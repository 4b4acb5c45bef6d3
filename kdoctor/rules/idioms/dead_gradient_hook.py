"""`get_updates` and `get_gradients` of a layer or model: hooks that Keras never calls."""

from __future__ import annotations

from kdoctor.analysis.queries import Method, methods
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_HOOKS = ("get_updates", "get_gradients")


@rule(
    "KD501",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=methods(*_HOOKS, of=Kind.LAYER, guarded=True)
    | methods(*_HOOKS, of=Kind.MODEL, guarded=True),
)
def check(method: Method) -> Finding | None:
    """Report each such method of a class of Keras, unless the file itself calls it."""
    if any(
        use.owner_defines and use.called is not None
        for use in method.module.members_named(method.name)
    ):
        return None
    return method.finding(
        f"Keras never calls `{method.symbol}`: it has no effect on gradients",
        at=method.node.name,
        help="To limit gradients pass `clipvalue=`, `clipnorm=` or `global_clipnorm=` to the "
        "optimizer; to change them in one place use `keras.ops.custom_gradient` in `call`.",
        fix=NoFix("the code of the method has to move elsewhere"),
    )
