"""A fixed loss scale: `LossScaleOptimizer(optimizer, dynamic=False)`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import add_keyword, argument, instances, is_hidden, literal
from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Applicability, Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_ERROR = "ValueError: LossScaleOptimizer no longer supports `dynamic=False`."
_ANOTHER_OBJECT = (
    "the optimizer is no longer a LossScaleOptimizer: code that reads `inner_optimizer` fails"
)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each fixed scale."""
    for reference, call, made in instances(module, Kind.OPTIMIZER, facts):
        dynamic = argument(call, "dynamic")
        if made.cls != "LossScaleOptimizer" or dynamic is None or is_hidden(call):
            continue
        if literal(dynamic.value) is not False or module.is_guarded(call):
            continue
        fix = _fix(module, call)
        yield rule.finding(
            module.place(dynamic),
            f"the scale of a LossScaleOptimizer is always dynamic: {_ERROR}",
            symbol=reference.name,
            confidence=reference.confidence,
            help=f"{fix.title}."
            if fix
            else "Pass `loss_scale_factor=…` to the inner optimizer, and use that one.",
            fix=fix or NoFix("the inner optimizer is created elsewhere"),
        )


def _fix(module: Module, call: cst.Call) -> Fix | None:
    """``LossScaleOptimizer(SGD(), dynamic=False, initial_scale=x)`` → ``SGD(loss_scale_factor=x)``.

    Only where that is all that is passed.
    """
    inner, scale = argument(call, "inner_optimizer", 0), argument(call, "initial_scale")
    if inner is None or scale is None or len(call.args) != 3 or "#" in module.source(call):
        return None
    made = module.type_of(inner.value)
    if not isinstance(inner.value, cst.Call) or made is None or made.kind is not Kind.OPTIMIZER:
        return None
    if is_hidden(inner.value) or argument(inner.value, "loss_scale_factor"):
        return None
    kept = Edit(module.span(call), (Hole(module.span(inner.value)),))
    added = add_keyword(module, inner.value, f"loss_scale_factor={module.source(scale.value)}")
    return Fix(
        "Pass `loss_scale_factor=` to the optimizer",
        (kept, added),
        Applicability.UNSAFE,
        unsafe_because=_ANOTHER_OBJECT,
    )


rule = Rule(
    code="KD507",
    name="fixed-loss-scale",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers={"LossScaleOptimizer"},
    since="3.0",
)
