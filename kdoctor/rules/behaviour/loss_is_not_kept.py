"""`compute_loss` no longer updates the `loss` metric: a step that returns the metrics logs 0.0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.dataflow.statements import free_name, statement_slot
from kdoctor.analysis.models.user_classes import member_of_self
from kdoctor.analysis.models.user_models import lineage, methods_of, subclasses_of
from kdoctor.analysis.queries import Method, methods
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.behaviour._loss_metric import GIVES_LOSS, name_of_loss, shows_loss
from kdoctor.rules.rule import rule
from kdoctor.syntax.libcst_walk import descendants, own_nodes
from kdoctor.value_types import Kind

_STEPS: Final = ("train_step", "test_step")
_UPDATES: Final = frozenset({"compiled_metrics", "_compile_metrics", "update_state", *_STEPS})
"""What a class reads that may update the metric ``loss`` after all."""


@rule(
    "KD470",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=methods(*_STEPS, of=Kind.MODEL).beside(attribute(*GIVES_LOSS)),
)
def check(step: Method) -> Finding | None:
    """Report each such step."""
    module, cls = step.module, step.owner.node
    line = lineage(module, step.facts, cls)
    # A loss of the class' own was kept by none.
    if not line or methods_of(line).keys() & GIVES_LOSS:
        return None
    derived = subclasses_of(module, cls)
    if derived is None or any(_may_update(each) for each in (*line, *derived)):
        return None
    if len(step.node.params.params) != 2 or not shows_loss(module, cls, line, step.node):
        return None
    computed = next(_losses(step.node), None)
    if computed is None or module.is_guarded(computed):
        return None
    shown = "val_loss" if step.name == "test_step" else "loss"
    return step.finding(
        f"`{shown}` is always 0.0 in the logs: in Keras 3 "
        f"`{member_of_self(computed.func, step.node)}` updates no metric, and neither does this "
        "step",
        at=computed,
        help="Update the metric `loss` with it before the step returns the metrics.",
        fix=_keeping(step),
    )


def _may_update(node: cst.ClassDef) -> bool:
    return any(
        isinstance(each, cst.Attribute) and each.attr.value in _UPDATES
        for each in descendants(node.body)
    )


def _losses(step: cst.FunctionDef) -> Iterator[cst.Call]:
    for each in descendants(step.body):
        if isinstance(each, cst.Call) and member_of_self(each.func, step) in GIVES_LOSS:
            yield each


def _keeping(step: Method) -> Fix | NoFix:
    """Return the fix that keeps the loss before the one ``return``, if it has a name there."""
    module, function = step.module, step.node
    why_not = NoFix("you have to decide what each metric is updated with")
    returns = [each for each in own_nodes(function.body) if isinstance(each, cst.Return)]
    line = statement_slot(module, returns[0]) if len(returns) == 1 else None
    if line is None or module.parent(line.line) is not function.body:
        return why_not
    kept = name_of_loss(module, function, line.span.start)
    updates_others = any(
        isinstance(each, cst.Call) and member_of_self(each.func, function) == "compute_metrics"
        for each in descendants(function.body)
    )
    if kept is None or not updates_others:
        return why_not
    loss, edits = kept
    metric = free_name(module, returns[0], "metric")
    owner = function.params.params[0].name.value
    text = (
        f"for {metric} in {owner}.metrics:\n{line.indent}    "
        f'if {metric}.name == "loss":\n{line.indent}        '
        f"{metric}.update_state({loss})\n{line.indent}"
    )
    return step.fix(
        "Update the metric `loss`",
        *edits,
        Edit(Span(line.span.start, line.span.start), (text,)),
        unsafe_because="a smaller last batch counts as much as the others",
    )
