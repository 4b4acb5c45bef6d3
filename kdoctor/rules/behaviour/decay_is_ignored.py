"""The `decay=` argument of optimizers is ignored."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, instances, is_hidden, literal, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, keyword
from kdoctor.keras_api import Presence, split_root
from kdoctor.model import (
    Applicability,
    Edit,
    Finding,
    Fix,
    Hole,
    ImportNeed,
    NoFix,
    Precedence,
    Severity,
)
from kdoctor.rewrite import Speller
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.behaviour._learning_rate_writes import Rates
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_SCHEDULE = "keras.optimizers.schedules.InverseTimeDecay"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each ``decay=``."""
    rates = Rates(module)
    for reference, call, _ in instances(module, Kind.OPTIMIZER, facts):
        given = _ignored(facts, reference, call)
        if given is not None and not module.is_guarded(call):
            yield _finding(module, facts, rates, reference, given)


def stays_ignored(module: Module, facts: TargetFacts, reference: Reference) -> bool:
    """Say whether a call passes a decay that no safe fix turns into a schedule.

    As long as something else in it is refused, nothing is trained without that decay.
    """
    call = reference.call
    given = None if call is None else _ignored(facts, reference, call)
    if given is None or literal(given.value) == 0:
        return False
    fix = _finding(module, facts, Rates(module), reference, given).fix
    return fix is None or fix.applicability is not Applicability.SAFE


def _ignored(facts: TargetFacts, reference: Reference, call: cst.Call) -> cst.Arg | None:
    """Return the ``decay=`` of a call that Keras 3 passes over."""
    given = argument(call, "decay")
    if given is None or "legacy" in reference.name or literal(given.value) is None:
        return None
    is_there = facts.lookup(reference.name).presence is Presence.EXISTS
    return given if is_there else None


def _finding(
    module: Module,
    facts: TargetFacts,
    rates: Rates,
    reference: Reference,
    given: cst.Arg,
) -> Finding:
    call = reference.call
    assert call is not None
    is_zero = literal(given.value) == 0
    setter = None if is_zero else rates.setter(call)
    fix: Fix | NoFix
    if is_zero:
        fix = _dropped(module, facts, call, given)
    elif setter is not None:
        fix = NoFix(f"`{setter}` sets the learning rate, which is not possible with a schedule")
    else:
        fix = _scheduled(module, facts, rates.doubt(call), reference, given)
    return rule.finding(
        module.place(given),
        "`decay=` is ignored, with a warning"
        if is_zero
        else "`decay=` is ignored, with a warning: the learning rate stays constant",
        symbol=f"{reference.name}(decay)",
        confidence=reference.confidence,
        severity=Severity.LEGACY if is_zero else Severity.CHANGE,
        help="Remove it."
        if is_zero
        else "Remove it, as Keras 3 ignores it; or divide by `1 + decay * iterations` where the "
        "rate is set."
        if setter is not None
        else "Pass `keras.optimizers.schedules.InverseTimeDecay(rate, 1, decay)` as the rate.",
        fix=fix,
    )


def _may_be_passed(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether something of Keras is called with it."""
    return any(
        split_root(name) is not None
        for called in quick.calls_with("decay")
        for name in called.names
    )


def _dropped(module: Module, facts: TargetFacts, call: cst.Call, given: cst.Arg) -> Fix | NoFix:
    edits = remove_arguments(module, call, [given])
    if edits is None:
        return NoFix("there is a comment next to it")
    return Fix("Remove `decay=0`", tuple(edits), _proven(facts))


def _proven(facts: TargetFacts) -> Applicability:
    return facts.applicability(*(each for each in rule.invalid if each.after and not each.unsafe))


def _scheduled(
    module: Module,
    facts: TargetFacts,
    doubt: str,
    reference: Reference,
    given: cst.Arg,
) -> Fix | NoFix:
    """Write the rate and its decay as one schedule, where the rate is or in its place.

    ``doubt``: why it may be that the rate is set, "" where it surely is not.
    """
    call = reference.call
    assert call is not None
    if is_hidden(call):
        return NoFix("`**` hides the other arguments")
    edits = remove_arguments(module, call, [given])
    rate = argument(call, "learning_rate", 0) or argument(call, "lr")
    if edits is None:
        return NoFix("there is a comment next to it")
    if rate is not None and _is_schedule(module, rate.value):
        return NoFix("the learning rate is already a schedule")
    spelled, need = Speller.at(module, reference).spell(_SCHEDULE)
    decay = Hole(module.outer_span(given.value), Precedence.LAMBDA, precedence_of(given.value))
    if rate is None:
        default = _default_rate(facts, reference)
        if default is None:
            return NoFix("the default rate is not known")
        parts: tuple[str | Hole, ...] = (f"learning_rate={spelled}({default}, 1, ", decay, ")")
        edits = [Edit(module.span(given), parts)]
    else:
        span = module.outer_span(rate.value)
        inner = Hole(span, Precedence.LAMBDA, precedence_of(rate.value))
        edits = [*edits, Edit(span, (f"{spelled}(", inner, ", 1, ", decay, ")"))]
    return Fix(
        "Replace the decay with a schedule",
        tuple(edits),
        Applicability.UNSAFE if doubt else _proven(facts),
        () if need is None else (ImportNeed(need.module, need.name, need.local),),
        unsafe_because=f"{doubt}, and the rate of an optimizer with a schedule cannot be set"
        if doubt
        else "",
    )


def _is_schedule(module: Module, rate: cst.BaseExpression) -> bool:
    value = value_of(module, rate)
    name = module.qualified(value.func) if isinstance(value, cst.Call) else None
    split = split_root(name) if name else None
    return split is not None and "schedules" in split[1]


def _default_rate(facts: TargetFacts, reference: Reference) -> str | None:
    signature = facts.signature(reference.name)
    parameter = signature.parameter("learning_rate") if signature else None
    return None if parameter is None else parameter.default


rule = Rule(
    code="KD401",
    name="decay-is-ignored",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=keyword("decay") & Trigger(_may_be_passed),
    since="3.0",
)
