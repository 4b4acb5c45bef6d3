"""Verify functions that return an optimizer, by the steps that it takes."""

from __future__ import annotations

from typing import Any

from .compiled import stepped
from .frameworks import Side
from .instantiate import MadeWithArguments, made
from .measurement import MODEL_TOLERANCE, Case, error_text
from .optimizers import OptimizerClass, variables_in

_LATE = "steps at late iterations"


class OptimizerMaker(MadeWithArguments):
    """A function that returns an optimizer: its first steps, and some as after long training."""

    kind = "maker of an optimizer"

    @staticmethod
    def is_wanted(found: Any, side: Side) -> bool:
        """Say whether the result is an optimizer."""
        return isinstance(found, side.optimizers)

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Take the steps of any optimizer, then those that show a schedule or a decay."""
        cases = OptimizerClass.measure(subject, {**plan, "settings": []}, side)
        if _LATE not in plan.get("only", {_LATE}):
            return cases
        late = Case(_LATE, tolerance=MODEL_TOLERANCE)
        try:
            optimizer = made(subject, plan["made_with"], side)
            late.values = stepped(optimizer, variables_in(side), side)
        except BaseException as error:  # noqa: BLE001 - user code may raise anything
            late.error = error_text(error)
        return [*cases, late]


EXERCISES = (OptimizerMaker,)
