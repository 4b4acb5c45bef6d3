"""Verify functions whose result is plain data: numbers, texts, arrays."""

from __future__ import annotations

import contextlib
from typing import Any

from . import draws
from .frameworks import Side
from .functions import described, is_described
from .instantiate import MadeWithArguments, made
from .measurement import Case, error_text

_GIVEN = "the project's own arguments, or the defaults"
_MAX_CALLS = 30


class PlainFunction(MadeWithArguments):
    """A function whose result is not a tensor, called with the project's arguments."""

    kind = "function of plain values"

    is_wanted = staticmethod(is_described)

    @classmethod
    def plan(cls, subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return all arguments with which it has such a result, by what is told of them."""
        first = super().plan(subject, job, side)["made_with"]
        tried = [first, *draws.arguments_for(subject, job["calls"]), *draws.counted_from(first)]
        found = {_GIVEN: first}
        for made_with in tried[: _MAX_CALLS + 1]:
            if made_with not in found.values():
                with contextlib.suppress(BaseException):
                    if is_described(made(subject, made_with, side), side):
                        found[_told(made_with)] = made_with
        return {"made_with": first, "all": found}

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Call it twice with each of them, to see whether its result is random."""
        return [
            _of_plain_values(subject, label, made_with, side)
            for label, made_with in plan["all"].items()
        ]


def _told(made_with: Any) -> str:
    args, kwargs = made_with
    return ", ".join([*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())])


def _of_plain_values(subject: Any, label: str, made_with: Any, side: Side) -> Case:
    case = Case(label)
    try:
        first = described(made(subject, made_with, side), side)
        again = described(made(subject, made_with, side), side)
        case.values["value" if str(first) == str(again) else "kind"] = (
            first if str(first) == str(again) else type(first).__name__
        )
    except BaseException as error:  # noqa: BLE001 - user code may raise anything
        case.error = error_text(error)
    return case


EXERCISES = (PlainFunction,)
