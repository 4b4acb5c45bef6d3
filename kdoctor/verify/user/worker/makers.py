"""Verify functions that return a function of a tensor, such as an activation."""

from __future__ import annotations

from typing import Any

from . import draws
from .frameworks import Side
from .functions import TensorFunction
from .instantiate import made
from .measurement import Case, NotTried


class TensorFunctionMaker:
    """A function that returns a function of a tensor that has no weights."""

    kind = "maker of a function of a tensor"

    @staticmethod
    def plan(subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return arguments for it, and the plan for the function that it returns.

        Raises:
            NotTried: no tensor is accepted by what it returns.
        """
        for made_with in draws.arguments_for(subject, job["calls"]):
            try:
                inner = TensorFunction.plan(made(subject, made_with, side), {"calls": []}, side)
            except Exception:  # noqa: BLE001, S112 - other arguments may work
                continue
            if "only" in inner:
                return {"made_with": made_with, "inner": inner}
        raise NotTried("it returns a function that kdoctor does not know how to call")

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Call the returned function with each input."""
        inner = {**plan["inner"], "only": plan.get("only", plan["inner"]["only"])}
        return TensorFunction.measure(made(subject, plan["made_with"], side), inner, side)


EXERCISES = (TensorFunctionMaker,)
