"""Which expressions in a glimpse of a source may be symbolic tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kdoctor.kinds import Kind
from kdoctor.rules.facts import Facts
from kdoctor.rules.triggers import may_hold
from kdoctor.syntax.glimpse import Called, Glimpse
from kdoctor.syntax.type_sets import kinds_in

if TYPE_CHECKING:
    from kdoctor.syntax.sketch import Condition, Loop


def may_be_a_tensor(
    glimpse: Glimpse,
    facts: Facts,
    asked: Iterable[tuple[ast.Call | Condition | Loop, ast.expr]],
) -> bool:
    """Say whether one of the expressions may be a symbolic tensor.

    Each is given with the call, condition or loop that it stands in.
    """
    return may_hold(
        glimpse,
        facts,
        lambda possible: any(
            found.kind is Kind.TENSOR for each in asked for found in possible.types_in(*each)
        ),
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
