"""A fixed loss scale: `LossScaleOptimizer(optimizer, dynamic=False)`."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import add_keyword, argument, is_hidden
from kdoctor.analysis.queries import Argument, Instance, constructs
from kdoctor.analysis.queries.forms import is_false
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_ERROR = "ValueError: LossScaleOptimizer no longer supports `dynamic=False`."
_ANOTHER_OBJECT = (
    "the optimizer is no longer a LossScaleOptimizer: code that reads `inner_optimizer` fails"
)


@rule(
    "KD507",
    severity=Severity.ERROR,
    since="3.0",
    look_for=constructs(Instance(Kind.OPTIMIZER, "LossScaleOptimizer")).argument(
        "dynamic", where=is_false
    ),
)
def check(dynamic: Argument) -> Finding | None:
    """Report each fixed scale."""
    if literal(dynamic.node) is not False:
        return None  # a name may stand for another value
    fix = _fix(dynamic)
    return dynamic.finding(
        f"the scale of a LossScaleOptimizer is always dynamic: {_ERROR}",
        at=dynamic.arg,
        symbol=dynamic.name,
        help="Pass `loss_scale_factor=…` to the inner optimizer, and use that one."
        if isinstance(fix, NoFix)
        else f"{fix.title}.",
        fix=fix,
    )


def _fix(dynamic: Argument) -> Fix | NoFix:
    """``LossScaleOptimizer(SGD(), dynamic=False, initial_scale=x)`` → ``SGD(loss_scale_factor=x)``.

    Only where that is all that is passed.
    """
    module, call, why_not = (
        dynamic.module,
        dynamic.call,
        NoFix("the inner optimizer is created elsewhere"),
    )
    inner, scale = argument(call, "inner_optimizer", 0), argument(call, "initial_scale")
    if inner is None or scale is None or len(call.args) != 3 or "#" in module.source(call):
        return why_not
    made = module.type_of(inner.value)
    if not isinstance(inner.value, cst.Call) or made is None or made.kind is not Kind.OPTIMIZER:
        return why_not
    if is_hidden(inner.value) or argument(inner.value, "loss_scale_factor"):
        return why_not
    kept = Edit(module.span(call), (Hole(module.span(inner.value)),))
    added = add_keyword(module, inner.value, f"loss_scale_factor={module.source(scale.value)}")
    return dynamic.fix(
        "Pass `loss_scale_factor=` to the optimizer", kept, added, unsafe_because=_ANOTHER_OBJECT
    )
