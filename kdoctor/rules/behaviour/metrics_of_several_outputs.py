"""`metrics=["accuracy"]` needs one entry per output if the model has several outputs."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, call_of_super, value_of
from kdoctor.analysis.dataflow.escapes import unmutated_value_of
from kdoctor.analysis.dataflow.points_to import PointsTo, points_to_of
from kdoctor.analysis.queries import Call, Instance, calls, constructs
from kdoctor.analysis.queries.forms import is_list, is_sequence_of_several, is_several
from kdoctor.analysis.training.loss_counts import count_elements, count_losses
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity, Span
from kdoctor.rules.behaviour._single_item_lists import outputs_of
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_ARGUMENTS = ("metrics", "weighted_metrics")
_LOSS_PLACE = 1  # of `loss`, after the optimizer
_WITHOUT_OWN_STEP = (None, "Functional")  # a class of one's own may do without the metrics


@rule(
    "KD411",
    severity=Severity.ERROR,
    since="3.0",
    look_for=calls("compile", on=Kind.MODEL)
    .passing(*_ARGUMENTS, where=is_list)
    .beside(
        constructs(Instance(Kind.MODEL, "Functional")).passing(
            "outputs", place=1, where=is_sequence_of_several
        )
        | calls("compile", on=Kind.MODEL).passing_one_of(
            (("loss", _LOSS_PLACE), ("loss_weights", None)), where=is_several
        )
    ),
)
def check(call: Call) -> Iterator[Finding]:
    """Report each list of metrics that is meant for all outputs."""
    module, method = call.module, call.node.func
    assert isinstance(method, cst.Attribute)
    flat = [
        (name, given.value)
        for name in _ARGUMENTS
        if (given := call.argument(name)) is not None
        and isinstance(given.value, cst.List)
        and _is_flat(given.value)
    ]
    outputs = _count_outputs(module, points_to_of(module), method.value) if flat else None
    if flat and outputs is None and (call.cls or None) in _WITHOUT_OWN_STEP:
        if call_of_super(call.node) is not None:
            return
        outputs = _count_losses(module, call.node)
    for name, metrics in flat if outputs and outputs > 1 else ():
        assert outputs is not None
        if _repeats_one(metrics) and len(metrics.elements) == outputs:
            continue  # one for each; Keras 2 refused it: "two metrics with the same name"
        yield _finding(call, name, metrics, outputs)


def _count_outputs(module: Module, points_to: PointsTo, model: cst.BaseExpression) -> int | None:
    """Return how many outputs a model is made with; None where that is not sure.

    It is made here, or by a function of the file that always makes as many.
    """
    made = value_of(module, model)
    if isinstance(made, cst.Call) and (count := _outputs_of(module, made)) is not None:
        return count
    known = list(points_to.of(model))
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


def _finding(call: Call, name: str, metrics: cst.List, outputs: int) -> Finding:
    count = len(metrics.elements)
    return call.finding(
        f"`metrics` needs one entry for each of the {outputs} outputs: ValueError: tuple arity "
        f"mismatch; expected: {outputs}, got: {count}"
        if count != outputs
        else "each metric is applied to one output only, in order; Keras 2 applied all of them "
        "to every output",
        at=metrics,
        symbol=f"{call.cls or 'Model'}.compile({name})",
        severity=Severity.ERROR if count != outputs else Severity.CHANGE,
        help="Write one list of metrics per output.",
        fix=_fix(call, metrics, outputs),
    )


def _fix(call: Call, metrics: cst.List, outputs: int) -> Fix | NoFix:
    if _repeats_one(metrics):
        return NoFix("a metric is listed twice, which Keras 2 rejected")
    if not all(isinstance(each.value, cst.SimpleString) for each in metrics.elements):
        return NoFix("each output needs its own metric object")
    span = call.module.span(metrics)
    return call.fix(
        f"Write the metrics for each of the {outputs} outputs",
        Edit(span, ("[", *_repeated(span, outputs), "]")),
    )


def _repeated(span: Span, times: int) -> Iterator[str | Hole]:
    for index in range(times):
        yield from ((", ", Hole(span)) if index else (Hole(span),))
