"""Which calls in a glimpse of a source may get symbolic tensors."""

from __future__ import annotations

from kdoctor.kinds import Kind
from kdoctor.rules.facts import Facts
from kdoctor.rules.triggers import may_hold
from kdoctor.syntax.glimpse import Called, Glimpse
from kdoctor.syntax.type_sets import kinds_in


def may_get_a_tensor(glimpse: Glimpse, facts: Facts, called: Called) -> bool:
    """Say whether a symbolic tensor, or a list of them, may be among what a call passes."""
    return may_hold(
        glimpse,
        facts,
        lambda possible: any(
            Kind.TENSOR in kinds_in(possible.types_in(called.node, each)) for each in called.values
        ),
    )
