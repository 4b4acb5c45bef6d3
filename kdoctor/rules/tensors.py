"""Which expressions in a glimpse of a source may be symbolic tensors."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from kdoctor.kinds import Kind
from kdoctor.rules.facts import Facts
from kdoctor.rules.triggers import may_hold
from kdoctor.syntax.glimpse import Called, Glimpse
from kdoctor.syntax.type_sets import kinds_in

if TYPE_CHECKING:
    from kdoctor.syntax.sketch import Condition, Loop


def may_be_a_tensor(
    glimpse: Glimpse, facts: Facts, place: ast.Call | Condition | Loop, node: ast.expr
) -> bool:
    """Say whether an expression in a call, a condition or a loop may be one symbolic tensor."""
    return may_hold(
        glimpse,
        facts,
        lambda possible: any(each.kind is Kind.TENSOR for each in possible.types_in(place, node)),
    )


def may_get_a_tensor(glimpse: Glimpse, facts: Facts, called: Called) -> bool:
    """Say whether a symbolic tensor, or a list of them, may be among what a call passes."""
    return may_hold(
        glimpse,
        facts,
        lambda possible: any(
            Kind.TENSOR in kinds_in(possible.types_in(called.node, each)) for each in called.values
        ),
    )
