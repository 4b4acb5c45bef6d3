"""Verify classes that give batches by number (`keras.utils.Sequence`, now `PyDataset`)."""

from __future__ import annotations

from typing import Any

from . import draws
from .entered_methods import all_entered, entered
from .frameworks import Side
from .functions import described
from .instantiate import made, of_arguments
from .measurement import Case, NotTried, Rejected, error_text, most_informative

_MAX_BATCHES = 3


class SequenceClass:
    """A sequence of batches: how many there are, the first ones, and those of the next epoch."""

    kind = "sequence of batches"

    @staticmethod
    def plan(subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return the first arguments with which it gives a batch that is the same again.

        Raises:
            NotTried: there are none, or the code that the fix changes does not run.
        """
        first: BaseException | None = None
        refused: list[str] = []
        for made_with in draws.arguments_for(subject, job["calls"], names=draws.OF_MODELS):
            plan = {"made_with": made_with}
            try:
                made(subject, made_with, side)
            except BaseException as error:  # noqa: BLE001 - other arguments may work
                first = first or of_arguments(error, subject, job)
                continue
            with entered(subject) as ran:
                (case,) = SequenceClass.measure(subject, plan, side)
            if case.error:
                refused.append(case.error)
                continue
            all_entered(job["changes"], ran, refused)
            (again,) = SequenceClass.measure(subject, plan, side)
            if str(again.values) != str(case.values):
                raise NotTried("its batches differ from run to run")
            return plan
        if refused:
            raise Rejected(most_informative(refused))
        raise first or NotTried("kdoctor does not know what arguments it takes")

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Take batches of two epochs."""
        case = Case("batches of two epochs")
        try:
            batches = made(subject, plan["made_with"], side)
            for epoch in ("", " of the next epoch"):
                count = len(batches)
                case.values[f"value: number of batches{epoch}"] = count
                for number in range(min(count, _MAX_BATCHES)):
                    batch = described(batches[number], side)
                    case.values[f"value: batch {number}{epoch}"] = batch
                batches.on_epoch_end()
        except BaseException as error:  # noqa: BLE001 - user code may raise anything
            return [Case(case.label, error=error_text(error))]
        return [case]


EXERCISES = (SequenceClass,)
