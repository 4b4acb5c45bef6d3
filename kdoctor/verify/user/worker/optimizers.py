"""Verify optimizers: the variables after a few steps with given gradients."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import draws
from .entered_methods import all_entered, entered
from .frameworks import Side
from .functions import described
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
_SHAPES = ((4, 3), (3,))
_SOME = np.asarray([0, 2])
_WHOLE, ROWS = "dense gradients", "sparse gradients"


def is_optimizer(subject: type, side: Side) -> bool:
    """Say whether a class derives from any optimizer base class of its Keras."""
    module = side.keras.optimizers
    homes = [module, *(getattr(module, each, None) for each in ("legacy", "experimental"))]
    bases = [getattr(home, "Optimizer", None) for home in homes]
    return any(isinstance(base, type) and issubclass(subject, base) for base in bases)


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
            plan = {"made_with": made_with, "settings": _settings_of(subject)}
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


def _steps(subject: Any, plan: dict[str, Any], side: Side, *, rows: bool) -> dict[str, Any]:
    tf, tensor = side.tf, side.backend.tensor
    optimizer = made(subject, plan["made_with"], side)
    starts = [draws.rng(700 + n).normal(size=s).astype("float32") for n, s in enumerate(_SHAPES)]
    make = tf.Variable if side.is_keras_2 else side.keras.Variable
    variables = [make(start, name=f"weight_{n}") for n, start in enumerate(starts)]
    found: dict[str, Any] = {"start": starts}
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
    config = optimizer.get_config()
    for name in plan["settings"]:
        if side.is_old and name not in config:
            continue  # not a setting
        with contextlib.suppress(TypeError):
            found[f"{name} in its config"] = _number(described(plain(config.get(name)), side))
    return found


def _number(value: Any) -> Any:
    """Convert a number to a Python number: its type does not matter in a config."""
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value


def _has_moved(case: Case) -> bool:
    return str(case.values["start"]) != str(case.values[f"variables after step {_STEPS}"])


def _settings_of(subject: type) -> list[str]:
    """Return the names in its own get_config()."""
    code = getattr(vars(subject).get("get_config"), "__code__", None)
    if code is None:
        return []
    return sorted({text for each in code.co_consts for text in _texts_in(each)})


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, tuple):
        for each in value:
            yield from _texts_in(each)
    elif isinstance(value, str) and value.isidentifier():
        yield value
