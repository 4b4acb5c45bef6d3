"""`update_step(self, gradient, variable)` of an optimizer lacks the `learning_rate` parameter."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import is_call_of_super, is_keras_3
from kdoctor.analysis.models.user_classes import kind_of_class, methods_in, only_base
from kdoctor.analysis.queries import Method, methods
from kdoctor.analysis.queries.signatures import FormalSignature
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.idioms._optimizers.concrete_base import pass_the_rate_on
from kdoctor.rules.idioms._optimizers.plan import Plan
from kdoctor.rules.idioms._optimizers.states import States
from kdoctor.rules.idioms._optimizers.steps import add_up_rows
from kdoctor.rules.idioms._optimizers.whole import is_rewritten
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_STEP = "update_step"
_RATE = "learning_rate"
_TAKES = 3  # self, gradient, variable
# What calls `update_step`, and may be the class' own.
_CALLERS = frozenset({
    *("_backend_apply_gradients", "_backend_update_step", "_internal_apply_gradients"),
    *("apply", "apply_gradients"),
})  # fmt: skip


def _takes_two(step: FormalSignature) -> bool:
    is_plain = not step.is_decorated and not step.var_positional
    return is_plain and len(step.by_position) == len(step.parameters) == _TAKES


@rule(
    "KD516",
    severity=Severity.ERROR,
    since="3.0",
    look_for=methods(_STEP, of=Kind.OPTIMIZER, where=_takes_two),
)
def check(step: Method) -> Finding | None:
    """Report each such method."""
    if _is_called(step.module) or _may_call_it(step.module):
        return None
    if is_rewritten(step.module, step.facts, step.node):
        return None  # KD524
    return step.finding(
        "Keras 3 also passes the learning rate to `update_step`: TypeError: "
        f"{step.symbol}() takes 3 positional arguments but 4 were given",
        at=step.node.name,
        confidence=Confidence.CERTAIN,
        help="Write `update_step(self, gradient, variable, learning_rate)`.",
        fix=_fix(step),
    )


def _is_called(module: Module) -> bool:
    """Say whether the file itself calls it, but as a method of the base."""
    return any(
        each.attr.value == _STEP
        and not (isinstance(each.value, cst.Call) and isinstance(each.value.func, cst.Name))
        for each in module.attributes
    )


def _may_call_it(module: Module) -> bool:
    return any(
        not _CALLERS.isdisjoint(methods_in(each))
        for each in module.nodes(cst.ClassDef)
        if kind_of_class(module, each) is Kind.OPTIMIZER
    )


def _fix(found: Method) -> Fix | NoFix:
    """Return the edits that add the parameter and pass it on, or why there are none."""
    module, step = found.module, found.node
    calls = [each for each in descendants(step.body) if is_call_of_super(each, _STEP)]
    handed_on = [each for each in calls if isinstance(each, cst.Call) and _passes_two(each)]
    named = (each for each in module.attributes if each.attr.value == _STEP)
    if len(handed_on) < len(calls) or not all(_is_of_keras(found, each) for each in named):
        return NoFix("the file calls `update_step` of the base class, which needs the rate too")
    if any(
        isinstance(each, cst.Name)
        and each.value == _RATE
        and not isinstance(module.parent(each), cst.Attribute)
        for each in descendants(step.body)
    ):
        return NoFix("it already uses the name `learning_rate`")
    last = step.params.params[-1] if step.params.params else None
    if last is None or last.default is not None:
        return NoFix("the last parameter has a default or is positional-only")
    end = module.span(last).end
    if not calls:
        edit = Edit(Span(end, end), (f", {_RATE}",))
        return check.fix("Add the `learning_rate` parameter", edit)
    plan = Plan(module, found.owner.node)
    plan.write(Span(end, end), f", {_RATE}")
    add_up_rows(plan, step, States())
    pass_the_rate_on(plan, step)
    if plan.stops:
        return NoFix(f"not understood: {plan.obstacles()}")
    return plan.rated(check, "Add the `learning_rate` parameter and pass it on")


def _passes_two(call: cst.Call) -> bool:
    """Say whether a call passes the gradient and the variable by position."""
    return len(call.args) == _TAKES - 1 and all(not (e.star or e.keyword) for e in call.args)


def _is_of_keras(step: Method, call: cst.CSTNode) -> bool:
    """Say whether the class that a line stands in is right below one of Keras' own."""
    module = step.module
    cls = next((each for each in module.ancestors(call) if isinstance(each, cst.ClassDef)), None)
    base = None if cls is None else only_base(module, cls)
    name = None if base is None else module.qualified(base)
    made = module.oracle.class_type(name) if name else None
    return made is not None and made.kind is Kind.OPTIMIZER and is_keras_3(step.facts, name)
