"""``optimizer.get_gradients`` and ``optimizer.get_updates``: removed in Keras 3."""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import is_in_old_optimizer
from kdoctor.analysis.triggers import member_of
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.members._error_owner import attribute_error, symbol
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_GONE = {"get_gradients", "get_updates", "updates_with_grads"}


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each use that the user's own optimizer does not define."""
    for use in module.members:
        is_it = use.owner.kind is Kind.OPTIMIZER and use.member in _GONE
        if not is_it or use.owner_defines or module.is_guarded(use.node):
            continue
        if is_in_old_optimizer(module, use.node):
            continue  # KD511 and KD512 tell of the class as a whole
        yield rule.finding(
            module.place(use.node),
            f"an optimizer has no `{use.member}`: {attribute_error(use.owner, use.member)}",
            symbol=symbol(use.owner, use.member),
            confidence=use.confidence,
            help="To clip gradients pass `clipvalue=` or `clipnorm=` to the optimizer; to compute "
            "them yourself use the backend (`tf.GradientTape`).",
            fix=NoFix("gradients are computed where the loss is, which is elsewhere"),
        )


rule = Rule(
    code="KD204",
    name="optimizer-without-gradients",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=member_of({Kind.OPTIMIZER}, *_GONE),
    since="3.0",
)
