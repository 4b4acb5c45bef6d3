"""Verify optimizers, by variables after given gradients, and schedules, by their rates."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import draws
from .configs import config_of, settings_of
from .entered_methods import all_entered, entered
from .frameworks import Side
from .instantiate import made, of_arguments
from .measurement import (
    MODEL_TOLERANCE,
    Case,
    NotTried,
    Rejected,
    error_text,
    most_informative,
    plain,
)

_STEPS = 20
_RECORDED_STEPS = (1, 2, 3, 5, 10, 20)  # steps; what happens every few steps shows late
_SCHEDULED_STEPS = (*range(13), 20, 49, 50, 51, 99, 100, 101, 500, 1_000, 5_000, 10_000, 100_000)
_SHAPES = ((4, 3), (3,))
_SOME = np.asarray([0, 2])
_WHOLE, ROWS = "dense gradients", "sparse gradients"


class OptimizerClass:
    """An optimizer: some steps, with dense gradients and of some of their rows."""

    kind = "optimizer"

    @staticmethod
    def plan(subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return the first arguments with which it changes variables.

        Raises:
            NotTried: the code that the fix changes does not run, or no variable changes.
        """
        first: BaseException | None = None
        refused: list[str] = []
        for made_with in draws.arguments_for(subject, job["calls"], names=draws.OF_MODELS):
            plan = {"made_with": made_with, "settings": settings_of(subject)}
            try:
                made(subject, plan["made_with"], side)
            except BaseException as error:  # noqa: BLE001 - other arguments may work
                first = first or of_arguments(error, subject, job)
                continue
            good: list[Case] = []
            ran: set[str] = set()
            for label in (_WHOLE, ROWS):
                with entered(subject) as inside:
                    (case,) = OptimizerClass.measure(subject, {**plan, "only": {label}}, side)
                if case.error:
                    refused.append(case.error)
                    continue
                good.append(case)
                ran |= inside
            if not good:
                continue
            all_entered(job["changes"], ran, refused)
            if not any(map(_has_moved, good)):
                raise NotTried("it changes no variable with the gradients that kdoctor tried")
            return plan
        if refused:
            raise Rejected(most_informative(refused))
        raise first or NotTried("kdoctor does not know what arguments it takes")

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Take the steps with dense gradients and with sparse ones."""
        cases = []
        for label in (_WHOLE, ROWS):
            if label not in plan.get("only", {label}):
                continue
            if label == ROWS and not side.backend.has_sparse_gradients:
                continue
            case = Case(label, tolerance=MODEL_TOLERANCE)
            try:
                case.values = _steps(subject, plan, side, rows=label == ROWS)
            except BaseException as error:  # noqa: BLE001 - user code may raise anything
                case.error = error_text(error)
            cases.append(case)
        return cases


def variables_in(side: Side) -> list[Any]:
    """Return the variables to optimize, a matrix and a vector."""
    make = side.tf.Variable if side.is_keras_2 else side.keras.Variable
    starts = [draws.rng(700 + n).normal(size=s).astype("float32") for n, s in enumerate(_SHAPES)]
    return [make(start, name=f"weight_{n}") for n, start in enumerate(starts)]


def _steps(subject: Any, plan: dict[str, Any], side: Side, *, rows: bool) -> dict[str, Any]:
    tf, tensor = side.tf, side.backend.tensor
    optimizer = made(subject, plan["made_with"], side)
    variables = variables_in(side)
    found: dict[str, Any] = {"start": [np.array(each) for each in variables]}
    for step in range(_STEPS):
        given = [draws.rng(720 + 10 * step + n).normal(size=s) for n, s in enumerate(_SHAPES)]
        gradients = [tensor(each.astype("float32")) for each in given]
        if rows:
            part = tf.constant(given[0][_SOME].astype("float32"))
            shape = tf.constant(_SHAPES[0])
            gradients[0] = tf.IndexedSlices(part, tf.constant(_SOME), shape)
        optimizer.apply_gradients(zip(gradients, variables))  # noqa: B905
        if step + 1 in _RECORDED_STEPS:
            found[f"variables after step {step + 1}"] = [np.asarray(each) for each in variables]
    found["iterations"] = int(np.asarray(optimizer.iterations))
    return {**found, **config_of(optimizer, plan["settings"], side)}


def _has_moved(case: Case) -> bool:
    return str(case.values["start"]) != str(case.values[f"variables after step {_STEPS}"])


class ScheduleClass:
    """A schedule of the learning rate: its values at early and late steps."""

    kind = "learning rate schedule"

    @staticmethod
    def plan(subject: Any, job: dict[str, Any], side: Side) -> dict[str, Any]:
        """Return the first arguments that it takes.

        Raises:
            NotTried: there are none.
        """
        first: BaseException | None = None
        for made_with in draws.arguments_for(subject, job["calls"], names=draws.OF_MODELS):
            try:
                made(subject, made_with, side)
            except BaseException as error:  # noqa: BLE001 - other arguments may work
                first = first or of_arguments(error, subject, job)
                continue
            return {"made_with": made_with, "settings": settings_of(subject)}
        raise first or NotTried("kdoctor does not know what arguments it takes")

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Call it with steps as the optimizer counts them."""
        case = Case("steps of training")
        try:
            schedule = made(subject, plan["made_with"], side)
            for step in _SCHEDULED_STEPS:
                rate = schedule(side.backend.tensor(np.asarray(step, "int64")))
                case.values[f"rate at step {step}"] = np.asarray(plain(rate), "float32")
            case.values.update(config_of(schedule, plan["settings"], side))
        except BaseException as error:  # noqa: BLE001 - user code may raise anything
            return [Case(case.label, error=error_text(error))]
        return [case]
