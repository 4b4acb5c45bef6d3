"""`compute_loss` no longer updates the `loss` metric: a step that returns the metrics logs 0.0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.dataflow.statements import free_name, statement_slot
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import member_of_self, methods_in
from kdoctor.analysis.models.user_models import lineage, methods_of, subclasses_of
from kdoctor.analysis.triggers import attribute, defines
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.behaviour._loss_metric import GIVES_LOSS, name_of_loss, shows_loss
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants, own_nodes

_STEPS: Final = ("train_step", "test_step")
_UPDATES: Final = frozenset({"compiled_metrics", "_compile_metrics", "update_state", *_STEPS})
"""What a class reads that may update the metric ``loss`` after all."""


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such step."""
    for node in module.nodes(cst.ClassDef):
        own = methods_in(node)
        if own.keys().isdisjoint(_STEPS):
            continue
        line = lineage(module, facts, node)
        # A loss of the class' own was kept by none.
        if not line or methods_of(line).keys() & GIVES_LOSS:
            continue
        derived = subclasses_of(module, node)
        if derived is None or any(_may_update(each) for each in (*line, *derived)):
            continue
        for step in (own[each] for each in _STEPS if each in own):
            if len(step.params.params) != 2 or not shows_loss(module, node, line, step):
                continue
            computed = next(_losses(step), None)
            if computed is not None and not module.is_guarded(computed):
                yield _finding(module, node, step, computed)


def _may_update(node: cst.ClassDef) -> bool:
    return any(
        isinstance(each, cst.Attribute) and each.attr.value in _UPDATES
        for each in descendants(node.body)
    )


def _losses(step: cst.FunctionDef) -> Iterator[cst.Call]:
    for each in descendants(step.body):
        if isinstance(each, cst.Call) and member_of_self(each.func, step) in GIVES_LOSS:
            yield each


def _finding(
    module: Module, node: cst.ClassDef, step: cst.FunctionDef, computed: cst.Call
) -> Finding:
    fix = _fix(module, step)
    shown = "val_loss" if step.name.value == "test_step" else "loss"
    return rule.finding(
        module.place(computed),
        f"`{shown}` is always 0.0 in the logs: in Keras 3 `{member_of_self(computed.func, step)}` "
        "updates no metric, and neither does this step",
        symbol=f"{node.name.value}.{step.name.value}",
        confidence=Confidence.LIKELY,
        help="Update the metric `loss` with it before the step returns the metrics.",
        fix=fix or NoFix("you have to decide what each metric is updated with"),
    )


def _fix(module: Module, step: cst.FunctionDef) -> Fix | None:
    """Return the fix that keeps the loss before the one ``return``, if it has a name there."""
    returns = [each for each in own_nodes(step.body) if isinstance(each, cst.Return)]
    line = statement_slot(module, returns[0]) if len(returns) == 1 else None
    if line is None or module.parent(line.line) is not step.body:
        return None
    kept = name_of_loss(module, step, line.span.start)
    updates_others = any(
        isinstance(each, cst.Call) and member_of_self(each.func, step) == "compute_metrics"
        for each in descendants(step.body)
    )
    if kept is None or not updates_others:
        return None
    loss, edits = kept
    metric = free_name(module, returns[0], "metric")
    owner = step.params.params[0].name.value
    text = (
        f"for {metric} in {owner}.metrics:\n{line.indent}    "
        f'if {metric}.name == "loss":\n{line.indent}        '
        f"{metric}.update_state({loss})\n{line.indent}"
    )
    return Fix(
        "Update the metric `loss`",
        (*edits, Edit(Span(line.span.start, line.span.start), (text,))),
        Applicability.UNSAFE,
        unsafe_because="a smaller last batch counts as much as the others",
    )


rule = Rule(
    code="KD470",
    name="loss-is-not-kept",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=defines(*_STEPS) & attribute(*GIVES_LOSS),
    since="3.0",
)
