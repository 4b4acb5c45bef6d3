"""Say which optimizers for TensorFlow 2.11 to 2.15 are rewritten as a whole.

Of such a class one rule tells, at its name. Where something in it is not understood, other rules
tell of its lines as well.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import optimizers_of_2_11
from kdoctor.memoize import once, unowned
from kdoctor.rules.idioms._optimizers.plan import Plan
from kdoctor.rules.idioms._optimizers.protocols import OldOptimizer, old_optimizers_of_2_11
from kdoctor.syntax import Module


@once
def plans_of(module: Module, facts: TargetFacts) -> tuple[tuple[OldOptimizer, Plan], ...]:
    """Return the plan of each such class of a file."""
    from kdoctor.rules.idioms._optimizers.rewrite_class import (  # noqa: PLC0415 - few files need it
        plan_class,
    )

    found = old_optimizers_of_2_11(module, facts)
    module = unowned(module)  # the plans keep it, and it keeps them
    return tuple((each, plan_class(module, facts, each)) for each in found)


def is_rewritten(module: Module, facts: TargetFacts, node: cst.CSTNode) -> bool:
    """Say whether a node stands in such a class of which every statement is understood."""
    told = optimizers_of_2_11(module)
    around = {node, *module.ancestors(node)} & told if told else told
    return bool(around) and any(
        each.node in around and not plan.stops for each, plan in plans_of(module, facts)
    )
