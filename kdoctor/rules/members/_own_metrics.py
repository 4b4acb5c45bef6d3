"""Models that see to their metrics themselves."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.queries import Read

# A class that has one of these may well update metrics that no `compile` was told of.
_OWN: Final = frozenset({"compute_metrics", "metrics", "train_step"})


def has_metrics_of_its_own(read: Read) -> bool:
    """Say whether the model is of a class that sees to its metrics itself: they have their names.

    What the class updates on its own are metrics of the model, each by its name.
    """
    ancestors = read.module.ancestors(read.node)
    around = next((each for each in ancestors if isinstance(each, cst.ClassDef)), None)
    for each in read.module.nodes(cst.ClassDef):
        is_its = each.name.value == read.owner.cls or each is around
        if is_its and any(
            isinstance(part, cst.FunctionDef) and part.name.value in _OWN for part in each.body.body
        ):
            return True
    return False
