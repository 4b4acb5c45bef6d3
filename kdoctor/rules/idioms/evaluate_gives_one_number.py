"""`loss, accuracy = model.evaluate(…)` for a model compiled without metrics."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kdoctor.analysis.queries import Call, calls
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.idioms._visible_models import VisibleModel, model_in_sight
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_NO_METRICS_HELP = (
    'Pass `metrics=["accuracy"]` to `compile`, or use the single number: `loss = '
    "model.evaluate(…)`."
)


@rule(
    "KD502",
    severity=Severity.ERROR,
    look_for=calls("evaluate", on=Kind.MODEL)
    .even(hidden=True)
    .taken_apart()
    .beside(attribute("compile")),
)
def check(call: Call) -> Finding | None:
    """Report each result of ``evaluate`` that is taken apart wrongly."""
    assert call.use is not None
    model = None if _asks_for_a_dict(call.call) else model_in_sight(call.module, call.use)
    return None if model is None else _wrongly_taken_apart(call, model)


def _wrongly_taken_apart(call: Call, model: VisibleModel) -> Finding | None:
    parent = call.module.parent(call.call)
    place: cst.CSTNode
    if isinstance(parent, cst.Assign) and len(parent.targets) == 1:
        place = parent.targets[0].target
        error = _unpacking_error(place, model.metrics)
    elif isinstance(parent, cst.Subscript) and parent.value is call.call:
        place = parent
        error = _index_error(parent, model.metrics)
    else:
        return None
    if error is None:
        return None
    gives = "a single number" if not model.metrics else f"a list of {model.metrics + 1} numbers"
    return call.finding(
        f"`evaluate` returns {gives}, as the model is compiled with {model.metrics or 'no'} "
        f"metric{'s' * (model.metrics != 1)}: {error}",
        at=place,
        symbol=f"{call.cls or 'Model'}.evaluate",
        confidence=Confidence.LIKELY,
        help=_NO_METRICS_HELP if not model.metrics else "Unpack as many values as there are.",
        fix=NoFix("kdoctor cannot tell whether a metric is missing or there is one name too many"),
    )


def _unpacking_error(target: cst.BaseExpression, metrics: int) -> str | None:
    if not isinstance(target, cst.Tuple | cst.List):
        return None
    if not metrics:
        return "TypeError: cannot unpack non-iterable float object"
    wanted, given = len(target.elements), metrics + 1
    if wanted == given or any(isinstance(each, cst.StarredElement) for each in target.elements):
        return None
    if wanted > given:
        return f"ValueError: not enough values to unpack (expected {wanted}, got {given})"
    return f"ValueError: too many values to unpack (expected {wanted})"


def _index_error(subscript: cst.Subscript, metrics: int) -> str | None:
    if not metrics:
        return "TypeError: 'float' object is not subscriptable"
    index = _literal_index(subscript.slice)
    if index is None or -metrics - 1 <= index <= metrics:
        return None
    return "IndexError: list index out of range"


def _literal_index(slices: Sequence[cst.SubscriptElement]) -> int | None:
    if len(slices) != 1 or not isinstance(slices[0].slice, cst.Index):
        return None
    value = slices[0].slice.value
    return int(value.value, 0) if isinstance(value, cst.Integer) else None


def _asks_for_a_dict(call: cst.Call) -> bool:
    """Say whether ``return_dict=`` (or ``**options``, which may hold it) is given."""
    return any(
        argument.star == "**"
        or (argument.keyword is not None and argument.keyword.value == "return_dict")
        for argument in call.args
    )
