"""`metrics=["accuracy"]` needs one entry per output if the model has several outputs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, call_of_super, is_hidden, literal, value_of
from kdoctor.analysis.dataflow.escapes import unmutated_value_of
from kdoctor.analysis.dataflow.points_to import PointsTo, points_to_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.loss_counts import count_elements, count_losses
from kdoctor.analysis.triggers import (
    Trigger,
    attribute,
    calls_that_make,
    has_several_outputs,
    keyword,
)
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity, Span
from kdoctor.rules.behaviour._single_item_lists import outputs_of
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts
from kdoctor.value_types import Kind

_ARGUMENTS = ("metrics", "weighted_metrics")
_LOSS_PLACE = 1  # of `loss`, after the optimizer
_WITHOUT_OWN_STEP = (None, "Functional")  # a class of one's own may do without the metrics


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each list of metrics that is meant for all outputs."""
    points_to = points_to_of(module)
    for use in module.members:
        if use.member != "compile" or use.owner.kind is not Kind.MODEL or use.called is None:
            continue
        if use.owner_defines or is_hidden(use.called) or module.is_guarded(use.called):
            continue
        flat = [
            (name, given.value)
            for name in _ARGUMENTS
            if (given := argument(use.called, name)) is not None
            and isinstance(given.value, cst.List)
            and _is_flat(given.value)
        ]
        outputs = _count_outputs(module, points_to, use) if flat else None
        if flat and outputs is None and use.owner.cls in _WITHOUT_OWN_STEP:
            if call_of_super(use.called) is not None:
                continue
            outputs = _count_losses(module, use.called)
        for name, metrics in flat if outputs and outputs > 1 else ():
            assert outputs is not None
            if _repeats_one(metrics) and len(metrics.elements) == outputs:
                continue  # one for each; Keras 2 refused it: "two metrics with the same name"
            yield _finding(module, facts, use, name, metrics, outputs)


def _count_outputs(module: Module, points_to: PointsTo, use: MemberUse) -> int | None:
    """Return how many outputs a model is made with; None where that is not sure.

    It is made here, or by a function of the file that always makes as many.
    """
    made = value_of(module, use.node.value)
    if isinstance(made, cst.Call) and (count := _outputs_of(module, made)) is not None:
        return count
    known = list(points_to.of(use.node.value))
    if len(known) != 1 or known[0].part:
        return None
    values = [value_of(module, each) for each in points_to.returned_by(known[0].call)]
    counts = {
        _outputs_of(module, each) if isinstance(each, cst.Call) else None
        for each in values or (known[0].call,)
    }
    return counts.pop() if len(counts) == 1 else None


def _outputs_of(module: Module, made: cst.Call) -> int | None:
    """Return how many outputs a call makes a model with; None where it does not say."""
    given = outputs_of(module, made)
    outputs = None if given is None else unmutated_value_of(module, given)
    if not isinstance(outputs, cst.List | cst.Tuple):
        found = None if outputs is None else module.type_of(outputs)
        return 1 if found and found.kind is Kind.TENSOR else None
    if any(isinstance(each, cst.StarredElement) for each in outputs.elements):
        return None
    return len(outputs.elements)


def _count_losses(module: Module, compiling: cst.Call) -> int | None:
    """Return how many outputs the losses, or their weights, are written for; None for one."""
    loss = argument(compiling, "loss", _LOSS_PLACE)
    count = None if loss is None else count_losses(module, loss.value)
    if count is not None and count > 1:
        return count
    given = argument(compiling, "loss_weights")
    weights = None if given is None else unmutated_value_of(module, given.value)
    # A dict may leave outputs out.
    return count_elements(weights) if isinstance(weights, cst.List | cst.Tuple) else None


def _is_flat(metrics: cst.List) -> bool:
    return bool(metrics.elements) and not any(
        isinstance(each, cst.StarredElement)
        or isinstance(each.value, cst.List | cst.Tuple | cst.Dict)
        or (isinstance(each.value, cst.Name) and each.value.value == "None")
        for each in metrics.elements
    )


def _repeats_one(metrics: cst.List) -> bool:
    names = [literal(each.value) for each in metrics.elements]
    return any(isinstance(each, str) and names.count(each) > 1 for each in names)


def _finding(  # noqa: PLR0913, PLR0917 - what the finding is about
    module: Module, facts: TargetFacts, use: MemberUse, name: str, metrics: cst.List, outputs: int
) -> Finding:
    count = len(metrics.elements)
    return rule.finding(
        module.place(metrics),
        f"`metrics` needs one entry for each of the {outputs} outputs: ValueError: tuple arity "
        f"mismatch; expected: {outputs}, got: {count}"
        if count != outputs
        else "each metric is applied to one output only, in order; Keras 2 applied all of them "
        "to every output",
        symbol=f"{use.owner.cls or 'Model'}.compile({name})",
        confidence=use.confidence,
        severity=Severity.ERROR if count != outputs else Severity.CHANGE,
        help="Write one list of metrics per output.",
        fix=_fix(module, facts, metrics, outputs),
    )


def _fix(module: Module, facts: TargetFacts, metrics: cst.List, outputs: int) -> Fix | NoFix:
    if _repeats_one(metrics):
        return NoFix("a metric is listed twice, which Keras 2 rejected")
    if not all(isinstance(each.value, cst.SimpleString) for each in metrics.elements):
        return NoFix("each output needs its own metric object")
    span = module.span(metrics)
    return Fix(
        f"Write the metrics for each of the {outputs} outputs",
        (Edit(span, ("[", *_repeated(span, outputs), "]")),),
        facts.applicability(*(each for each in rule.invalid if each.after)),
    )


def _repeated(span: Span, times: int) -> Iterator[str | Hole]:
    for index in range(times):
        yield from ((", ", Hole(span)) if index else (Hole(span),))


def _may_have_several(quick: QuickFacts, facts: TargetFacts) -> bool:
    return any(
        has_several_outputs(quick, called)
        for _, called in calls_that_make(quick, facts, cls="Functional")
    ) or any(_has_several_losses(quick, called) for called in quick.calls_of("compile"))


def _has_several_losses(quick: QuickFacts, called: QuickCall) -> bool:
    given = (called.argument("loss", _LOSS_PLACE), called.argument("loss_weights"))
    return any(
        (isinstance(each, ast.List | ast.Tuple) and len(each.elts) > 1)
        or (isinstance(each, ast.Dict) and len(each.keys) > 1)
        for argument in given
        for each in quick.values_of(argument)
    )


rule = Rule(
    code="KD411",
    name="metrics-of-several-outputs",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=keyword(*_ARGUMENTS) & attribute("compile") & Trigger(_may_have_several),
    since="3.0",
)
