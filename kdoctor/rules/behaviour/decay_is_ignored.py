"""The `decay=` argument of optimizers is ignored."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Argument, Call, constructs
from kdoctor.keras_api import Presence, split_root
from kdoctor.model import Applicability, Edit, Finding, Fix, Hole, NoFix, Precedence, Severity
from kdoctor.rewrite import Speller
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.behaviour._learning_rate_writes import rates_of
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_SCHEDULE = "keras.optimizers.schedules.InverseTimeDecay"


@rule(
    "KD401",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=constructs(Kind.OPTIMIZER).even(hidden=True).argument("decay"),
)
def check(decay: Argument) -> Finding | None:
    """Report each ``decay=``."""
    if not _is_ignored(decay):
        return None
    is_zero = literal(decay.node) == 0
    is_set = not is_zero and rates_of(decay.module).setter(decay.call) is not None
    return decay.finding(
        "`decay=` is ignored, with a warning"
        if is_zero
        else "`decay=` is ignored, with a warning: the learning rate stays constant",
        at=decay.arg,
        severity=Severity.LEGACY if is_zero else Severity.CHANGE,
        help="Remove it."
        if is_zero
        else "Remove it, as Keras 3 ignores it; or divide by `1 + decay * iterations` where the "
        "rate is set."
        if is_set
        else "Pass `keras.optimizers.schedules.InverseTimeDecay(rate, 1, decay)` as the rate.",
        fix=_removed(decay) if is_zero else _scheduled(decay),
    )


def stays_ignored(module: Module, facts: TargetFacts, reference: Reference) -> bool:
    """Say whether a call passes a decay that no safe fix turns into a schedule.

    As long as something else in it is refused, nothing is trained without that decay.
    """
    if reference.call is None:
        return False
    call = Call(module, facts, reference.call, reference=reference)
    call.rule = check
    given = call.argument("decay")
    decay = None if given is None else Argument(call, "decay", given)
    if decay is None or not _is_ignored(decay) or literal(decay.node) == 0:
        return False
    fix = _scheduled(decay)
    return isinstance(fix, NoFix) or fix.applicability is not Applicability.SAFE


def _is_ignored(decay: Argument) -> bool:
    """Say whether Keras 3 passes over it."""
    if "legacy" in decay.name or literal(decay.node) is None:
        return False
    return decay.facts.lookup(decay.name).presence is Presence.EXISTS


def _removed(decay: Argument) -> Fix | NoFix:
    edits = remove_arguments(decay.module, decay.call, [decay.arg])
    if edits is None:
        return NoFix("there is a comment next to it")
    return decay.fix("Remove `decay=0`", *edits)


def _scheduled(decay: Argument) -> Fix | NoFix:
    """Write the rate and its decay as one schedule, where the rate is or in its place."""
    module, rates = decay.module, rates_of(decay.module)
    setter = rates.setter(decay.call)
    if setter is not None:
        return NoFix(f"`{setter}` sets the learning rate, which is not possible with a schedule")
    if decay.is_hidden:
        return NoFix("`**` hides the other arguments")
    edits = remove_arguments(module, decay.call, [decay.arg])
    rate = decay.argument("learning_rate", 0) or decay.argument("lr")
    if edits is None:
        return NoFix("there is a comment next to it")
    if rate is not None and _is_schedule(module, value_of(module, rate.value)):
        return NoFix("the learning rate is already a schedule")
    assert decay.reference is not None
    spelled, need = Speller.at(module, decay.reference).spell(_SCHEDULE)
    each_step = Hole(module.outer_span(decay.node), Precedence.LAMBDA, precedence_of(decay.node))
    if rate is None:
        signature = decay.facts.signature(decay.name)
        default = signature and signature.parameter("learning_rate")
        if not default or default.default is None:
            return NoFix("the default rate is not known")
        start = f"learning_rate={spelled}({default.default}, 1, "
        edits = [Edit(module.span(decay.arg), (start, each_step, ")"))]
    else:
        span = module.outer_span(rate.value)
        inner = Hole(span, Precedence.LAMBDA, precedence_of(rate.value))
        edits = [*edits, Edit(span, (f"{spelled}(", inner, ", 1, ", each_step, ")"))]
    doubt = rates.doubt(decay.call)
    return decay.fix(
        "Replace the decay with a schedule",
        *edits,
        imports=() if need is None else (need,),
        unsafe_because=f"{doubt}, and the rate of an optimizer with a schedule cannot be set"
        if doubt
        else "",
    )


def _is_schedule(module: Module, rate: object) -> bool:
    name = module.qualified(rate.func) if isinstance(rate, cst.Call) else None
    split = split_root(name) if name else None
    return split is not None and "schedules" in split[1]
