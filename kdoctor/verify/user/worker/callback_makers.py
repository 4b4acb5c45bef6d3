"""Verify functions that return callbacks, by their settings and by training with them."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any

import numpy as np

from . import effects, small_models
from .callbacks import state_of, trained_with
from .frameworks import Side
from .functions import are_callbacks, described
from .instantiate import MadeWithArguments, made
from .measurement import MODEL_TOLERANCE, Case, error_text

_CASE = f"{small_models.VECTORS}, trained with them"


class CallbackMaker(MadeWithArguments):
    """A function that returns a callback, or a list of them."""

    kind = "maker of callbacks"

    is_wanted = staticmethod(are_callbacks)

    @staticmethod
    def measure(subject: Any, plan: dict[str, Any], side: Side) -> list[Case]:
        """Train a small model with them; on Keras 2 once without, to see what they change."""
        case = Case(_CASE, tolerance=MODEL_TOLERANCE)
        case.sensitivity = effects.roughness()
        try:
            found = made(subject, plan["made_with"], side)
            callbacks = list(found) if isinstance(found, (list, tuple)) else [found]
            if side.is_old:
                plan["settings"] = [_settings_of(each, side) for each in callbacks]
            case.values["kinds"] = [type(each).__name__ for each in callbacks]
            for number, (each, known) in enumerate(zip(callbacks, plan["settings"])):  # noqa: B905
                for name, value in known.items():
                    now = value if side.is_old else _setting(each, name, value, side)
                    case.values[f"value of {name} of callback {number}"] = now
            with effects.printing():
                case.values.update(trained_with(callbacks, small_models.VECTORS, side))
            for number, each in enumerate(callbacks):
                for name, value in state_of(each, side).items():
                    case.values[f"{name}, of callback {number}"] = value
        except BaseException as error:  # noqa: BLE001 - user code may raise anything
            return [Case(case.label, error=error_text(error))]
        return [case]


def _settings_of(callback: Any, side: Side) -> dict[str, Any]:
    """Return the arguments of its constructor that it keeps under their names, as plain data."""
    found = {}
    for name in inspect.signature(type(callback).__init__).parameters:
        with contextlib.suppress(AttributeError, TypeError):
            found[name] = _number(described(getattr(callback, name), side))
    return found


def _setting(callback: Any, name: str, before: Any, side: Side) -> Any:
    """Return what one of them is now; as before, where the class no longer has it."""
    if name not in inspect.signature(type(callback).__init__).parameters:
        return before
    return _number(described(getattr(callback, name, None), side))


def _number(value: Any) -> Any:
    """Return a number as a float: where one side keeps 0, the other keeps 0.0."""
    is_number = isinstance(value, (int, float, np.generic)) and not isinstance(value, bool)
    return float(value) if is_number else value


EXERCISES = (CallbackMaker,)
