"""`loss_weights` must have one entry per loss."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, call_of_super, literal, value_of
from kdoctor.analysis.dataflow.escapes import is_read_once, unmutated_value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.loss_counts import count_elements, count_losses
from kdoctor.analysis.triggers import Trigger, attribute, keyword
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity, Span
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_WEIGHTS = "loss_weights"
_PLACE = 1  # of `loss`, after the optimizer
# A class of one's own may work its loss out without them.
_BUILT = (None, "Functional", "Sequential")
_Display = cst.List | cst.Tuple | cst.Dict


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such call."""
    for use in module.members:
        if use.member != "compile" or use.owner.kind is not Kind.MODEL or use.called is None:
            continue
        if use.owner_defines or use.owner.cls not in _BUILT or module.is_guarded(use.called):
            continue
        if call_of_super(use.called) is not None:
            continue
        loss, given = argument(use.called, "loss", _PLACE), argument(use.called, _WEIGHTS)
        weights = None if given is None else unmutated_value_of(module, given.value)
        if given is None or loss is None or not isinstance(weights, _Display):
            continue
        losses, count = count_losses(module, loss.value), count_elements(weights)
        if losses is None or count is None:
            continue
        if isinstance(value_of(module, loss.value), cst.Dict) and isinstance(weights, cst.Dict):
            # It looks up those that it needs.
            missing = _without_weight(module, loss.value, weights)
            if missing and use.owner.cls == "Functional":
                yield _of_dicts(module, facts, use, given.value, weights, missing)
        elif losses != count and max(losses, count) > 1:
            yield _of_counts(module, facts, use, loss.value, losses, weights, count)


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


def _of_dicts(  # noqa: PLR0913, PLR0917 - what the finding is about
    module: Module,
    facts: TargetFacts,
    use: MemberUse,
    given: cst.BaseExpression,
    weights: _Display,
    missing: list[str],
) -> Finding:
    fix: Fix | NoFix
    if not weights.elements:
        fix = NoFix("the dict is empty")
    elif not is_read_once(module, given):
        fix = NoFix("the dict is also used elsewhere")
    else:
        start = module.span(weights.elements[0]).start
        added = "".join(f'"{each}": 1.0, ' for each in missing)
        fix = Fix(
            "Add a weight of 1 for each missing output",
            (Edit(Span(start, start), (added,)),),
            facts.applicability(*(each for each in rule.invalid if each.after)),
        )
    return rule.finding(
        module.place(weights),
        f"`loss_weights` has no entry for `{missing[0]}`: KeyError: '{missing[0]}'",
        symbol=f"{use.owner.cls or 'Model'}.compile({_WEIGHTS})",
        confidence=use.confidence,
        help="Give each output a weight; Keras 2 used 1.0 for missing ones.",
        fix=fix,
    )


def _of_counts(  # noqa: PLR0913, PLR0917 - what the finding is about
    module: Module,
    facts: TargetFacts,
    use: MemberUse,
    loss: cst.BaseExpression,
    losses: int,
    weights: _Display,
    count: int,
) -> Finding:
    entries = "1 entry" if count == 1 else f"{count} entries"
    have = "is 1 loss" if losses == 1 else f"are {losses} losses"
    return rule.finding(
        module.place(weights),
        f"`loss_weights` has {entries}, but there {have}: ValueError: `loss_weights` must match "
        f"the number of losses, got {losses} losses and {count} weights.",
        symbol=f"{use.owner.cls or 'Model'}.compile({_WEIGHTS})",
        confidence=use.confidence,
        help="Pass a list of losses, one for each output.",
        fix=_repeated(module, facts, loss, weights, count),
    )


def _repeated(
    module: Module, facts: TargetFacts, loss: cst.BaseExpression, weights: _Display, count: int
) -> Fix | NoFix:
    if isinstance(value_of(module, loss), _Display):
        return NoFix("kdoctor cannot tell which loss or weight is the extra one")
    if isinstance(weights, cst.Dict):
        return NoFix("kdoctor cannot tell whether each output has a weight")
    if not isinstance(loss, cst.SimpleString | cst.Name | cst.Attribute):
        return NoFix("each output needs its own loss")
    span = module.outer_span(loss)
    repeated = [part for _ in range(count) for part in (Hole(span), ", ")][:-1]
    return Fix(
        f"Repeat the loss for each of the {count} outputs",
        (Edit(span, ("[", *repeated, "]")),),
        facts.applicability(*(each for each in rule.invalid if each.after)),
    )


def _may_differ(quick: QuickFacts, _: TargetFacts) -> bool:
    for called in quick.calls_with(_WEIGHTS):
        loss = called.argument("loss", _PLACE)
        counts = {_count_of(each) for each in quick.values_of(loss)}
        if isinstance(loss, ast.Name):
            counts.add(1)  # a function, or what is imported
        weights = quick.values_of(called.argument(_WEIGHTS))
        if any({_count_of(each)} != counts for each in weights if _is_display(each)):
            return True
    return False


def _is_display(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple | ast.Dict)


def _count_of(node: ast.expr) -> int:
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Dict(values=elements):
            return len(elements)
    return 1


rule = Rule(
    code="KD320",
    name="loss-weights-count",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=keyword(_WEIGHTS) & attribute("compile") & Trigger(_may_differ),
    since="3.7",
)
