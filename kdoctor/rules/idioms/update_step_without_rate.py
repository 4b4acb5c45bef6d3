"""`update_step(self, gradient, variable)` of an optimizer lacks the `learning_rate` parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.class_glimpses import method_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import kind_of_class, methods_in
from kdoctor.analysis.triggers import Trigger
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_STEP = "update_step"
_RATE = "learning_rate"
_TAKES = 3  # self, gradient, variable
# What calls `update_step`, and may be the class' own.
_CALLERS = frozenset({
    *("_backend_apply_gradients", "_backend_update_step", "_internal_apply_gradients"),
    *("apply", "apply_gradients"),
})  # fmt: skip


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such method."""
    steps = [
        (node, step)
        for node in module.nodes(cst.ClassDef)
        if (step := methods_in(node).get(_STEP)) is not None
        and not step.decorators
        and _takes_two(step.params)
    ]
    if not steps or _is_called(module) or _may_call_it(module):
        return
    for node, step in steps:
        if kind_of_class(module, node) is not Kind.OPTIMIZER or module.is_guarded(step):
            continue
        fix = _fix(module, step)
        yield rule.finding(
            module.place(step.name),
            "Keras 3 also passes the learning rate to `update_step`: TypeError: "
            f"{node.name.value}.update_step() takes 3 positional arguments but 4 were given",
            symbol=f"{node.name.value}.{_STEP}",
            confidence=Confidence.CERTAIN,
            help="Write `update_step(self, gradient, variable, learning_rate)`.",
            fix=fix,
        )


def _takes_two(params: cst.Parameters) -> bool:
    return (
        len(params.params) + len(params.posonly_params) == _TAKES
        and not isinstance(params.star_arg, cst.Param)
        and not params.kwonly_params
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


def _fix(module: Module, step: cst.FunctionDef) -> Fix | NoFix:
    """Return the edit that adds the parameter, or why there is none."""
    if any(each.attr.value == _STEP for each in module.attributes):
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
    edit = Edit(Span(end, end), (f", {_RATE}",))
    return rule.fix("Add the `learning_rate` parameter", edit)


def _may_take_two(quick: QuickFacts, _: TargetFacts) -> bool:
    steps = (method_of(node, _STEP) for node in quick.nodes.get(ast.ClassDef, ()))
    return any(
        len(step.args.args) + len(step.args.posonlyargs) == _TAKES
        for step in steps
        if step is not None
    )


rule = Rule(
    code="KD516",
    name="update-step-without-rate",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers=Trigger.needing({_STEP}, _may_take_two),
    since="3.0",
)
