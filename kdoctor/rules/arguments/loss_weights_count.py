"""`loss_weights` must have one entry per loss."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import call_of_super, value_of
from kdoctor.analysis.dataflow.escapes import is_read_once, unmutated_value_of
from kdoctor.analysis.queries import Argument, calls
from kdoctor.analysis.queries.forms import DictForm
from kdoctor.analysis.training.loss_counts import count_elements, count_losses
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_WEIGHTS = "loss_weights"
_PLACE = 1  # of `loss`, after the optimizer
# A class of one's own may work its loss out without them.
_BUILT = ("", "Functional", "Sequential")
_Display = cst.List | cst.Tuple | cst.Dict


def _is_display(form: object) -> bool:
    return isinstance(form, list | tuple | DictForm)


@rule(
    "KD320",
    severity=Severity.ERROR,
    since="3.7",
    look_for=calls("compile", on=Kind.MODEL)
    .even(hidden=True)
    .passing("loss", place=_PLACE)
    .argument(_WEIGHTS, where=_is_display),
)
def check(given: Argument) -> Finding | None:
    """Report each such call."""
    module, loss = given.module, given.argument("loss", _PLACE)
    weights = unmutated_value_of(module, given.node)
    if loss is None or not isinstance(weights, _Display):
        return None
    if given.cls not in _BUILT or call_of_super(given.call) is not None:
        return None
    losses, count = count_losses(module, loss.value), count_elements(weights)
    if losses is None or count is None:
        return None
    if isinstance(value_of(module, loss.value), cst.Dict) and isinstance(weights, cst.Dict):
        # It looks up those that it needs.
        missing = _without_weight(module, loss.value, weights)
        if missing and given.cls == "Functional":
            return _of_dicts(given, weights, missing)
    elif losses != count and max(losses, count) > 1:
        return _of_counts(given, loss.value, losses, weights, count)
    return None


def _without_weight(
    module: Module, loss: cst.BaseExpression, weights: cst.BaseExpression
) -> list[str]:
    """Return the outputs that a dict of losses has and a dict of weights lacks."""
    losses = value_of(module, loss)
    if not isinstance(losses, cst.Dict) or not isinstance(weights, cst.Dict):
        return []
    have, want = _keys(weights), _keys(losses)
    if have is None or want is None or not set(have) <= set(want):
        return []
    return [each for each in want if each not in have]


def _keys(display: cst.Dict) -> list[str] | None:
    keys = [literal(each.key) for each in display.elements if isinstance(each, cst.DictElement)]
    names = [each for each in keys if isinstance(each, str)]
    return names if len(set(names)) == len(display.elements) else None


def _of_dicts(given: Argument, weights: _Display, missing: list[str]) -> Finding:
    fix: Fix | NoFix
    if not weights.elements:
        fix = NoFix("the dict is empty")
    elif not is_read_once(given.module, given.node):
        fix = NoFix("the dict is also used elsewhere")
    else:
        start = given.module.span(weights.elements[0]).start
        added = "".join(f'"{each}": 1.0, ' for each in missing)
        fix = given.fix(
            "Add a weight of 1 for each missing output", Edit(Span(start, start), (added,))
        )
    return given.finding(
        f"`loss_weights` has no entry for `{missing[0]}`: KeyError: '{missing[0]}'",
        at=weights,
        symbol=_symbol(given),
        help="Give each output a weight; Keras 2 used 1.0 for missing ones.",
        fix=fix,
    )


def _of_counts(
    given: Argument, loss: cst.BaseExpression, losses: int, weights: _Display, count: int
) -> Finding:
    entries = "1 entry" if count == 1 else f"{count} entries"
    have = "is 1 loss" if losses == 1 else f"are {losses} losses"
    return given.finding(
        f"`loss_weights` has {entries}, but there {have}: ValueError: `loss_weights` must match "
        f"the number of losses, got {losses} losses and {count} weights.",
        at=weights,
        symbol=_symbol(given),
        help="Pass a list of losses, one for each output.",
        fix=_repeated(given, loss, weights, count),
    )


def _symbol(given: Argument) -> str:
    return f"{given.cls or 'Model'}.compile({_WEIGHTS})"


def _repeated(
    given: Argument, loss: cst.BaseExpression, weights: _Display, count: int
) -> Fix | NoFix:
    if isinstance(value_of(given.module, loss), _Display):
        return NoFix("kdoctor cannot tell which loss or weight is the extra one")
    if isinstance(weights, cst.Dict):
        return NoFix("kdoctor cannot tell whether each output has a weight")
    if not isinstance(loss, cst.SimpleString | cst.Name | cst.Attribute):
        return NoFix("each output needs its own loss")
    span = given.module.outer_span(loss)
    repeated = [part for _ in range(count) for part in (Hole(span), ", ")][:-1]
    return given.fix(
        f"Repeat the loss for each of the {count} outputs", Edit(span, ("[", *repeated, "]"))
    )
