"""Members of models, layers, optimizers, metrics and tensors that the target no longer has."""

from __future__ import annotations

from functools import lru_cache

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.overridden import own_among
from kdoctor.analysis.models.user_classes import is_in_old_optimizer
from kdoctor.analysis.queries import Read
from kdoctor.analysis.queries.members import reads_where
from kdoctor.model import Applicability, Finding, Fix, NoFix, Severity
from kdoctor.rewrite import MemberRewrite, MemberTable
from kdoctor.rules.behaviour.weights_appended import appended_weight
from kdoctor.rules.idioms._optimizers.whole import is_rewritten
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
from kdoctor.rules.members._lost_members import is_lost, may_be_lost, may_be_lost_by_some
from kdoctor.rules.members._member_rewrites import KINDS, ROWS
from kdoctor.rules.members._minimize import minimized_by_hand
from kdoctor.rules.members._one_input_name import one_input_name
from kdoctor.rules.members._output_shapes import shape_of_any_layer, shape_of_input_layer
from kdoctor.rules.members._predicted_classes import classes_of_any_model
from kdoctor.rules.members._tensor_nodes import operation_behind
from kdoctor.rules.members.shape_is_a_tuple import mends_get_shape
from kdoctor.rules.rule import rule
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


@rule(
    "KD205",
    severity=Severity.ERROR,
    since="3.0",
    look_for=reads_where(is_lost, on=_KINDS, among=may_be_lost, among_all=may_be_lost_by_some),
)
def check(read: Read) -> Finding | None:
    """Report each use of a member that is gone and that the user's own code does not define."""
    module, owner, member = read.module, read.owner, read.member
    if member in _ELSEWHERE or (owner.kind, member) == (Kind.MODEL, "reset_states"):
        return None  # KD208
    if member.endswith("trainable_weights") and appended_weight(module, read.node):
        return None  # KD430
    if member == "get_shape" and mends_get_shape(module, read.node):
        return None  # KD207
    if is_handed_on(module, read.node, member):
        return None  # KD514
    if owner.kind is Kind.OPTIMIZER and is_in_old_optimizer(module, read.node):
        return None  # KD511 and KD512 tell of the class as a whole
    is_of_optimizer = owner.kind in {Kind.OPTIMIZER, Kind.VARIABLE}
    if is_of_optimizer and is_rewritten(module, read.facts, read.node):
        return None  # KD524
    last = last_release_with(read.facts, owner, member) or ""
    release = f" (last in Keras {last})" if last[1:] else ""
    return read.finding(
        f"{owner_in_words(owner)} no longer has `{member}`{release}: "
        f"{attribute_error(owner, member)}",
        symbol=symbol(owner, member),
        help=advice_for(owner.kind, member).help,
        fix=_fix(read),
    )


@lru_cache(maxsize=8)
def _table(facts: TargetFacts) -> MemberTable:
    return MemberTable(ROWS, KINDS, facts.signature)


def _fix(read: Read) -> Fix | NoFix:
    module, facts, use = read.module, read.facts, read.use
    table = _table(facts)
    attempt = (
        update_fix(module, use)
        or generator_fix(module, use)
        or shape_of_any_layer(module, use)
        or shape_of_input_layer(module, use)
        or one_input_name(module, use, facts)
        or operation_behind(read, check.invalid)
        or table.attempt(module, use, _rated)
    )
    if isinstance(attempt, NoFix):
        attempt = (
            classes_of_any_model(module, use, facts)
            or minimized_by_hand(module, use, facts)
            or attempt
        )
    if read.member.endswith("_at") and asks_for_several_calls(module):
        return NoFix("this file also reads the results of other calls of a layer")
    if not isinstance(attempt, NoFix):
        if taken := own_among(module, use.node.value, attempt.edits):
            return NoFix(f"the class has a `{taken}` of its own")
        return may_count_samples(module, facts, use, attempt)
    if table.rows_for(read.owner, read.member):
        return attempt
    return NoFix(advice_for(read.owner.kind, read.member).no_fix_because)


def _rated(row: MemberRewrite) -> Applicability:
    """A row is proven by the examples that show its member."""
    return check.applicability(
        each
        for each in check.invalid
        if each.after is not None
        if f".{row.member}" in each.before and f".{row.member}" not in each.after
    )
