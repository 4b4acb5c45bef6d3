"""`compiled_metrics.update_state` passes the predictions to every `Mean`, including the loss."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.analysis.dataflow.statements import free_name, remove_statement, statement_slot
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import class_around, member_of_self, methods_in
from kdoctor.analysis.models.user_models import lineage, methods_of
from kdoctor.analysis.triggers import Trigger, member_of
from kdoctor.memoize import once
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.behaviour._loss_metric import name_of_loss, shows_loss
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_KEPT, _UPDATE = "compiled_metrics", "update_state"
_LOSS, _METRICS = "loss", "metrics"
_NO_FIX = "you have to decide what each metric is updated with"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such call."""
    for use in module.members:
        if use.member != _KEPT or use.owner.kind is not Kind.MODEL or use.owner_defines:
            continue
        call, method = _update(module, use), _method_around(module, use.node)
        node = class_around(module, use.node)
        if call is None or method is None or node is None or module.is_guarded(use.node):
            continue
        line = lineage(module, facts, node)
        if not line or methods_in(node).get(method.name.value) is not method:
            continue
        trackers = _trackers(module, *line)
        wrong = [f"`self.{each}`" for each in trackers]
        if shows_loss(module, node, line, method):
            wrong.append("`loss`")
        if wrong:
            fix = (
                _left_out(module, facts, call, line, trackers)
                if trackers
                else _loop(module, call, method)
            )
            yield rule.finding(
                module.place(call),
                f"{', '.join(wrong)}: the predictions are averaged into "
                f"{'them' if wrong[1:] else 'it'}, as `{_KEPT}.{_UPDATE}` of Keras 3 updates "
                "every `Mean` of the model",
                symbol=f"{node.name.value}.{_KEPT}",
                confidence=Confidence.LIKELY,
                help="Update each metric in `self.metrics` with its own value: `loss` with the "
                "loss, the others with targets and predictions.",
                fix=fix or NoFix(_NO_FIX),
            )


def _update(module: Module, use: MemberUse) -> cst.Call | None:
    """Return the call ``self.compiled_metrics.update_state(…)`` that a use is part of."""
    read = module.parent(use.node)
    called = module.parent(read) if isinstance(read, cst.Attribute) else None
    match called:
        case cst.Call(
            func=cst.Attribute(value=cst.Attribute() as kept, attr=cst.Name(value=name))
        ) if kept is use.node and name == _UPDATE:
            return called
    return None


def _method_around(module: Module, node: cst.Attribute) -> cst.FunctionDef | None:
    """Return the function that a node stands in, if its first parameter is what is asked."""
    around = (each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef))
    method = next(around, None)
    return method if method and member_of_self(node, method) else None


@once
def _trackers(module: Module, *line: cst.ClassDef) -> list[str]:
    """Return the attributes that hold a ``Mean`` of the model which the class itself updates."""
    methods = [each for node in line for each in methods_in(node).values()]
    read = [
        name
        for method in methods
        for each in descendants(method.body)
        if isinstance(each, cst.Attribute) and each.attr.value == _UPDATE
        if (name := member_of_self(each.value, method)) is not None
    ]
    made = [
        name
        for method in methods
        for each in descendants(method.body)
        if isinstance(each, cst.Assign) and _is_mean(module, each.value)
        for target in each.targets
        if (name := member_of_self(target.target, method)) is not None
    ]
    listed = methods_of(line).get(_METRICS)
    return [
        each
        for each in dict.fromkeys(made)
        if each in read and (listed is None or _is_listed(listed, each))
    ]


def _is_mean(module: Module, node: cst.BaseExpression) -> bool:
    if not isinstance(node, cst.Call):
        return False
    name = module.qualified(node.func)
    made = module.oracle.class_type(name) if name else None
    return made is not None and made.kind is Kind.METRIC and made.cls == "Mean"


def _is_listed(listed: cst.FunctionDef, name: str) -> bool:
    return any(member_of_self(each, listed) == name for each in descendants(listed.body))


def _left_out(
    module: Module,
    facts: TargetFacts,
    call: cst.Call,
    line: Sequence[cst.ClassDef],
    trackers: list[str],
) -> Fix | None:
    """Return the fix that takes the call away, where there are trackers alone."""
    listed = methods_of(line).get(_METRICS)
    if not isinstance(module.parent(call), cst.Expr):
        return None
    if listed is None or not _lists_alone(listed, trackers):
        return None
    return Fix(
        f"Remove `{_KEPT}.{_UPDATE}`",
        (remove_statement(module, call),),
        facts.applicability(*(each for each in rule.invalid if each.after and not each.unsafe)),
    )


def _lists_alone(listed: cst.FunctionDef, trackers: Sequence[str]) -> bool:
    """Say whether a property returns a list of these, and nothing more."""
    match listed.body.body:
        case [
            cst.SimpleStatementLine(
                body=[cst.Return(value=cst.List(elements=elements) | cst.Tuple(elements=elements))]
            )
        ]:
            return all(member_of_self(each.value, listed) in trackers for each in elements)
    return False


def _loop(module: Module, call: cst.Call, method: cst.FunctionDef) -> Fix | None:
    """Return the fix that updates each metric by itself, where one loss is computed before."""
    line = statement_slot(module, call)
    if (
        line is None
        or line.statement is not module.parent(call)
        or len(call.args) not in (2, 3)
        or any(each.star for each in call.args)
    ):
        return None
    kept = name_of_loss(module, method, line.span.start)
    if kept is None:
        return None
    loss, edits = kept
    metric = free_name(module, call, "metric")
    passed = ", ".join(module.source(each) for each in call.args)
    owner = method.params.params[0].name.value
    inner = f"\n{line.indent}    "
    text = (
        f'for {metric} in {owner}.{_METRICS}:{inner}if {metric}.name == "{_LOSS}":'
        f"{inner}    {metric}.{_UPDATE}({loss}){inner}else:"
        f"{inner}    {metric}.{_UPDATE}({passed})"
    )
    return Fix(
        "Update each metric with its own value",
        (*edits, Edit(line.span, (text,))),
        Applicability.UNSAFE,
        unsafe_because="a smaller last batch counts as much as the others",
    )


def _may_pass_them(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        isinstance(each.node.func, ast.Attribute)
        and isinstance(each.node.func.value, ast.Attribute)
        and each.node.func.value.attr == _KEPT
        for each in quick.calls_of(_UPDATE)
    )


rule = Rule(
    code="KD469",
    name="means-get-predictions",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=member_of({Kind.MODEL}, _KEPT) & Trigger(_may_pass_them),
    since="3.0",
)
