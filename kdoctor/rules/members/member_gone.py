"""Members of models, layers, optimizers, metrics and tensors that the target no longer has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import is_in_old_optimizer
from kdoctor.model import Applicability, Finding, Fix, NoFix, Severity
from kdoctor.rewrite import MemberRewrite, MemberTable
from kdoctor.rules.behaviour.weights_appended import appended_weight
from kdoctor.rules.idioms.hook_is_never_called import is_handed_on
from kdoctor.rules.members._add_update import update_fix
from kdoctor.rules.members._advice import advice_for
from kdoctor.rules.members._error_owner import (
    asks_for_several_calls,
    attribute_error,
    last_release_with,
    owner_in_words,
    symbol,
)
from kdoctor.rules.members._generator_calls import generator_fix, may_count_samples
from kdoctor.rules.members._may_be_removed import may_be_gone
from kdoctor.rules.members._member_rewrites import KINDS, ROWS
from kdoctor.rules.members._one_input_name import one_input_name
from kdoctor.rules.members._output_shapes import shape_of_any_layer
from kdoctor.rules.members.shape_is_a_tuple import mends_get_shape
from kdoctor.rules.rule import Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.value_types import Kind

_KINDS = frozenset(
    {
        *(Kind.MODEL, Kind.LAYER, Kind.OPTIMIZER, Kind.LOSS, Kind.METRIC, Kind.CALLBACK),
        *(Kind.TENSOR, Kind.VARIABLE),
    }
)
# Rules of their own tell more about these.
_ELSEWHERE = frozenset(
    {
        *("backend", "unique_object_name", "_keras_history"),
        *("get_gradients", "get_updates", "updates_with_grads", "lr"),
        "_keras_shape",
    }
)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each use of a member that is gone and that the user's own code does not define."""
    table = _table(facts)
    for use in module.members:
        if use.owner.kind not in _KINDS or use.member in _ELSEWHERE or use.owner_defines:
            continue
        if (use.owner.kind, use.member) == (Kind.MODEL, "reset_states"):
            continue  # KD208
        if use.member.endswith("trainable_weights") and appended_weight(module, use.node):
            continue  # KD430
        if use.member == "get_shape" and mends_get_shape(module, facts, use.node):
            continue  # KD207
        if is_handed_on(module, use.node, use.member):
            continue  # KD514
        last = last_release_with(facts, use.owner, use.member)
        if last is None or module.is_guarded(use.node):
            continue
        if use.owner.kind is Kind.OPTIMIZER and is_in_old_optimizer(module, use.node):
            continue  # KD511 and KD512 tell of the class as a whole
        yield _finding(module, facts, use, table, last)


@lru_cache(maxsize=8)
def _table(facts: TargetFacts) -> MemberTable:
    return MemberTable(ROWS, KINDS, facts.signature)


def _finding(
    module: Module, facts: TargetFacts, use: MemberUse, table: MemberTable, last: str
) -> Finding:
    advice = advice_for(use.owner.kind, use.member)
    special = (
        update_fix(module, use)
        or generator_fix(module, use)
        or shape_of_any_layer(module, use, facts)
        or one_input_name(module, use, facts)
    )
    attempt = special or table.attempt(module, use, lambda row: _rated(facts, row))
    if isinstance(attempt, Fix):
        attempt = may_count_samples(module, facts, use, attempt)
    if use.member.endswith("_at") and asks_for_several_calls(module):
        attempt = NoFix("this file also reads the results of other calls of a layer")
    if isinstance(attempt, NoFix) and not table.rows_for(use.owner, use.member):
        attempt = NoFix(advice.no_fix_because)
    release = f" (last in Keras {last})" if last[1:] else ""
    return rule.finding(
        module.place(use.node),
        f"{owner_in_words(use.owner)} no longer has `{use.member}`{release}: "
        f"{attribute_error(use.owner, use.member)}",
        symbol=symbol(use.owner, use.member),
        confidence=use.confidence,
        help=advice.help,
        fix=attempt,
    )


def _rated(facts: TargetFacts, row: MemberRewrite) -> Applicability:
    """A row is proven by the examples that show its member."""
    return facts.applicability(
        *(
            each
            for each in rule.invalid
            if each.after is not None
            if f".{row.member}" in each.before and f".{row.member}" not in each.after
        )
    )


rule = Rule(
    code="KD205",
    name="member-gone",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=may_be_gone(_KINDS),
    since="3.0",
)
